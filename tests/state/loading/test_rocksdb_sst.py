"""Snapshots opened: whole or refused, at the file that is to blame, and nothing left behind."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from holdfast.errors import CheckpointError, DecodeError
from holdfast.format.buffers import PUT
from holdfast.state.loading import rocksdb
from holdfast.state.loading.rocksdb import open_tables, read_snapshot, stored_place
from holdfast.storage.local import LocalReader
from holdfast.storage.memory import MemoryReader
from tests.corpus.loading import sample
from tests.format.rocksdb.test_snapshot_sstfooter import footer
from tests.state.builttables import ZIP, built
from tests.state.realtables import zips_of

ROOT = Path(__file__).resolve().parents[3]
ENTRIES = {
    b"%d\0key %06d" % (number % 3, number): bytes([number % 256]) * (number % 50)
    for number in range(6000)
}
IN_ORDER = sorted(ENTRIES.items())


@pytest.fixture
def files(tmp_path: Path) -> dict[str, bytes]:
    """Build a snapshot of some thousand keys in many blocks."""
    return built(ENTRIES, tmp_path)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let temporary folders be made where they can be counted."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def read(
    files: dict[str, bytes], prefix: bytes = b"", *, chunk_bytes: int = 8 << 20
) -> list[tuple[bytes, bytes]]:
    """Read the entries of the snapshot."""
    reader = MemoryReader(files)
    with open_tables(reader, ZIP, read_snapshot(reader, ZIP)) as tables:
        return [
            (chunk.keys.at(index), chunk.values.at(index))
            for chunk in tables.entries(prefix, chunk_bytes=chunk_bytes)
            for index in range(len(chunk))
        ]


def the_table(files: dict[str, bytes]) -> str:
    """Name the snapshot's only table."""
    (name,) = [path for path in files if path.endswith(".sst")]
    return name


def test_all_entries(files: dict[str, bytes], temporary: Path) -> None:
    assert read(files) == IN_ORDER
    assert not list(temporary.iterdir())


def test_chunks_are_as_large_as_asked_for(files: dict[str, bytes]) -> None:
    reader = MemoryReader(files)
    with open_tables(reader, ZIP, read_snapshot(reader, ZIP)) as tables:
        chunks = list(tables.entries(chunk_bytes=1))
        assert len(chunks) == 6
        assert {int(kind) for chunk in chunks for kind in chunk.kinds} == {PUT}
        assert len(list(tables.entries())) == 1
    assert read(files, chunk_bytes=1) == IN_ORDER


@pytest.mark.parametrize("prefix", [b"0", b"1\0", b"2\0key 00001", b"2\0key 000011", b"9", b"\xff"])
def test_entries_of_a_prefix(files: dict[str, bytes], prefix: bytes) -> None:
    expected = [entry for entry in IN_ORDER if entry[0].startswith(prefix)]
    assert read(files, prefix) == expected
    assert bool(expected) is (prefix not in (b"9", b"\xff", b"2\0key 000012"))


def test_a_prefix_of_the_highest_bytes(tmp_path: Path) -> None:
    entries = {b"\xfe\xff": b"1", b"\xff\xff": b"2", b"\xff\xffa": b"3", b"\xff\xfe": b"4"}
    files = built(entries, tmp_path)
    assert read(files, b"\xff\xff") == [(b"\xff\xff", b"2"), (b"\xff\xffa", b"3")]
    assert read(files, b"\xfe\xff") == [(b"\xfe\xff", b"1")]


def test_one_key(files: dict[str, bytes]) -> None:
    reader = MemoryReader(files)
    with open_tables(reader, ZIP, read_snapshot(reader, ZIP)) as tables:
        assert tables.value_of(b"1\0key 000049") == bytes([49]) * 49
        assert tables.value_of(b"1\0key 000050") is None


def test_an_empty_store(tmp_path: Path) -> None:
    assert read(built({}, tmp_path)) == []


def test_a_folder_of_this_machine_is_left_as_it_was(
    files: dict[str, bytes], tmp_path: Path, temporary: Path
) -> None:
    root = tmp_path / "checkpoint"
    for name, data in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
        (root / name).chmod(0o400)
    before = {path: path.stat() for path in root.rglob("*")}
    reader = LocalReader(str(root))
    with open_tables(reader, ZIP, read_snapshot(reader, ZIP)) as tables:
        assert sum(map(len, tables.entries())) == len(ENTRIES)
    after = {path: path.stat() for path in root.rglob("*")}
    assert {path: (one.st_mtime_ns, one.st_size) for path, one in after.items()} == {
        path: (one.st_mtime_ns, one.st_size) for path, one in before.items()
    }
    assert not list(temporary.iterdir())


def test_nothing_is_left_behind_by_an_error(files: dict[str, bytes], temporary: Path) -> None:
    reader = MemoryReader(files)
    with (
        pytest.raises(KeyError),
        open_tables(reader, ZIP, read_snapshot(reader, ZIP)) as tables,
    ):
        next(tables.entries(chunk_bytes=1))
        raise KeyError("the caller's own")
    assert not list(temporary.iterdir())


def refused(files: dict[str, bytes], temporary: Path) -> CheckpointError:
    """Read a snapshot that must be refused, without a trace."""
    with pytest.raises(CheckpointError) as caught:
        read(files)
    assert not list(temporary.iterdir())
    return caught.value


def test_a_missing_table(files: dict[str, bytes], temporary: Path) -> None:
    name = the_table(files)
    del files[name]
    error = refused(files, temporary)
    assert (error.code.number, error.at) == ("HF2718", f"memory/{name}")


@pytest.mark.parametrize("change", [-1, 1, -5000])
def test_a_table_of_another_size(files: dict[str, bytes], temporary: Path, change: int) -> None:
    name = the_table(files)
    files[name] = files[name][:change] if change < 0 else files[name] + b"x"
    error = refused(files, temporary)
    assert (error.code.number, error.at) == ("HF2719", f"memory/{name}")


def test_a_footer_that_would_end_the_process(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """RocksDB would ask for 64 GB for a block, and abort for want of them: it is not called."""
    one = sample("aggregation-rocksdb", "3.5.9")
    files, path = one.files(), zips_of(one)[-1]
    reader = MemoryReader(files)
    snapshot = read_snapshot(reader, path)
    name = stored_place(path, snapshot.sst_files[-1])
    files[name] = files[name][:-53] + footer(0, 9, 9, 1 << 36, kind=1)
    monkeypatch.delattr(rocksdb, "Rdict")
    with pytest.raises(DecodeError) as caught, open_tables(reader, path, snapshot):
        pass
    assert (caught.value.code.number, caught.value.at) == ("HF2720", f"memory/{name}")
    assert not list(temporary.iterdir())


@pytest.mark.parametrize("part", [0.0, 0.3, 0.6])
def test_a_damaged_block_does_not_pass_for_the_end(
    tmp_path: Path, temporary: Path, part: float
) -> None:
    """Also where nobody counted the keys: RocksDB's iterator ends there without a word."""
    files = built(ENTRIES, tmp_path, numKeys=-1)
    name = the_table(files)
    damaged = bytearray(files[name])
    damaged[int(part * len(damaged))] ^= 1
    files[name] = bytes(damaged)
    error = refused(files, temporary)
    assert (error.code.number, error.at) == ("HF2720", f"memory/{name}")
    assert isinstance(error, DecodeError)
    assert error.byte is not None
    assert error.byte <= part * len(damaged) < error.byte + 5000
    assert str(temporary) not in error.message


def test_another_number_of_keys(tmp_path: Path, temporary: Path) -> None:
    error = refused(built(ENTRIES, tmp_path, numKeys=5999), temporary)
    assert (error.code.number, error.at) == ("HF2721", f"memory/{ZIP}")
    assert "6,000 keys, not 5,999" in error.message


def test_a_damaged_zip(files: dict[str, bytes], temporary: Path) -> None:
    files[ZIP] = files[ZIP][:-1]
    error = refused(files, temporary)
    assert (error.code.number, error.at) == ("HF2715", f"memory/{ZIP}")


def test_damage_by_the_thousand_never_ends_the_process() -> None:
    command = [sys.executable, "-m", "tests.state.damagingtables"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) > 1000
