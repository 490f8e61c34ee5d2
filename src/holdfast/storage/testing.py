"""Readers for tests: one that fails on purpose, one that remembers what was asked of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from holdfast.errors import NotFoundError, StorageError
from holdfast.storage.reading import Listing, Reader


@dataclass(frozen=True)
class InjectedFault:
    """From the operation number `at` (the first is 1) on, `times` operations fail; None: all."""

    at: int
    error: StorageError
    times: int | None = 1

    def hits(self, number: int) -> bool:
        """Whether the operation with this number fails."""
        return number >= self.at and (self.times is None or number < self.at + self.times)


class FaultyReader:
    """Reads through another reader, with faults; each path of `read_many` is one operation."""

    def __init__(
        self,
        reader: Reader,
        *faults: InjectedFault,
        vanished: Iterable[str] = (),
        slow: Callable[[str], None] | None = None,
    ) -> None:
        self._reader = reader
        self._faults = faults
        self._vanished = frozenset(vanished)
        self._slow = slow
        self.count = 0
        """How many operations were asked so far."""

    @property
    def location(self) -> str:
        """Where this is, as shown to people."""
        return self._reader.location

    def list(self) -> Listing:
        """List everything, files that will have vanished too."""
        self._suffer("")
        return self._reader.list()

    def names(self, folder: str) -> frozenset[str]:
        """Names directly in a folder."""
        self._suffer(folder)
        return self._reader.names(folder)

    def read(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """Read a file, or fail as was ordered."""
        self._suffer(path)
        if path in self._vanished:
            raise NotFoundError("HF7001", f"there is no file {path}", at=f"{self.location}/{path}")
        return self._reader.read(path, start, length)

    def read_many(self, paths: Iterable[str]) -> Mapping[str, bytes | StorageError]:
        """Read several whole files, each with its own fate."""
        return {path: self._read_or_error(path) for path in paths}

    def _read_or_error(self, path: str) -> bytes | StorageError:
        try:
            return self.read(path)
        except StorageError as error:
            return error

    def _suffer(self, path: str) -> None:
        self.count += 1
        if self._slow is not None:
            self._slow(path)
        for fault in self._faults:
            if fault.hits(self.count):
                raise fault.error


@dataclass(frozen=True)
class Operation:
    """One thing that was asked: `list`, `names` or `read`, of what, and how many bytes came."""

    act: str
    path: str
    size: int = 0


class RecordingReader:
    """Reads through another reader and keeps an Operation of everything that was asked."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self.operations: list[Operation] = []

    @property
    def location(self) -> str:
        """Where this is, as shown to people."""
        return self._reader.location

    @property
    def paths_read(self) -> tuple[str, ...]:
        """The files that were read, in order."""
        return tuple(operation.path for operation in self.operations if operation.act == "read")

    @property
    def bytes_read(self) -> int:
        """How many bytes of files came altogether."""
        return sum(operation.size for operation in self.operations)

    def list(self) -> Listing:
        """List everything, and remember it."""
        self.operations.append(Operation("list", ""))
        return self._reader.list()

    def names(self, folder: str) -> frozenset[str]:
        """Names directly in a folder, remembered."""
        self.operations.append(Operation("names", folder))
        return self._reader.names(folder)

    def read(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """Read, and remember how much came; a failure counts as an operation without bytes."""
        content = b""
        try:
            content = self._reader.read(path, start, length)
        finally:
            self.operations.append(Operation("read", path, len(content)))
        return content

    def read_many(self, paths: Iterable[str]) -> Mapping[str, bytes | StorageError]:
        """Read several whole files, one remembered operation each."""
        results = self._reader.read_many(paths)
        for path, result in results.items():
            size = len(result) if isinstance(result, bytes) else 0
            self.operations.append(Operation("read", path, size))
        return results
