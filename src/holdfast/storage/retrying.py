"""Readers that ask again when a storage failed for a moment, or end when their time is over."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from holdfast.errors import StorageError
from holdfast.storage.errors import TRANSIENT
from holdfast.storage.reading import Listing, Reader

Result = TypeVar("Result")


class RetryingReader:
    """Reads through another reader, up to `attempts` times with growing pauses between."""

    def __init__(
        self,
        reader: Reader,
        *,
        attempts: int = 4,
        first_pause: float = 0.25,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._reader = reader
        self._pauses = tuple(first_pause * 2**number for number in range(attempts - 1))
        self._sleep = sleep

    @property
    def location(self) -> str:
        """Where this is, as shown to people."""
        return self._reader.location

    def list(self) -> Listing:
        """List everything; folders that failed for a moment are looked at again with the rest."""
        for pause in self._pauses:
            try:
                listing = self._reader.list()
            except StorageError as error:
                if not is_transient(error):
                    raise
            else:
                if not any(map(is_transient, listing.failures.values())):
                    return listing
            self._sleep(pause)
        return self._reader.list()

    def names(self, folder: str) -> frozenset[str]:
        """Names directly in a folder."""
        return self._persistently(lambda: self._reader.names(folder))

    def read(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """Read a file, or a part of it."""
        return self._persistently(lambda: self._reader.read(path, start, length))

    def read_many(self, paths: Iterable[str]) -> Mapping[str, bytes | StorageError]:
        """Read several whole files; only those that failed for a moment are read again."""
        results = dict(self._reader.read_many(paths))
        for pause in self._pauses:
            again = [path for path, result in results.items() if is_transient(result)]
            if not again:
                break
            self._sleep(pause)
            results.update(self._reader.read_many(again))
        return results

    def _persistently(self, work: Callable[[], Result]) -> Result:
        for pause in self._pauses:
            try:
                return work()
            except StorageError as error:
                if not is_transient(error):
                    raise
            self._sleep(pause)
        return work()


def is_transient(result: object) -> bool:
    """Whether this is a failure that may be gone when the same thing is asked again."""
    return isinstance(result, StorageError) and result.code.number in TRANSIENT


TimedResult = TypeVar("TimedResult")


class TimedReader:
    """Reads through another reader for at most `seconds`, counted from now."""

    def __init__(
        self, reader: Reader, seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._reader = reader
        self._seconds = seconds
        self._clock = clock
        self._end = clock() + seconds

    @property
    def location(self) -> str:
        """Where this is, as shown to people."""
        return self._reader.location

    def list(self) -> Listing:
        """List everything, unless the time is over first."""
        return self._in_time(self._reader.list)

    def names(self, folder: str) -> frozenset[str]:
        """Names directly in a folder, unless the time is over first."""
        return self._in_time(lambda: self._reader.names(folder))

    def read(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """Read a file, unless the time is over first."""
        return self._in_time(lambda: self._reader.read(path, start, length))

    def read_many(self, paths: Iterable[str]) -> Mapping[str, bytes | StorageError]:
        """Read several whole files, unless the time is over first."""
        return self._in_time(lambda: self._reader.read_many(paths))

    def _in_time(self, work: Callable[[], TimedResult]) -> TimedResult:
        """Do the work in a thread that is left behind when it takes too long."""
        left = self._end - self._clock()
        results: list[TimedResult] = []
        raised: list[BaseException] = []

        def serve() -> None:
            try:
                results.append(work())
            except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
                raised.append(error)

        if left > 0:
            thread = threading.Thread(target=serve, name="holdfast-timed", daemon=True)
            thread.start()
            thread.join(left)
        if raised:
            raise raised[0]
        if not results:
            message = f"the storage did not answer within {self._seconds:g} s"
            raise StorageError("HF7007", message, at=self.location)
        return results[0]
