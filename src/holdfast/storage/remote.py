"""Reads what fsspec can reach, side by side, and writes where a file is only created once.

Object stores have no directories. Writers mark them in three ways, all of zero bytes: `offsets/`,
`offsets_$folder$` (Hadoop's old S3 and Azure clients), and `offsets` beside `offsets/0`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timezone
from itertools import chain
from typing import Any

from holdfast.errors import NotFoundError, StorageError
from holdfast.storage.errors import border, is_beyond_end, translated
from holdfast.storage.filesystem import CONNECTIONS, ReadOnlyFilesystem
from holdfast.storage.location import inner_path, place_within
from holdfast.storage.parallel import side_by_side
from holdfast.storage.reading import FileKind, Listed, Listing, add_parents, order_of
from holdfast.storage.writing import is_missing, writing_border

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


WRITE_ONCE_SCHEMES = frozenset({"s3"})
"""Storages whose put-if-absent was tried; a promise that nobody tried is not relied upon."""

_AT_ONCE_BYTES = 16 * 1024 * 1024
"""Files up to this size are put by one request, larger ones in parts."""


class FsspecWriter:
    """Writes below `root` of a file system, shown to people as `location`."""

    def __init__(self, filesystem: Any, root: str, location: str) -> None:
        self._filesystem = filesystem
        self._root = root.rstrip("/")
        self._location = location
        self._tried = False

    @property
    def location(self) -> str:
        """Where this is, as shown to people."""
        return self._location

    def create(self, path: str, chunks: Iterable[bytes]) -> bool:
        """Write a file that is not there yet, by a conditional request."""
        at = self._at(path)
        with writing_border(at):
            first, rest = _peeked(chunks)
            try:
                self._put(path, first, rest, once=True)
            except FileExistsError:
                return False
            self._try_condition(path, at)
            return True

    def replace(self, path: str, chunks: Iterable[bytes]) -> None:
        """Write a file in place of another one; object stores publish it whole or not at all."""
        with writing_border(self._at(path)):
            first, rest = _peeked(chunks)
            self._put(path, first, rest, once=False)

    def remove(self, path: str) -> None:
        """Remove a file, if it is there."""
        with writing_border(self._at(path)):
            try:
                self._filesystem.rm_file(self._full(path))
            except Exception as error:
                if not is_missing(error):
                    raise

    def move(self, source: str, target: str) -> None:
        """Copy a file within the storage, then remove the first: there is no rename."""
        with writing_border(self._at(target)):
            try:
                self._filesystem.cp_file(self._full(source), self._full(target))
            except Exception as error:
                if is_missing(error):
                    raise NotFoundError(
                        "HF7001", "it does not exist", at=self._at(source)
                    ) from None
                raise
        self.remove(source)

    def move_folder(self, source: str, target: str) -> None:
        """Refuse: file by file it would be no single act."""
        message = f"this storage has no directories that could be renamed to {target}"
        raise StorageError("HF7015", message, at=self._at(source))

    def flush(self, path: str) -> None:
        """Do nothing: what these storages confirmed is kept."""

    def make_folder(self, path: str) -> None:
        """Do nothing: these storages have no folders."""

    def remove_folder(self, path: str) -> None:
        """Do nothing: these storages have no folders."""

    def settle(self) -> None:
        """Do nothing: what these storages confirmed is kept."""

    def _put(self, path: str, first: bytes, rest: Iterator[bytes], *, once: bool) -> None:
        full = self._full(path)
        following = next(rest, None)
        if following is None:
            self._filesystem.pipe_file(full, first, mode="create" if once else "overwrite")
            return
        opened = self._filesystem.open(full, "xb" if once else "wb")
        try:
            for chunk in chain((first, following), rest):
                opened.write(chunk)
        except BaseException:
            opened.discard()
            opened.closed = True
            raise
        opened.close()

    def _try_condition(self, path: str, at: str) -> None:
        """See once that the storage heeds the condition: some servers take no notice of it."""
        if self._tried:
            return
        content = self._filesystem.cat_file(self._full(path))
        try:
            self._filesystem.pipe_file(self._full(path), content, mode="create")
        except FileExistsError:
            self._tried = True
            return
        message = "this storage overwrites existing files (no conditional writes)"
        raise StorageError("HF7014", message, at=at)

    def _full(self, path: str) -> str:
        return f"{self._root}/{inner_path(path, self._at(path))}"

    def _at(self, path: str) -> str:
        return place_within(self._location, path)


def _peeked(chunks: Iterable[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """Return the first part, whole files up to the size that is put at once, and what follows."""
    iterator = iter(chunks)
    parts: list[bytes] = []
    size = 0
    for chunk in iterator:
        parts.append(chunk)
        size += len(chunk)
        if size >= _AT_ONCE_BYTES:
            break
    return b"".join(parts), iterator
