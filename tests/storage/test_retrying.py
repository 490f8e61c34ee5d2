"""Failures of a moment are asked again, others are not, and nothing waits for real."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from holdfast.errors import NotFoundError, StorageError
from holdfast.storage.memory import MemoryReader
from holdfast.storage.reading import Listing, Reader
from holdfast.storage.retrying import RetryingReader
from holdfast.storage.testing import FaultyReader, InjectedFault

FILES = {"a": b"1", "b": b"2", "c": b"3"}
BUSY = StorageError("HF7012", "slow down")


def retrying(reader: Reader, pauses: list[float], attempts: int = 4) -> RetryingReader:
    return RetryingReader(reader, attempts=attempts, first_pause=0.25, sleep=pauses.append)


@pytest.mark.parametrize("code", ["HF7007", "HF7011", "HF7012"])
def test_a_failure_of_a_moment_is_asked_again_after_growing_pauses(code: str) -> None:
    pauses: list[float] = []
    faulty = FaultyReader(MemoryReader(FILES), InjectedFault(1, StorageError(code, "x"), times=3))
    assert retrying(faulty, pauses).read("a") == b"1"
    assert pauses == [0.25, 0.5, 1.0]


@pytest.mark.parametrize("code", ["HF7002", "HF7008", "HF7006", "HF7013"])
def test_what_stays_is_not_asked_again(code: str) -> None:
    pauses: list[float] = []
    faulty = FaultyReader(MemoryReader(FILES), InjectedFault(1, StorageError(code, "x")))
    reader = retrying(faulty, pauses)
    acts: tuple[Callable[[], object], ...] = (
        lambda: reader.read("a"),
        reader.list,
        lambda: reader.names(""),
    )
    for act in acts:
        faulty.count = 0
        with pytest.raises(StorageError) as caught:
            act()
        assert caught.value.code.number == code
        assert faulty.count == 1
    assert pauses == []


def test_what_is_not_there_is_not_asked_again() -> None:
    faulty = FaultyReader(MemoryReader(FILES))
    with pytest.raises(NotFoundError):
        retrying(faulty, []).read("nothing")
    assert faulty.count == 1


def test_a_lasting_failure_is_told_after_the_last_attempt() -> None:
    pauses: list[float] = []
    faulty = FaultyReader(MemoryReader(FILES), InjectedFault(1, BUSY, times=None))
    with pytest.raises(StorageError) as caught:
        retrying(faulty, pauses, attempts=3).list()
    assert caught.value is BUSY
    assert (faulty.count, pauses) == (3, [0.25, 0.5])


def test_of_many_only_those_that_failed_for_a_moment_are_read_again() -> None:
    pauses: list[float] = []
    faulty = FaultyReader(MemoryReader(FILES), InjectedFault(2, BUSY, times=1), vanished=["c"])
    results = retrying(faulty, pauses).read_many(["a", "b", "c"])
    assert (results["a"], results["b"]) == (b"1", b"2")
    assert isinstance(results["c"], NotFoundError)
    assert (faulty.count, pauses) == (4, [0.25])


def test_a_storage_that_fails_half_way_gives_what_it_gave() -> None:
    faulty = FaultyReader(MemoryReader(FILES), InjectedFault(2, BUSY, times=None))
    results = retrying(faulty, []).read_many(["a", "b", "c"])
    assert results == {"a": b"1", "b": BUSY, "c": BUSY}


def test_a_listing_with_a_folder_that_failed_for_a_moment_is_made_again() -> None:
    class Partly(MemoryReader):
        left = 2

        def list(self) -> Listing:
            self.left -= 1
            whole = super().list()
            return Listing(whole.items, {"state": BUSY}) if self.left >= 0 else whole

    pauses: list[float] = []
    assert retrying(Partly(FILES), pauses).list().failures == {}
    assert pauses == [0.25, 0.5]
    lasting = Partly(FILES)
    lasting.left = 99
    assert retrying(lasting, []).list().failures == {"state": BUSY}
