"""Reads a checkpoint from a mapping of names to bytes: the same promises, no disk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from holdfast.errors import NotFoundError, StorageError
from holdfast.storage.location import place_within, shown_path
from holdfast.storage.reading import FileKind, Listed, Listing, add_parents, order_of


class MemoryReader:
    """Reads `files`; a key that ends in '/' is a folder, which may be empty."""

    def __init__(self, files: Mapping[str, bytes], location: str = "memory") -> None:
        self._files = files
        self._location = location

    @property
    def location(self) -> str:
        """Where this is, as shown to people."""
        return self._location

    def list(self) -> Listing:
        """List everything once, in the order of names."""
        folders: set[str] = set()
        items: list[Listed] = []
        for key, content in self._files.items():
            add_parents(key, folders)
            if not key.endswith("/"):
                items.append(Listed(key, FileKind.FILE, len(content)))
        items.extend(Listed(folder, FileKind.FOLDER, 0) for folder in folders)
        items.sort(key=order_of)
        return Listing(tuple(items), {})

    def names(self, folder: str) -> frozenset[str]:
        """Names directly in a folder; empty when the folder is not there."""
        prefix = f"{folder}/" if folder else ""
        start = len(prefix)
        return frozenset(
            key[start:].partition("/")[0] for key in self._files if key.startswith(prefix)
        ) - {""}

    def read(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """Read a file, or `length` bytes of it from `start`."""
        content = self._files.get(path)
        if content is None or path.endswith("/"):
            raise self._missing(path)
        return content[start:] if length is None else content[start : start + length]

    def read_many(self, paths: Iterable[str]) -> Mapping[str, bytes | StorageError]:
        """Read several whole files; a failure stands in place of the bytes."""
        return {path: self._whole(path) for path in paths}

    def _whole(self, path: str) -> bytes | StorageError:
        try:
            return self.read(path)
        except StorageError as error:
            return error

    def _missing(self, path: str) -> StorageError:
        at = place_within(self._location, path)
        prefix = path.rstrip("/") + "/"
        if any(key.startswith(prefix) for key in self._files):
            return StorageError("HF7013", "a directory is where a file was expected", at=at)
        return NotFoundError("HF7001", f"there is no file {shown_path(path)}", at=at)
