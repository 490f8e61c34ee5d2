"""Verifying: every file is read once and compared with every checksum beside it."""

from __future__ import annotations

import pytest

from holdfast.checkpoint import verification
from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.reading import read_picture
from holdfast.checkpoint.verification import verify
from holdfast.errors import StorageError
from holdfast.storage.memory import MemoryReader
from holdfast.storage.testing import FaultyReader, InjectedFault, RecordingReader
from tests.checkpoint.pictures import Files, files_of, without


def verified(files: Files) -> Picture:
    """Read and verify."""
    reader = MemoryReader(files)
    return verify(reader, read_picture(reader))


def damages(picture: Picture) -> list[tuple[str, str]]:
    """Give each damage as file and code."""
    return [(one.file, one.error.code.number) for one in picture.damages]


def flipped(data: bytes, at: int = 10) -> bytes:
    """Flip one bit."""
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


@pytest.mark.parametrize("path", ["state/0/1/3.delta", "offsets/0", "commits/0", "sources/0/0"])
def test_a_flipped_bit_anywhere_is_located_by_the_checksum(path: str) -> None:
    """Also in files that the next start does not need."""
    files = files_of("aggregation-hdfs-lz4")
    files[path] = flipped(files[path], len(files[path]) - 2)
    assert [file for file, _ in damages(verified(files))] == [path]


def test_spark_s_own_checksum_is_compared_too() -> None:
    """4.1 writes them; here Hadoop's side file is missing, as on an object store."""
    files = files_of("aggregation-hdfs-lz4", "4.1.4")
    path = "state/0/1/3.delta"
    assert f"{path}.crc" in files
    files = {**without(files, path), path: flipped(files[path])}
    assert damages(verified(files)) == [(path, "HF2114")]


def test_a_malformed_checksum_of_spark_is_located() -> None:
    """The JSON file itself is damaged."""
    files = files_of("aggregation-hdfs-lz4", "4.1.4")
    path = "state/0/1/3.delta.crc"
    files = {**without(files, path), path: files[path][:20]}
    assert damages(verified(files)) == [(path, "HF2113")]


def test_a_malformed_hadoop_checksum_is_located() -> None:
    """It can't show whether its file is whole."""
    files = {**files_of("stateless"), "offsets/.0.crc": b"cr"}
    assert damages(verified(files)) == [("offsets/.0.crc", "HF2112")]


def test_every_file_is_read_and_no_damage_is_told_twice() -> None:
    """What the picture had found already is not found again."""
    files = files_of("stateless")
    files["offsets/3"] = flipped(files["offsets/3"], 30)
    reader = RecordingReader(MemoryReader(files))
    picture = read_picture(reader)
    assert len(picture.damages) == 1
    assert verify(reader, picture).damages == picture.damages
    assert set(files) <= set(reader.paths_read)


def test_progress_is_told() -> None:
    """Bytes done of bytes in all."""
    reader = MemoryReader(files_of("stateless"))
    seen: list[tuple[int, int]] = []
    verify(reader, read_picture(reader), lambda done, total: seen.append((done, total)))
    assert seen
    assert all(done <= total for done, total in seen)


def test_a_file_that_cannot_be_read_is_a_damage() -> None:
    """Located, and the rest is verified all the same."""
    files = files_of("stateless")
    picture = read_picture(MemoryReader(files))
    error = StorageError("HF7006", "the line broke")
    found = verify(FaultyReader(MemoryReader(files), InjectedFault(at=1, error=error)), picture)
    assert [one.error for one in found.damages] == [error]


def test_a_large_file_is_compared_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory stays bounded; the damage is still located to its chunk."""
    monkeypatch.setattr(verification, "ENTRY_LIMIT_BYTES", 400)
    monkeypatch.setattr(verification, "BATCH_BYTES", 512)
    files = files_of("stateless")
    path = "offsets/1"
    assert len(files[path]) > 600
    assert damages(verified(files)) == []
    files[path] = flipped(files[path], 600)
    (damage,) = verified(files).damages
    assert (damage.file, damage.place.byte) == (path, 512)
