"""Every kind of place that a reader can be opened on, filled with the same files."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from pathlib import Path

import fsspec

from holdfast.storage.filesystem import ReadOnlyFilesystem
from holdfast.storage.location import parse_location
from holdfast.storage.memory import MemoryReader
from holdfast.storage.opening import open_reader
from holdfast.storage.options import StorageSettings
from holdfast.storage.reading import Reader
from holdfast.storage.remote import FsspecReader
from holdfast.storage.retrying import RetryingReader, TimedReader
from holdfast.storage.testing import FaultyReader, RecordingReader
from tests.storage.s3server import S3Server

Files = Mapping[str, bytes]
"""Paths to bytes; a path that ends in '/' is an empty folder."""


def local(files: Files, folder: Path, _: S3Server) -> Reader:
    write_tree(folder / "ckpt", files)
    return open_reader(parse_location(str(folder / "ckpt")), StorageSettings())


def write_tree(root: Path, files: Files) -> None:
    root.mkdir(parents=True)
    for path, content in files.items():
        if path.endswith("/"):
            (root / path).mkdir(parents=True, exist_ok=True)
        else:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(content)


def memory(files: Files, _: Path, __: S3Server) -> Reader:
    return MemoryReader(files)


def fsspec_memory(files: Files, _: Path, __: S3Server) -> Reader:
    root = _filled_fsspec_memory(files)
    return open_reader(parse_location(f"memory://{root}"), StorageSettings())


def fsspec_folders(files: Files, _: Path, __: S3Server) -> Reader:
    root = _filled_fsspec_memory(files)
    guarded = ReadOnlyFilesystem(fsspec.filesystem("memory"))
    return FsspecReader(guarded, root, f"memory:/{root}", object_store=False)


def _filled_fsspec_memory(files: Files) -> str:
    root = f"/{uuid.uuid4().hex}"
    filesystem = fsspec.filesystem("memory")
    filesystem.makedirs(root)
    for path, content in files.items():
        if path.endswith("/"):
            filesystem.makedirs(f"{root}/{path}", exist_ok=True)
        else:
            filesystem.pipe_file(f"{root}/{path}", content)
    return root


def s3(files: Files, _: Path, server: S3Server) -> Reader:
    bucket = f"bucket-{uuid.uuid4().hex}"
    server.fill(bucket, {f"some/ckpt/{path}": content for path, content in files.items()})
    return server.reader(f"s3a://{bucket}/some/ckpt")


def retrying(files: Files, _: Path, __: S3Server) -> Reader:
    return RetryingReader(MemoryReader(files))


def timed(files: Files, _: Path, __: S3Server) -> Reader:
    return TimedReader(MemoryReader(files), 3600)


def recording(files: Files, _: Path, __: S3Server) -> Reader:
    return RecordingReader(MemoryReader(files))


def faulty(files: Files, _: Path, __: S3Server) -> Reader:
    return FaultyReader(MemoryReader(files))


PLACES: tuple[Callable[[Files, Path, S3Server], Reader], ...] = (
    local,
    memory,
    fsspec_memory,
    fsspec_folders,
    s3,
    retrying,
    timed,
    recording,
    faulty,
)
