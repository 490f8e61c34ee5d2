"""A storage that is too slow is left behind."""

from __future__ import annotations

import threading

import pytest

from holdfast.errors import NotFoundError, StorageError
from holdfast.storage.memory import MemoryReader
from holdfast.storage.retrying import TimedReader
from holdfast.storage.testing import FaultyReader

FILES = {"a": b"1", "b": b"2"}


def test_a_storage_that_never_answers_is_left_behind() -> None:
    never = threading.Event()

    def wait(_: str) -> None:
        never.wait()

    hanging = FaultyReader(MemoryReader(FILES), slow=wait)
    try:
        with pytest.raises(StorageError) as caught:
            TimedReader(hanging, 0.02).read("a")
    finally:
        never.set()
    assert caught.value.code.number == "HF7007"
    assert caught.value.message == "the storage did not answer within 0.02 s"
    assert caught.value.at == "memory"


def test_the_time_counts_for_everything_together() -> None:
    now = [100.0]

    def slow(_: str) -> None:
        now[0] += 4

    reader = TimedReader(FaultyReader(MemoryReader(FILES), slow=slow), 10, clock=lambda: now[0])
    reader.list()
    reader.names("")
    assert reader.read("a") == b"1"
    with pytest.raises(StorageError) as caught:
        reader.read_many(["b"])
    assert caught.value.code.number == "HF7007"


def test_errors_pass_as_they_are() -> None:
    with pytest.raises(NotFoundError):
        TimedReader(MemoryReader(FILES), 3600).read("nothing")
