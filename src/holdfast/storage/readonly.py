"""Guards an fsspec file system: what reads passes, everything else is refused.

The table names what may pass, not what may not: a method that a later fsspec adds is refused until
somebody has looked at it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from holdfast.errors import StorageError

READING_METHODS = frozenset({"cat_file", "exists", "find", "info", "isdir", "isfile", "ls", "size"})
"""Methods of fsspec that only read, and that keep nothing on this disk."""

READING_MODES = frozenset({"rb"})


class ReadOnlyFilesystem:
    """An fsspec file system that can't write, create, move, remove or mark anything."""

    __slots__ = ("_filesystem",)

    def __init__(self, filesystem: Any) -> None:
        self._filesystem = filesystem

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in READING_METHODS:
            method: Callable[..., Any] = getattr(self._filesystem, name)
            return method
        return _refusal_of(name)

    def open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        """Open a file for reading; any other mode is refused."""
        if mode not in READING_MODES:
            _refusal_of(f"open in mode {mode}")()
        return self._filesystem.open(path, mode, **options)


def _refusal_of(name: str) -> Callable[..., Any]:
    def refused(*_: object, **__: object) -> NoReturn:
        raise StorageError("HF7009", f"reading tried to call {name} of the file system")

    return refused
