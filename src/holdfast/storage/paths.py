"""Makes sure that a path relative to a checkpoint stays inside of it."""

from __future__ import annotations

import os

from holdfast.errors import StorageError


def inner_path(path: str, at: str) -> str:
    """Give the path back; refuse one that is absolute, empty, or climbs out by its spelling."""
    parts = path.split("/")
    if "" in parts or "." in parts or ".." in parts or "\0" in path or _is_foreign(path):
        raise StorageError("HF7013", "this path does not name a file in the checkpoint", at=at)
    return path


def _is_foreign(path: str) -> bool:
    return os.sep != "/" and (os.sep in path or ":" in path)
