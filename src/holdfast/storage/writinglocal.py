"""Writes a folder of this machine: a temporary file, flushed, then one atomic link or rename."""

from __future__ import annotations

import errno
import os
import shutil
import threading
from collections.abc import Iterable
from pathlib import Path

from holdfast.errors import NotFoundError, StorageError
from holdfast.storage.paths import inner_path
from holdfast.storage.showing import place_within, shown_path
from holdfast.storage.walk import is_inside
from holdfast.storage.writing import writing_border
from holdfast.storage.writingtemporary import temporary_name

_CREATE = (
    os.O_WRONLY
    | os.O_CREAT
    | os.O_EXCL
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_NOFOLLOW", 0)
)
_NO_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV})
_LEFT_ALONE = frozenset({errno.ENOENT, errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR})


class LocalWriter:
    """Writes below `root`, shown to people as `location`; never through a link that leads out."""

    def __init__(self, root: str, location: str | None = None) -> None:
        self._root = os.path.realpath(root)
        self._location = shown_path(root) if location is None else location
        self._unsettled: set[str] = set()
        self._lock = threading.Lock()

    @property
    def location(self) -> str:
        """Where this is, as shown to people."""
        return self._location

    def create(self, path: str, chunks: Iterable[bytes]) -> bool:
        """Write a file that is not there yet: the link to its name is made once or not at all."""
        with writing_border(self._at(path)):
            folder, name = self._folder_for(path)
            temporary = self._written(folder, chunks)
            try:
                return self._linked(temporary, f"{folder}/{name}", path)
            finally:
                Path(temporary).unlink()

    def replace(self, path: str, chunks: Iterable[bytes]) -> None:
        """Write a file; a reader sees the old bytes or the new ones, never a part."""
        with writing_border(self._at(path)):
            folder, name = self._folder_for(path)
            temporary = self._written(folder, chunks)
            try:
                Path(temporary).replace(f"{folder}/{name}")
            except BaseException:
                Path(temporary).unlink()
                raise
            self._remember(folder)

    def remove(self, path: str) -> None:
        """Remove a file, if it is there."""
        with writing_border(self._at(path)):
            full = Path(self._inside(path))
            full.unlink(missing_ok=True)
            if full.parent.is_dir():
                self._remember(str(full.parent))

    def move(self, source: str, target: str) -> None:
        """Rename a file; one on another file system is copied under a hidden name first."""
        with writing_border(self._at(target)):
            old = self._inside(source)
            folder, name = self._folder_for(target)
            try:
                Path(old).replace(f"{folder}/{name}")
            except FileNotFoundError as error:
                raise self._gone(source) from error
            except OSError as error:
                if error.errno != errno.EXDEV:
                    raise
                self._move_far(old, f"{folder}/{name}")
            self._remember(folder)
            self._remember(old.rpartition("/")[0])

    def move_folder(self, source: str, target: str) -> None:
        """Rename a folder, with everything in it, to a name that is free."""
        with writing_border(self._at(target)):
            old = self._inside(source)
            folder, name = self._folder_for(target)
            try:
                Path(old).rename(f"{folder}/{name}")
            except FileNotFoundError as error:
                raise self._gone(source) from error
            self._remember(folder)
            self._remember(old.rpartition("/")[0])

    def flush(self, path: str) -> None:
        """Flush a file's bytes, and remember the folders from it up to the root."""
        with writing_border(self._at(path)):
            full = self._inside(path)
            descriptor = os.open(full, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            folder = full.rpartition("/")[0]
            while is_inside(folder, self._root):
                self._remember(folder)
                if folder == self._root:
                    break
                folder = folder.rpartition("/")[0] or "/"

    def make_folder(self, path: str) -> None:
        """Make a folder and those around it; '' is the root itself."""
        with writing_border(self._at(path)):
            self._make(self._inside(path) if path else self._root)

    def remove_folder(self, path: str) -> None:
        """Remove a folder if it is empty; '' is the root itself."""
        with writing_border(self._at(path)):
            full = Path(self._inside(path) if path else self._root)
            try:
                full.rmdir()
            except OSError as error:
                if error.errno not in _LEFT_ALONE:
                    raise
            else:
                self._remember(str(full.parent))

    def settle(self) -> None:
        """Flush every folder that was changed."""
        with self._lock:
            folders, self._unsettled = sorted(self._unsettled), set()
        for folder in folders:
            with writing_border(shown_path(folder)):
                _flush_folder(folder)

    def _folder_for(self, path: str) -> tuple[str, str]:
        full = self._inside(path)
        folder, _, name = full.rpartition("/")
        self._make(folder)
        return folder, name

    def _inside(self, path: str) -> str:
        """Give the full path; no link on the way may lead out of the root."""
        folder, _, name = inner_path(path, self._at(path)).rpartition("/")
        real = os.path.realpath(f"{self._root}/{folder}" if folder else self._root)
        if not is_inside(real, self._root):
            raise StorageError("HF7013", "a link leads out of the folder", at=self._at(path))
        return f"{real}/{name}"

    def _make(self, folder: str) -> None:
        missing: list[Path] = []
        around = Path(folder)
        while not around.is_dir():
            missing.append(around)
            around = around.parent
        for one in reversed(missing):
            one.mkdir(exist_ok=True)
            self._remember(str(one.parent))

    def _move_far(self, old: str, new: str) -> None:
        temporary = f"{new.rpartition('/')[0]}/{temporary_name()}"
        try:
            shutil.copyfile(old, temporary)
            with Path(temporary).open("rb") as copied:
                os.fsync(copied.fileno())
            Path(temporary).replace(new)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        Path(old).unlink()

    def _gone(self, path: str) -> NotFoundError:
        return NotFoundError("HF7001", "nothing is there", at=self._at(path))

    def _written(self, folder: str, chunks: Iterable[bytes]) -> str:
        """Write a temporary file in the same folder, down to the disk."""
        temporary = f"{folder}/{temporary_name()}"
        descriptor = os.open(temporary, _CREATE, 0o666)
        try:
            try:
                for chunk in chunks:
                    _write_all(descriptor, chunk)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except BaseException:
            Path(temporary).unlink()
            raise
        return temporary

    def _linked(self, temporary: str, full: str, path: str) -> bool:
        try:
            os.link(temporary, full, follow_symlinks=False)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno in _NO_LINKS:
                message = "this file system can't create a file only once (no hard links)"
                raise StorageError("HF7014", message, at=self._at(path)) from error
            raise
        self._remember(full.rpartition("/")[0])
        return True

    def _remember(self, folder: str) -> None:
        with self._lock:
            self._unsettled.add(folder)

    def _at(self, path: str) -> str:
        return place_within(self._location, path)


def _write_all(descriptor: int, chunk: bytes) -> None:
    left = memoryview(chunk)
    while left:
        left = left[os.write(descriptor, left) :]


def _flush_folder(folder: str) -> None:
    # Windows can't open a folder to flush it; there the rename itself is journaled.
    if os.name == "nt":
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
