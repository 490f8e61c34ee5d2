"""Ends reading when the time that was allowed for all of it is over."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from holdfast.errors import StorageError
from holdfast.storage.reading import Listing, Reader

Result = TypeVar("Result")


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

    def _in_time(self, work: Callable[[], Result]) -> Result:
        """Do the work in a thread that is left behind when it takes too long."""
        left = self._end - self._clock()
        results: list[Result] = []
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
