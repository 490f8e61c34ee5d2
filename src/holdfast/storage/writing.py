"""What every writer of a place can do: whole files or none, once or in place of another.

The first writing half of storage. Checkpoints stay evidence: only a restore opens a writer on one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol, runtime_checkable

from holdfast.errors import HoldfastError, NotFoundError, StorageError
from holdfast.storage.errors import translated


class Writer(Protocol):
    """A place opened for writing.

    A file is there with all of its bytes, or it is not there: also after a kill at any moment.
    Errors are always StorageErrors. If the chunks raise while they are written, nothing is
    published and the error passes through.
    """

    @property
    def location(self) -> str:
        """Where this is, as shown to people (no secrets in it)."""

    def create(self, path: str, chunks: Iterable[bytes]) -> bool:
        """Write a file that is not there yet; False, and nothing written, when one is."""

    def replace(self, path: str, chunks: Iterable[bytes]) -> None:
        """Write a file, in place of another one if need be."""

    def remove(self, path: str) -> None:
        """Remove a file; it is no error when it is not there."""

    def move(self, source: str, target: str) -> None:
        """Rename a file, replacing an existing one; a reader never sees a part of it.

        Raises NotFoundError where the source is not there (any more).
        """

    def move_folder(self, source: str, target: str) -> None:
        """Rename a directory atomically; raise NotFoundError if it does not exist.

        The name is free, or that of an empty folder: where another folder is, StorageError is
        raised and nothing changes. Storages without folders refuse it.
        """

    def flush(self, path: str) -> None:
        """Bring a file that somebody else wrote to the disk, and with `settle` its folders."""

    def make_folder(self, path: str) -> None:
        """Make a folder and those around it; storages without folders do nothing."""

    def remove_folder(self, path: str) -> None:
        """Remove a folder if it is empty; one that is not, or not there, is left alone."""

    def settle(self) -> None:
        """Return only when everything written, removed and made so far survives a power cut."""


@contextmanager
def writing_border(at: str) -> Iterator[None]:
    """Turn whatever a file system raises while writing into a StorageError of the right code."""
    try:
        yield
    except HoldfastError:
        raise
    except Exception as error:
        failure = translated(error, at)
        if failure.code.number == "HF7002":
            failure = _denied(failure, at)
        if failure.code.number in ("HF7006", "HF7001"):
            message = failure.message.partition(": ")[2] or type(error).__name__
            failure = StorageError("HF7015", f"the storage failed while writing: {message}", at=at)
        raise failure from error


def _denied(failure: StorageError, at: str) -> StorageError:
    """Say of a denied write what a write needs; the code's own words are about reading."""
    detail = failure.message.partition(": ")[2]
    message = f"writing was denied{f': {detail}' if detail else ''}"
    why = "nothing was changed; this user can read here but not write"
    step = "run as the user that runs the job, or give this user write access"
    return StorageError("HF7002", message, at=at, why=why, next_steps=(step,))


def is_missing(error: BaseException) -> bool:
    """Whether an error says that nothing is at the place."""
    return isinstance(error, FileNotFoundError | NotFoundError)


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
