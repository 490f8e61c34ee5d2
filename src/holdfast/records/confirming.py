"""Asks before every change whether it may still be made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from holdfast.storage.modes import Narrowable, narrowed
from holdfast.storage.writing import Writer


@dataclass(frozen=True)
class ConfirmingWriter:
    """Writes through another writer; `confirm` raises where nothing may be changed any more.

    A file is confirmed when all of its bytes are handed over, right before it becomes visible.
    """

    writer: Writer
    confirm: Callable[[], None]

    @property
    def location(self) -> str:
        """Where this is, as shown to people."""
        return self.writer.location

    def create(self, path: str, chunks: Iterable[bytes]) -> bool:
        """Write a file that is not there yet."""
        return self.writer.create(path, self._confirmed(chunks))

    def replace(self, path: str, chunks: Iterable[bytes]) -> None:
        """Write a file, in place of another one if need be."""
        self.writer.replace(path, self._confirmed(chunks))

    def remove(self, path: str) -> None:
        """Remove a file."""
        self.confirm()
        self.writer.remove(path)

    def move(self, source: str, target: str) -> None:
        """Rename a file."""
        self.confirm()
        self.writer.move(source, target)

    def move_folder(self, source: str, target: str) -> None:
        """Rename a folder."""
        self.confirm()
        self.writer.move_folder(source, target)

    def flush(self, path: str) -> None:
        """Bring a file to the disk; changes nothing that a reader sees."""
        self.writer.flush(path)

    def make_folder(self, path: str) -> None:
        """Make a folder."""
        self.confirm()
        self.writer.make_folder(path)

    def remove_folder(self, path: str) -> None:
        """Remove an empty folder."""
        self.confirm()
        self.writer.remove_folder(path)

    def narrowed(self, files: int, folders: int) -> Writer:
        """Return a writer whose files and folders are open to no more than these modes say."""
        return ConfirmingWriter(narrowed(self.writer, files, folders), self.confirm)

    def narrow(self, path: str) -> None:
        """Take rights from a file or folder that is there."""
        self.confirm()
        if isinstance(self.writer, Narrowable):
            self.writer.narrow(path)

    def settle(self) -> None:
        """Bring everything to the disk; changes nothing that a reader sees."""
        self.writer.settle()

    def _confirmed(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        yield from chunks
        self.confirm()
