"""Keeps a copy from being open to more people than what it is a copy of; local storage only."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from holdfast.storage.writing import Writer

_FILE = 0o666
_ALL = 0o777


@runtime_checkable
class Narrowable(Protocol):
    """A writer that can keep its files and folders from others."""

    def narrowed(self, files: int, folders: int) -> Writer:
        """Return a writer whose files and folders are open to no more than these modes say."""

    def narrow(self, path: str) -> None:
        """Take rights from a file or folder that is there; '' is the root itself."""


def narrowed(writer: Writer, files: int | None, folders: int | None = None) -> Writer:
    """Return a writer that opens nothing further than these modes; None limits nothing.

    Without a mode for folders, those that it makes are as open as the files in them.
    """
    if not isinstance(writer, Narrowable) or (files is None and folders is None):
        return writer
    limit = _ALL if files is None else files
    return writer.narrowed(limit, entered(limit) if folders is None else folders)


def narrow(writer: Writer, path: str, mode: int | None) -> None:
    """Take rights from a file or folder that is there and is open further than the mode says."""
    narrower = narrowed(writer, mode, mode)
    if mode is not None and isinstance(narrower, Narrowable):
        narrower.narrow(path)


def file_mode(limit: int) -> int:
    """Return the mode of a new file: never more than the limit, and readable by its owner."""
    return (_FILE & limit) | 0o400


def folder_mode(limit: int) -> int:
    """Return the mode of a new folder: never more than the limit, and usable by its owner."""
    return (_ALL & limit) | 0o700


def entered(mode: int) -> int:
    """Return the mode of a folder that lets those enter who may read."""
    return mode | (mode & 0o444) >> 2
