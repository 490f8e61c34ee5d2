"""Makes a tree of files and folders out of the names that a storage lists.

Object stores have no folders. Writers mark them in three ways, all of zero bytes: `offsets/`,
`offsets_$folder$` (Hadoop's old S3 and Azure clients), and `offsets` beside `offsets/0`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any

from holdfast.storage.ordering import add_parents, order_of
from holdfast.storage.reading import Kind, Listed

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
        kind = Kind.OTHER if info.get("type") in ("other", "link") else Kind.FILE
        self._files.append(Listed(path, kind, size, _modified_ms(info), None, _tag(info)))
        return None

    def items(self) -> tuple[Listed, ...]:
        """Give everything in the order of names; an empty object under a folder's name is it."""
        folders = self._folders
        items = [item for item in self._files if item.size or item.path not in folders]
        items.extend(Listed(folder, Kind.FOLDER, 0) for folder in folders)
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
