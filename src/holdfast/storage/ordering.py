"""Puts a listing into the order of names, and names the folders that paths imply."""

from __future__ import annotations

from holdfast.storage.reading import Listed


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
