"""The fake is a reader like any other (its promises: test_reading.py)."""

from __future__ import annotations

import pytest

from holdfast.errors import StorageError
from holdfast.storage.memory import MemoryReader
from holdfast.storage.reading import FileKind, Listed


def test_keys_that_end_in_a_slash_are_folders() -> None:
    reader = MemoryReader({"a/b/": b"", "c/": b""}, "somewhere")
    assert reader.list().items == (
        Listed("a", FileKind.FOLDER, 0),
        Listed("a/b", FileKind.FOLDER, 0),
        Listed("c", FileKind.FOLDER, 0),
    )
    assert reader.location == "somewhere"


def test_a_folders_key_is_not_read() -> None:
    with pytest.raises(StorageError):
        MemoryReader({"a/": b"mark"}).read("a/")


def test_a_change_of_the_mapping_is_seen() -> None:
    files = {"a": b"1"}
    reader = MemoryReader(files)
    files["b"] = b"2"
    assert reader.names("") == {"a", "b"}


def test_a_folder_is_told_from_nothing() -> None:
    with pytest.raises(StorageError) as caught:
        MemoryReader({"a/b": b""}).read("a")
    assert caught.value.code.number == "HF7013"
