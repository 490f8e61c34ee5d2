"""Writes where fsspec can create a file only if none is there yet: S3."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from holdfast.errors import NotFoundError, StorageError
from holdfast.storage.paths import inner_path, place_within
from holdfast.storage.writing import is_missing, writing_border

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
