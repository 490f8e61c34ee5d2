"""Reads what fsspec can reach: one listing, many reads side by side, no cache, no writing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from holdfast.errors import NotFoundError, StorageError
from holdfast.storage.border import border, is_beyond_end, translated
from holdfast.storage.objects import Tree
from holdfast.storage.paths import inner_path
from holdfast.storage.reading import Listing
from holdfast.storage.readonly import ReadOnlyFilesystem
from holdfast.storage.showing import place_within
from holdfast.storage.sidebyside import side_by_side
from holdfast.storage.translation import CONNECTIONS


class FsspecReader:
    """Reads below `root` of a guarded file system, shown to people as `location`.

    An `object_store` lists everything below a prefix by one question; a file system with folders
    is asked folder by folder, so that one that refuses does not hide the others.
    """

    def __init__(
        self,
        filesystem: ReadOnlyFilesystem,
        root: str,
        location: str,
        *,
        object_store: bool = True,
    ) -> None:
        self._filesystem = filesystem
        self._root = root.rstrip("/")
        self._location = location
        self._object_store = object_store

    @property
    def location(self) -> str:
        """Where this is, as shown to people."""
        return self._location

    def list(self) -> Listing:
        """List everything below the root once."""
        with border(self._location):
            return self._list_prefix() if self._object_store else self._list_folders()

    def _list_prefix(self) -> Listing:
        found = self._filesystem.find(self._root, withdirs=True, detail=True)
        tree = Tree(self._root)
        # adlfs answers with a list of one name when the place is a file.
        for info in found.values() if isinstance(found, dict) else [{"name": self._root}]:
            tree.add(info)
        return self._checked(tree, exists=bool(found) or not _has_key(self._root))

    def _list_folders(self) -> Listing:
        tree = Tree(self._root)
        failures: dict[str, StorageError] = {}
        waiting = [""]
        while waiting:
            folder = waiting.pop()
            try:
                infos = self._filesystem.ls(self._full(folder), detail=True)
            except Exception as error:
                if not folder:
                    raise
                failures[folder] = translated(error, self._at(folder))
                continue
            waiting.extend(sorted(filter(None, map(tree.add, infos)), reverse=True))
        return self._checked(tree, exists=True, failures=failures)

    def _checked(
        self, tree: Tree, *, exists: bool, failures: Mapping[str, StorageError] | None = None
    ) -> Listing:
        if tree.root_is_file:
            raise StorageError("HF7016", "this is a file, not a directory", at=self._location)
        if not exists:
            raise NotFoundError("HF7001", "nothing is there", at=self._location)
        return Listing(tree.items(), failures or {})

    def names(self, folder: str) -> frozenset[str]:
        """Names directly in a folder; empty when no such folder is there."""
        with border(self._at(folder)):
            if folder:
                inner_path(folder, self._at(folder))
            try:
                infos = self._filesystem.ls(self._full(folder), detail=True)
            except (FileNotFoundError, NotADirectoryError):
                return frozenset()
            tree = Tree(self._full(folder))
            for info in infos:
                tree.add(info)
            return frozenset(item.path.partition("/")[0] for item in tree.items())

    def read(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """Read a file, or `length` bytes of it from `start`."""
        at = self._at(path)
        inner_path(path, at)
        if length is not None and length <= 0:
            return b""
        span: dict[str, Any] = {}
        if start or length is not None:
            span = {"start": start, "end": None if length is None else start + length}
        with border(at):
            try:
                return bytes(self._filesystem.cat_file(self._full(path), **span))
            except Exception as error:
                if span and is_beyond_end(error):
                    return b""
                raise

    def read_many(self, paths: Iterable[str]) -> Mapping[str, bytes | StorageError]:
        """Read several whole files side by side; a failure stands in place of the bytes."""
        return side_by_side(self._read_or_error, paths, CONNECTIONS)

    def _read_or_error(self, path: str) -> bytes | StorageError:
        try:
            return self.read(path)
        except StorageError as error:
            return error

    def _full(self, path: str) -> str:
        return f"{self._root}/{path}" if path else self._root or "/"

    def _at(self, path: str) -> str:
        return place_within(self._location, path)


def _has_key(root: str) -> bool:
    """Whether a root is more than a bucket: an empty bucket exists, an empty prefix does not."""
    return "/" in root.strip("/") or root.startswith("/")
