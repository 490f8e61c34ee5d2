"""Reads a folder of this machine: never writes, never opens a pipe, never follows a link out."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from holdfast.errors import StorageError
from holdfast.storage.border import border
from holdfast.storage.paths import inner_path
from holdfast.storage.reading import Listing
from holdfast.storage.showing import place_within, shown_path
from holdfast.storage.walk import is_inside, walk

# Without O_NONBLOCK a pipe that takes a file's place at the last moment would hang the reader.
_OPEN_FILE = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
)


class LocalReader:
    """Reads the folder `root`, shown to people as `location`."""

    def __init__(self, root: str, location: str | None = None) -> None:
        self._root = root
        self._location = shown_path(root) if location is None else location
        self._real_folders: dict[str, str] = {}

    @property
    def location(self) -> str:
        """Where this is, as shown to people."""
        return self._location

    def list(self) -> Listing:
        """List everything below the root once; folders that refuse are told as failures."""
        with border(self._location):
            mode = self._refuse_file()
            root = os.path.realpath(self._root)
        return walk(root, self._location, stat.S_IMODE(mode) & 0o777)

    def names(self, folder: str) -> frozenset[str]:
        """Names directly in a folder; empty when no such folder is there."""
        at = self._at(folder)
        with border(at):
            if folder:
                inner_path(folder, at)
            try:
                with os.scandir(self._real_folder(folder)) as entries:
                    return frozenset(entry.name for entry in entries)
            except NotADirectoryError:
                self._refuse_file()
                return frozenset()
            except FileNotFoundError:
                return frozenset()

    def _refuse_file(self) -> int:
        """Return the mode of the root; raise HF7016 where it is not a directory."""
        mode = Path(self._root).stat().st_mode
        if not stat.S_ISDIR(mode):
            raise StorageError("HF7016", "this is a file, not a directory", at=self._location)
        return mode

    def read(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """Read a plain file, or `length` bytes of it from `start`."""
        with border(self._at(path)):
            descriptor = self._open(path)
            try:
                size = os.fstat(descriptor).st_size
                wanted = size - start if length is None else length
                return _read_all(descriptor, start, wanted, to_end=length is None)
            finally:
                os.close(descriptor)

    def read_many(self, paths: Iterable[str]) -> Mapping[str, bytes | StorageError]:
        """Read several whole files; a failure stands in place of the bytes."""
        return {path: self._read_or_error(path) for path in paths}

    def _read_or_error(self, path: str) -> bytes | StorageError:
        try:
            return self.read(path)
        except StorageError as error:
            return error

    def _open(self, path: str) -> int:
        folder, _, name = inner_path(path, self._at(path)).rpartition("/")
        full = f"{self._real_folder(folder)}/{name}"
        mode = os.lstat(full).st_mode
        if stat.S_ISLNK(mode):
            full = os.path.realpath(full, strict=True)
            self._refuse_outside(full, path)
            mode = os.lstat(full).st_mode
        self._refuse_other(mode, path)
        descriptor = os.open(full, _OPEN_FILE)
        try:
            self._refuse_other(os.fstat(descriptor).st_mode, path)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def _real_folder(self, folder: str) -> str:
        """Resolve a folder once, and make sure that no link on the way leads out."""
        real = self._real_folders.get(folder)
        if real is None:
            real = os.path.realpath(f"{self._root}/{folder}")
            if folder:
                self._refuse_outside(real, folder)
            self._real_folders[folder] = real
        return real

    def _refuse_outside(self, real: str, path: str) -> None:
        if not is_inside(real, self._real_folder("")):
            raise StorageError("HF7013", "a link leads out of the checkpoint", at=self._at(path))

    def _refuse_other(self, mode: int, path: str) -> None:
        if not stat.S_ISREG(mode):
            message = f"this is {_KIND_OF_MODE.get(stat.S_IFMT(mode), 'no plain file')}, not a file"
            raise StorageError("HF7013", message, at=self._at(path))

    def _at(self, path: str) -> str:
        return place_within(self._location, path)


_KIND_OF_MODE: Mapping[int, str] = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFLNK: "a link",
}


def _read_all(descriptor: int, start: int, wanted: int, *, to_end: bool) -> bytes:
    """Read until `wanted` bytes are there or the file ends; a growing file is read to its end."""
    if start:
        os.lseek(descriptor, start, os.SEEK_SET)
    chunks: list[bytes] = []
    missing = max(wanted, 0) + (1 if to_end else 0)
    while missing > 0:
        chunk = os.read(descriptor, min(missing, 1 << 24))
        if not chunk:
            break
        chunks.append(chunk)
        missing -= len(chunk)
        if to_end and missing == 0:
            missing = 1 << 16
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)
