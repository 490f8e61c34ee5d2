"""Remembers what was asked of a reader, so that a test can say that nothing more was read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from holdfast.errors import StorageError
from holdfast.storage.reading import Listing, Reader


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
