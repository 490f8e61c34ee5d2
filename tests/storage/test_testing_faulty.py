"""Faults happen where they were ordered, and nowhere else."""

from __future__ import annotations

import pytest

from holdfast.errors import NotFoundError, StorageError
from holdfast.storage.memory import MemoryReader
from holdfast.storage.testing import FaultyReader, InjectedFault

FILES = {"a": b"1", "b": b"2"}
BROKEN = StorageError("HF7006", "broken")


def test_the_nth_operation_fails_and_the_next_does_not() -> None:
    reader = FaultyReader(MemoryReader(FILES), InjectedFault(2, BROKEN))
    reader.list()
    with pytest.raises(StorageError) as caught:
        reader.read("a")
    assert caught.value is BROKEN
    assert reader.read("a") == b"1"


def test_a_fault_for_good_stays() -> None:
    reader = FaultyReader(MemoryReader(FILES), InjectedFault(2, BROKEN, times=None))
    assert reader.read_many(["a", "b"]) == {"a": b"1", "b": BROKEN}
    for _ in range(3):
        with pytest.raises(StorageError):
            reader.names("")


def test_a_vanished_file_is_listed_and_not_found() -> None:
    reader = FaultyReader(MemoryReader(FILES), vanished=["a"])
    assert "a" in {item.path for item in reader.list().items}
    assert isinstance(reader.read_many(["a", "b"])["a"], NotFoundError)


def test_slowness_is_told_before_each_operation() -> None:
    waited: list[str] = []
    reader = FaultyReader(MemoryReader(FILES), slow=waited.append)
    reader.list()
    reader.read_many(["a", "b"])
    assert waited == ["", "a", "b"]
