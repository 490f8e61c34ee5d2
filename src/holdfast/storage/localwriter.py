"""Writes files of this machine, whole or not at all: flushed, then one link or rename."""

from __future__ import annotations

import copy
import errno
import os
import shutil
import stat
import threading
import uuid
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from holdfast.errors import NotFoundError, StorageError
from holdfast.storage.local import is_inside
from holdfast.storage.location import inner_path, place_within, shown_path
from holdfast.storage.machine import temporary_name
from holdfast.storage.writing import file_mode, folder_mode, writing_border

_CREATE = (
    os.O_WRONLY
    | os.O_CREAT
    | os.O_EXCL
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_NOFOLLOW", 0)
)
_NO_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV})
_OCCUPIED = frozenset({errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR})
_LEFT_ALONE = frozenset({errno.ENOENT, errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR})


class LocalWriter:
    """Writes below `root`, shown to people as `location`; never through a link that leads out."""

    def __init__(self, root: str, location: str | None = None) -> None:
        self._root = os.path.realpath(root)
        self._location = shown_path(root) if location is None else location
        self._unsettled: set[str] = set()
        self._real_folders: dict[str, str] = {}
        self._lock = threading.Lock()
        self._limits: tuple[int, int] | None = None
        """The modes that files and folders do not exceed; None leaves them to the umask."""

    @property
    def location(self) -> str:
        """Where this is, as shown to people."""
        return self._location

    def narrowed(self, files: int, folders: int) -> LocalWriter:
        """Return a writer of the same place that makes nothing more open than these modes say.

        A file that it replaces stays as narrow as it was. Where root writes, everything belongs to
        the owner of the folder that it is made in: a narrow file of root's would be lost to others.
        """
        other = copy.copy(self)
        before = self._limits or (0o777, 0o777)
        other._limits = before[0] & files, before[1] & folders
        return other

    def narrow(self, path: str) -> None:
        """Take rights from a file or folder that is there; another user's is left alone."""
        if self._limits is None:
            return
        with writing_border(self._at(path)):
            full = Path(self._inside(path) if path else self._root)
            try:
                mode = full.lstat().st_mode
                files, folders = self._limits
                wanted = folder_mode(folders) if stat.S_ISDIR(mode) else file_mode(files)
                if stat.S_IMODE(mode) & ~wanted and not stat.S_ISLNK(mode):
                    full.chmod(stat.S_IMODE(mode) & wanted)
            except (FileNotFoundError, PermissionError):
                return

    def create(self, path: str, chunks: Iterable[bytes]) -> bool:
        """Write a file that is not there yet: the link to its name is made once or not at all."""
        with writing_border(self._at(path)):
            folder, name = self._folder_for(path)
            temporary = self._written(folder, chunks, None)
            try:
                return self._linked(temporary, f"{folder}/{name}", path)
            finally:
                os.unlink(temporary)  # noqa: PTH108 - as above

    def replace(self, path: str, chunks: Iterable[bytes]) -> None:
        """Write a file; a reader sees the old bytes or the new ones, never a part."""
        with writing_border(self._at(path)):
            folder, name = self._folder_for(path)
            temporary = self._written(folder, chunks, f"{folder}/{name}")
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
                if not Path(old).exists():
                    raise self._gone(source) from error
                self._move_far(old, f"{folder}/{name}")
            self._remember(folder)
            self._remember(old.rpartition("/")[0])

    def move_folder(self, source: str, target: str) -> None:
        """Rename a folder, with everything in it, to a name that is free or an empty folder's."""
        with writing_border(self._at(target)):
            old = self._inside(source)
            folder, name = self._folder_for(target)
            try:
                Path(old).rename(f"{folder}/{name}")
            except FileNotFoundError as error:
                raise self._gone(source) from error
            except OSError as error:
                if error.errno in _OCCUPIED:
                    message = "another directory already exists there"
                    raise StorageError("HF7015", message, at=self._at(target)) from error
                raise
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
            folders = sorted(self._unsettled)
            self._unsettled.clear()
        for folder in folders:
            with writing_border(shown_path(folder)):
                _flush_folder(folder)

    def _folder_for(self, path: str) -> tuple[str, str]:
        full = self._inside(path)
        folder, _, name = full.rpartition("/")
        self._make(folder)
        return folder, name

    def _inside(self, path: str) -> str:
        """Return the full path; no link on the way may lead out of the root."""
        folder, _, name = inner_path(path, self._at(path)).rpartition("/")
        real = self._real_folders.get(folder)
        if real is None:
            real = os.path.realpath(f"{self._root}/{folder}" if folder else self._root)
            if not is_inside(real, self._root):
                raise StorageError("HF7013", "a link leads out of the directory", at=self._at(path))
            self._real_folders[folder] = real
        return f"{real}/{name}"

    def _make(self, folder: str) -> None:
        # A Path for each of ten thousand files takes longer than asking the system.
        if os.path.isdir(folder):  # noqa: PTH112
            return
        missing: list[Path] = []
        around = Path(folder)
        while not around.is_dir():
            missing.append(around)
            around = around.parent
        for one in reversed(missing):
            self._make_one(one)
            self._remember(str(one.parent))

    def _make_one(self, folder: Path) -> None:
        if self._limits is None or not is_inside(str(folder), self._root):
            folder.mkdir(exist_ok=True)
            return
        try:
            folder.mkdir(folder_mode(self._limits[1]))
        except FileExistsError:
            return
        owner = _owner_for(str(folder.parent))
        if owner is not None:
            with suppress(OSError):  # root of a container, or of an NFS client, may not
                os.chown(folder, *owner)

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
        Path(old).unlink(missing_ok=True)

    def _gone(self, path: str) -> NotFoundError:
        return NotFoundError("HF7001", "it does not exist", at=self._at(path))

    def _written(self, folder: str, chunks: Iterable[bytes], replaced: str | None) -> str:
        """Write a temporary file in the same folder, down to the disk."""
        temporary = f"{folder}/{temporary_name()}"
        mode, owner = self._rights(folder, replaced)
        descriptor = os.open(temporary, _CREATE, mode)
        try:
            try:
                if owner is not None:
                    with suppress(OSError):
                        os.fchown(descriptor, *owner)
                for chunk in chunks:
                    _write_all(descriptor, chunk)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except BaseException:
            Path(temporary).unlink()
            raise
        return temporary

    def _rights(self, folder: str, replaced: str | None) -> tuple[int, tuple[int, int] | None]:
        """Return the mode of a new file, and its owner where that is not just whoever writes."""
        if self._limits is None:
            return 0o666, None
        limit, owner = self._limits[0], _owner_for(folder)
        try:
            info = None if replaced is None else os.lstat(replaced)
        except FileNotFoundError:
            info = None
        if info is not None and stat.S_ISREG(info.st_mode):
            limit &= stat.S_IMODE(info.st_mode)
            owner = None if owner is None else (info.st_uid, info.st_gid)
        return file_mode(limit), owner

    def _linked(self, temporary: str, full: str, path: str) -> bool:
        try:
            os.link(temporary, full, follow_symlinks=False)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno in _NO_LINKS:
                message = "this file system cannot create a file atomically (no hard links)"
                raise StorageError("HF7014", message, at=self._at(path)) from error
            raise
        self._remember(full.rpartition("/")[0])
        return True

    def _remember(self, folder: str) -> None:
        with self._lock:
            self._unsettled.add(folder)

    def _at(self, path: str) -> str:
        return place_within(self._location, path)


def _owner_for(folder: str) -> tuple[int, int] | None:
    """Return who owns a folder, where this process may give files away."""
    if os.name == "nt" or os.geteuid() != 0:
        return None
    info = os.stat(folder)  # noqa: PTH116 - as above
    return info.st_uid, info.st_gid


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


_NO_HARD_LINKS = frozenset({errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.EMLINK})


def publish_new(temporary: Path, target: Path) -> None:
    """Name the file `target`; raise FileExistsError where that name is taken.

    A link comes first: unlike a rename it never replaces a file that appeared meanwhile.
    """
    try:
        os.link(temporary, target)
    except OSError as failure:
        if failure.errno not in _NO_HARD_LINKS:
            raise
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, "exists", str(target)) from failure
        temporary.rename(target)


def replace_whole(target: Path, data: bytes) -> None:
    """Write the bytes beside the target, then give them its name; raise OSError."""
    # Containers that share a directory may share a process number as well.
    temporary = target.with_name(f".{target.name}.{uuid.uuid4().hex}.partial")
    try:
        write_new(temporary, data)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def write_new(path: Path, data: bytes) -> None:
    """Write a new file and wait until the disk has it; raise FileExistsError if there is one."""
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
