"""Reads what fsspec can reach: one listing, many reads side by side, no cache, no writing.

Object stores have no directories. Writers mark them in three ways, all of zero bytes: `offsets/`,
`offsets_$folder$` (Hadoop's old S3 and Azure clients), and `offsets` beside `offsets/0`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from typing import Any

from holdfast.errors import NotFoundError, StorageError
from holdfast.storage.errors import border, is_beyond_end, translated
from holdfast.storage.filesystem import CONNECTIONS, ReadOnlyFilesystem
from holdfast.storage.parallel import side_by_side
from holdfast.storage.paths import inner_path, place_within
from holdfast.storage.reading import FileKind, Listed, Listing, add_parents, order_of

_OLD_MARK = "_$folder$"
_TIMES = (
    "LastModified",
    "last_modified",
    "mtime",
    "modified",
    "modificationTime",
    "updated",
    "created",
)
"""Where implementations tell when a file was written, the most exact first."""
_TAGS = ("VersionId", "ETag", "etag", "generation", "md5Hash", "content_md5")
"""Where implementations tell which bytes they hold. Times are whole seconds on S3: a file may be
written twice in one, and keep its size."""


class Tree:
    """What lies below one root, gathered name by name."""

    def __init__(self, root: str) -> None:
        self._root = root.strip("/")
        self._folders: set[str] = set()
        self._files: list[Listed] = []
        self.root_is_file = False

    def add(self, info: Mapping[str, Any]) -> str | None:
        """Take one listed name in; give its path back when it is a folder."""
        name = str(info["name"]).lstrip("/")
        if name.rstrip("/") == self._root:
            plain = not name.endswith("/") or info.get("pathSuffix") == ""
            self.root_is_file |= plain and info.get("type", "file") == "file"
            return None
        path = name[len(self._root) + 1 if self._root else 0 :]
        size = int(info.get("size") or 0)
        folder = _folder_marked_by(path, size, info.get("type"))
        add_parents(path, self._folders)
        if folder is not None:
            self._folders.add(folder)
            return folder
        kind = FileKind.OTHER if info.get("type") in ("other", "link") else FileKind.FILE
        self._files.append(Listed(path, kind, size, _modified_ms(info), None, _tag(info)))
        return None

    def items(self) -> tuple[Listed, ...]:
        """Return everything in the order of names; an empty object under a folder's name is it."""
        folders = self._folders
        items = [item for item in self._files if item.size or item.path not in folders]
        items.extend(Listed(folder, FileKind.FOLDER, 0) for folder in folders)
        items.sort(key=order_of)
        return tuple(items)


def _folder_marked_by(path: str, size: int, kind: object) -> str | None:
    if kind == "directory" or path.endswith("/"):
        return path.rstrip("/")
    if size == 0 and path.endswith(_OLD_MARK):
        return path.removesuffix(_OLD_MARK)
    return None


def _modified_ms(info: Mapping[str, Any]) -> int | None:
    value = next((info[key] for key in _TIMES if info.get(key)), None)
    if isinstance(value, str):
        value = _parsed(value)
    if isinstance(value, datetime):
        aware = value if value.tzinfo else value.replace(tzinfo=timezone.utc)
        return int(aware.timestamp() * 1000)
    if isinstance(value, int | float):
        return int(value) if "modificationTime" in info else int(value * 1000)
    return None


def _tag(info: Mapping[str, Any]) -> str | None:
    value = next((info[key] for key in _TAGS if info.get(key)), None)
    return None if value is None else str(value)


def _parsed(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None


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
            raise NotFoundError("HF7001", "it does not exist", at=self._location)
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
