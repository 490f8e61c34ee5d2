"""Reads a folder of this machine: never writes, never opens a pipe, never follows a link out.

A link that ends inside of the root is listed as what it leads to; each directory is entered through
one link at most and never from inside of itself, so that no web of links makes the walk endless.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from operator import itemgetter
from pathlib import Path

from holdfast.errors import NotFoundError, StorageError
from holdfast.storage.errors import border, translated
from holdfast.storage.location import inner_path, place_within, shown_path
from holdfast.storage.reading import FileKind, Listed, Listing
from holdfast.wording import CLOSE, nearest

_FILE, _FOLDER = FileKind.FILE, FileKind.FOLDER
_SCAN_BY_DESCRIPTOR = os.scandir in os.supports_fd
_OPEN_FOLDER = (
    os.O_RDONLY
    | getattr(os, "O_DIRECTORY", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
)
_BY_PATH = itemgetter(Listed._fields.index("path"))


def walk(root: str, location: str, mode: int | None = None) -> Listing:
    """List everything below `root`, a real path, which is shown to people as `location`."""
    return _Walk(root, location).listing(mode)


class _Walk:
    """What one walk remembers while it goes."""

    def __init__(self, root: str, location: str) -> None:
        self._root = root
        self._location = location
        self._failures: dict[str, StorageError] = {}
        self._links: dict[str, str] = {}
        """Path of each link that was entered, to the real folder at its end."""
        self._entered: set[str] = set()
        self._items: list[Listed] = []
        self._open: list[tuple[str, Iterator[Listed]]] = []
        """The folders that are being walked through: real path, what is left of them."""

    def listing(self, mode: int | None) -> Listing:
        self._enter("", self._root)
        while self._open:
            real, left = self._open[-1]
            for item in left:
                self._items.append(item)
                if item.kind is _FOLDER:
                    name = item.path.rpartition("/")[2]
                    self._enter(item.path, self._links.get(item.path) or f"{real}/{name}")
                    break
            else:
                self._open.pop()
        return Listing(tuple(self._items), self._failures, mode)

    def _enter(self, folder: str, real: str) -> None:
        found: list[Listed] = []
        has_folders = True
        try:
            has_folders = self._scan(folder, real, found)
        except OSError as error:
            if not folder and isinstance(error, FileNotFoundError):
                raise NotFoundError("HF7001", "it disappeared", at=self._location) from error
            if not isinstance(error, FileNotFoundError):
                at = place_within(self._location, folder)
                self._failures[folder] = translated(error, at)
        found.sort(key=_BY_PATH)
        if has_folders:
            self._open.append((real, iter(found)))
        else:
            self._items += found

    def _scan(self, folder: str, real: str, found: list[Listed]) -> bool:
        """Look at one folder, and return whether folders are in it.

        There is one call to the system for each name, and no more than needed.
        """
        has_folders = False
        prefix = f"{folder}/" if folder else ""
        # `Listed(…)` takes three times as long, and there are tens of thousands.
        listed = tuple.__new__
        descriptor = os.open(real, _OPEN_FOLDER) if _SCAN_BY_DESCRIPTOR else None
        try:
            with os.scandir(real if descriptor is None else descriptor) as entries:
                for entry in entries:
                    try:
                        info = entry.stat(follow_symlinks=False)
                    except FileNotFoundError:
                        continue
                    path = prefix + entry.name
                    mode = info.st_mode
                    kind_bits = mode & 0o170000
                    if kind_bits == 0o100000:
                        modified = info.st_mtime_ns // 1_000_000
                        parts = (path, _FILE, info.st_size, modified, mode & 0o777, None)
                        found.append(listed(Listed, parts))
                    elif kind_bits == 0o040000:
                        has_folders = True
                        found.append(Listed(path, _FOLDER, 0, None, mode & 0o777))
                    elif kind_bits == 0o120000:
                        has_folders = True
                        found.append(self._followed(path, entry.name, real))
                    else:
                        found.append(Listed(path, FileKind.OTHER, 0))
        finally:
            if descriptor is not None:
                os.close(descriptor)
        return has_folders

    def _followed(self, path: str, name: str, folder: str) -> Listed:
        """Say what a link leads to; only what lies inside of the root is looked at."""
        full = f"{folder}/{name}"
        try:
            real = os.path.realpath(full, strict=True)
            if not is_inside(real, self._root):
                return Listed(path, FileKind.OUTWARD_LINK, 0)
            info = os.lstat(real)
        except OSError as error:
            if isinstance(error, PermissionError):
                # Where it ends is unknown, which is not the same as broken.
                at = place_within(self._location, path)
                self._failures[path] = translated(error, at)
            outward = not is_inside(os.path.realpath(full), self._root)
            return Listed(path, FileKind.OUTWARD_LINK if outward else FileKind.BROKEN_LINK, 0)
        if stat.S_ISREG(info.st_mode):
            modified = info.st_mtime_ns // 1_000_000
            return Listed(path, _FILE, info.st_size, modified, info.st_mode & 0o777)
        if stat.S_ISDIR(info.st_mode) and self._may_enter(real, folder):
            self._links[path] = real
            self._entered.add(real)
            return Listed(path, _FOLDER, 0, None, info.st_mode & 0o777)
        return Listed(path, FileKind.OTHER, 0)

    def _may_enter(self, real: str, folder: str) -> bool:
        around = (folder, *(opened for opened, _ in self._open))
        return real not in self._entered and not any(is_inside(opened, real) for opened in around)


def is_inside(real: str, root: str) -> bool:
    """Whether a real path is the root or lies below it."""
    return real == root or real.startswith(root.rstrip(os.sep) + os.sep)


# Without O_NONBLOCK a pipe that takes a file's place at the last moment would hang the reader.
_OPEN_FILE = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
)


def _meant(root: str) -> str:
    """Return the existing path that a misspelled one is nearest to, as a question; or nothing."""
    rest: list[str] = []
    missing = Path(os.path.abspath(root))  # noqa: PTH100 - links stay as they are written
    while not missing.parent.is_dir():
        rest.insert(0, missing.name)
        missing = missing.parent
    try:
        names = [one.name for one in missing.parent.iterdir()]
    except OSError:
        return ""
    near = nearest(missing.name, names, CLOSE)
    found = missing.parent.joinpath(near or missing.name, *rest)
    return f"; did you mean {shown_path(str(found))}?" if found.is_dir() else ""


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
        """List everything below the root once; folders that refuse are listed as failures."""
        with border(self._location):
            try:
                mode = self._refuse_file()
            except FileNotFoundError as error:
                message = f"nothing is there{_meant(self._root)}"
                raise NotFoundError("HF7001", message, at=self._location) from error
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
    stat.S_IFDIR: "a directory",
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
