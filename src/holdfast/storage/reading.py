"""What every reader of a place can do: list it once, read bytes. Nothing here can write."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, Protocol

from holdfast.errors import StorageError


class FileKind(str, Enum):
    """What a listed name is."""

    FILE = "file"
    FOLDER = "folder"
    OUTWARD_LINK = "outward-link"
    """A symbolic link whose end lies outside of the listed folder: never followed."""
    BROKEN_LINK = "broken-link"
    OTHER = "other"
    """A pipe, socket or device, or a link back to a folder around it: never opened."""


class Listed(NamedTuple):
    """One name below the root; `path` is relative to it with '/' between parts.

    A tuple, because one listing makes tens of thousands of them.
    """

    path: str
    kind: FileKind
    size: int
    modified_ms: int | None = None
    mode: int | None = None
    """Who may read and write it, as `chmod` spells it; None where the storage has no such thing."""
    tag: str | None = None
    """What the storage tells of the bytes, such as an ETag; other bytes have another one."""


@dataclass(frozen=True)
class Listing:
    """Everything below the root at one look, and the folders that could not be looked into."""

    items: tuple[Listed, ...]
    failures: Mapping[str, StorageError]
    """Folder (relative path, '' for the root's own) to why it could not be listed."""
    root_mode: int | None = None
    """The mode of the root itself."""

    def whole(self) -> tuple[Listed, ...]:
        """Return everything; raise the StorageError of a folder that could not be listed.

        For whoever concludes from what is missing: a folder that refused is not an empty one.
        """
        for error in self.failures.values():
            raise error
        return self.items


class Reader(Protocol):
    """A place opened for reading.

    Listing goes in the order of names, folder by folder, so that `commits` is looked at before
    `offsets`, and `offsets` before `sources` and `state`: Spark writes them in the opposite
    order, so a commit that we see always has its offsets in the same listing, also while a query
    runs. Errors are always StorageErrors.
    """

    @property
    def location(self) -> str:
        """Where this is, as shown to people (no secrets in it)."""

    def list(self) -> Listing:
        """List everything below the root once. Raise NotFoundError when the root is not there."""

    def names(self, folder: str) -> frozenset[str]:
        """Names directly in a folder, cheaply; empty when the folder is not there."""

    def read(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """Read a file or a part of it; raise NotFoundError when it is not there any more."""

    def read_many(self, paths: Iterable[str]) -> Mapping[str, bytes | StorageError]:
        """Read several whole files side by side; a failure stands in place of the bytes."""


def order_of(item: Listed) -> str:
    """Sort key of a listing: by the names of the parts, a folder right before what it holds."""
    return item.path.replace("/", "\0")


def add_parents(path: str, folders: set[str]) -> None:
    """Add every folder that the path lies in."""
    end = path.rfind("/")
    while end > 0:
        parent = path[:end]
        if parent in folders:
            return
        folders.add(parent)
        end = parent.rfind("/")
