"""One part of the records as a place of its own; all parts share one connection to the storage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from holdfast.errors import StorageError
from holdfast.storage.reading import Reader
from holdfast.storage.writing import Writer


@dataclass(frozen=True)
class PartReader:
    """Reads below a part of what another reader reads."""

    whole: Reader
    part: str

    @property
    def location(self) -> str:
        """Where this is, as shown to people."""
        return f"{self.whole.location}/{self.part}"

    def names(self, folder: str = "") -> frozenset[str]:
        """Names directly in a folder; empty when the folder is not there."""
        return self.whole.names(f"{self.part}/{folder}" if folder else self.part)

    def read(self, path: str) -> bytes:
        """Read a file; raise NotFoundError when it is not there any more."""
        return self.whole.read(f"{self.part}/{path}")

    def read_many(self, paths: Iterable[str]) -> Mapping[str, bytes | StorageError]:
        """Read several files side by side; a failure stands in place of the bytes."""
        start = len(self.part) + 1
        content = self.whole.read_many([f"{self.part}/{path}" for path in paths])
        return {path[start:]: read for path, read in content.items()}


@dataclass(frozen=True)
class PartWriter:
    """Writes below a part of what another writer writes."""

    whole: Writer
    part: str

    def create(self, path: str, content: bytes) -> bool:
        """Write a file that is not there yet; False, and nothing written, when one is."""
        return self.whole.create(f"{self.part}/{path}", (content,))

    def replace(self, path: str, content: bytes) -> None:
        """Write a file, in place of another one if need be."""
        self.whole.replace(f"{self.part}/{path}", (content,))

    def remove(self, path: str) -> None:
        """Remove a file; it is no error when it is not there."""
        self.whole.remove(f"{self.part}/{path}")

    def settle(self) -> None:
        """Return only when everything written so far survives a power cut."""
        self.whole.settle()
