"""What was asked is remembered."""

from __future__ import annotations

import pytest

from holdfast.errors import NotFoundError
from holdfast.storage.memory import MemoryReader
from holdfast.storage.testing import Operation, RecordingReader


def test_every_operation_is_remembered_with_its_bytes() -> None:
    reader = RecordingReader(MemoryReader({"a": b"123", "f/b": b"45678"}))
    reader.list()
    reader.names("f")
    reader.read("f/b", 1, 2)
    reader.read_many(["a", "missing"])
    with pytest.raises(NotFoundError):
        reader.read("gone")
    assert reader.operations == [
        Operation("list", ""),
        Operation("names", "f"),
        Operation("read", "f/b", 2),
        Operation("read", "a", 3),
        Operation("read", "missing", 0),
        Operation("read", "gone", 0),
    ]
    assert reader.paths_read == ("f/b", "a", "missing", "gone")
    assert reader.bytes_read == 5
