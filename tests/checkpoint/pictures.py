"""Pictures of real and of damaged checkpoints, in memory."""

from __future__ import annotations

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.reading import read_picture
from holdfast.storage.memory import MemoryReader
from tests.corpus.loading import sample

Files = dict[str, bytes]


def files_of(name: str, spark: str = "4.3.0") -> Files:
    """Give a fresh copy of a real checkpoint's files."""
    return dict(sample(name, spark).files())


def picture_of(files: Files, history: int = 10) -> Picture:
    """Take the picture of files in memory."""
    return read_picture(MemoryReader(files), history=history)


def without(files: Files, *paths: str) -> Files:
    """Give the files without these and without their checksums."""
    gone = {*paths, *(_side(path) for path in paths)}
    return {path: data for path, data in files.items() if path not in gone}


def replaced(files: Files, path: str, data: bytes) -> Files:
    """Give the files with another content of one, its checksum dropped."""
    return {**without(files, path), path: data}


def _side(path: str) -> str:
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}.{name}.crc"
