"""Nothing that could write passes the guard."""

from __future__ import annotations

import inspect

import fsspec
import pytest
import s3fs
from fsspec.spec import AbstractFileSystem

from holdfast.errors import StorageError
from holdfast.storage.filesystem import READING_METHODS, ReadOnlyFilesystem

WRITERS = (
    "pipe pipe_file put put_file mkdir mkdirs makedir makedirs rm rm_file rmdir delete mv move "
    "rename copy cp cp_file touch upload write_text write_bytes setxattr chmod put_tags merge get "
    "get_file download get_mapper transaction start_transaction call_s3 bulk_delete sign url "
    "_rm _pipe_file _put_file _open make_bucket_versioned invalidate_cache"
)


def every_method() -> list[str]:
    kinds = (AbstractFileSystem, s3fs.S3FileSystem, fsspec.get_filesystem_class("memory"))
    names = {
        name
        for kind in kinds
        for name, member in inspect.getmembers(kind)
        if callable(member) and not name.startswith("__")
    }
    return sorted((names | set(WRITERS.split())) - {"open"})


@pytest.fixture
def guarded() -> ReadOnlyFilesystem:
    memory = fsspec.filesystem("memory")
    memory.pipe_file("/guarded/a", b"1")
    return ReadOnlyFilesystem(memory)


@pytest.mark.parametrize("name", [name for name in every_method() if name not in READING_METHODS])
def test_every_other_method_is_refused(guarded: ReadOnlyFilesystem, name: str) -> None:
    with pytest.raises(StorageError) as caught:
        getattr(guarded, name)("/guarded/a", b"2")
    assert caught.value.code.number == "HF7009"
    assert name in caught.value.message


@pytest.mark.parametrize("mode", ["wb", "w", "ab", "a", "r+b", "xb", "rb+", "wt"])
def test_opening_for_writing_is_refused(guarded: ReadOnlyFilesystem, mode: str) -> None:
    with pytest.raises(StorageError) as caught:
        guarded.open("/guarded/a", mode)
    assert caught.value.code.number == "HF7009"
    with guarded.open("/guarded/a") as file:
        assert file.read() == b"1"


def test_the_guard_has_no_hidden_door(guarded: ReadOnlyFilesystem) -> None:
    with pytest.raises(AttributeError):
        guarded.__wrapped__  # noqa: B018 - asking is the test


def test_no_writer_is_taken_for_a_reader() -> None:
    assert not READING_METHODS & set(WRITERS.split())


def test_what_reads_passes(guarded: ReadOnlyFilesystem) -> None:
    assert guarded.cat_file("/guarded/a") == b"1"
    assert guarded.ls("/guarded", detail=False) == ["/guarded/a"]
