"""Asks again when a storage failed for a moment; never when the answer would stay the same."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from holdfast.errors import StorageError
from holdfast.storage.border import TRANSIENT
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
