"""Tables are copied whole, in pieces where they are large, and only if they are the right ones."""

from __future__ import annotations

import errno
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from holdfast.errors import CheckpointError, StorageError
from holdfast.format.rocksdb.snapshot import SstFile
from holdfast.state.loading import rocksdb
from holdfast.state.loading.rocksdb import fetch_tables, folder_for_copies
from holdfast.storage.memory import MemoryReader
from tests.format.rocksdb.test_snapshot_sstfooter import footer

TABLES = [
    SstFile(f"00000{number}.sst", f"00000{number}-x.sst", 953 + len(footer()) - 6 * number)
    for number in range(1, 5)
]
FILES = {
    f"state/0/0/SSTs/{table.stored_name}": bytes(table.size_bytes - len(footer()))
    + footer(10, 20, 30, 40)
    for table in TABLES
}
ZIP = "state/0/0/7.zip"


@pytest.mark.parametrize("piece", [10, 500, 1000, 1 << 20, TABLES[0].size_bytes])
def test_copies_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece: int) -> None:
    monkeypatch.setattr(rocksdb, "_PIECE", piece)
    fetch_tables(MemoryReader(FILES), ZIP, TABLES, tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
        table.local_name: FILES[f"state/0/0/SSTs/{table.stored_name}"] for table in TABLES
    }


def refused(files: Mapping[str, bytes], folder: Path) -> tuple[str, str | None]:
    """Copy tables that must be refused; give code and place."""
    with pytest.raises(CheckpointError) as caught:
        fetch_tables(MemoryReader(files), ZIP, TABLES, folder)
    return caught.value.code.number, caught.value.at


@pytest.mark.parametrize("piece", [100, 1 << 20])
def test_tables_that_are_not_the_right_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece: int
) -> None:
    monkeypatch.setattr(rocksdb, "_PIECE", piece)
    name = f"state/0/0/SSTs/{TABLES[2].stored_name}"
    whole = FILES[name]
    place = f"memory/{name}"
    without = {path: data for path, data in FILES.items() if path != name}
    assert refused(without, tmp_path) == ("HF2718", place)
    assert refused({**FILES, name: whole[1:]}, tmp_path) == ("HF2719", place)
    assert refused({**FILES, name: whole + bytes(5000)}, tmp_path) == ("HF2719", place)
    assert refused({**FILES, name: whole[:-1] + b"x"}, tmp_path) == ("HF2720", place)


class DenyingReader(MemoryReader):
    """Refuses to read tables, as a storage does without the right to."""

    def read(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """Refuse."""
        raise StorageError("HF7002", "access was denied", at=path)

    def read_many(self, paths: Iterable[str]) -> Mapping[str, bytes | StorageError]:
        """Refuse each."""
        return {path: StorageError("HF7002", "access was denied", at=path) for path in paths}


@pytest.mark.parametrize("piece", [100, 1 << 20])
def test_a_storage_that_refuses_is_no_missing_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece: int
) -> None:
    monkeypatch.setattr(rocksdb, "_PIECE", piece)
    with pytest.raises(StorageError, match="denied"):
        fetch_tables(DenyingReader(FILES), ZIP, TABLES, tmp_path)


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(Path, "write_bytes", full)
    assert refused(FILES, tmp_path) == ("HF2728", str(tmp_path))


def test_no_folder_for_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "absent"))
    with pytest.raises(CheckpointError) as caught, folder_for_copies():
        pass
    assert caught.value.code.number == "HF2728"
