"""Walks through a local tree once, folder by folder in the order of names.

A link that ends inside of the root is listed as what it leads to; each folder is entered through
one link at most and never from inside of itself, so that no web of links makes the walk endless.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from operator import attrgetter

from holdfast.errors import NotFoundError, StorageError
from holdfast.storage.border import translated
from holdfast.storage.reading import Kind, Listed, Listing
from holdfast.storage.showing import place_within

_FILE, _FOLDER = Kind.FILE, Kind.FOLDER
_SCAN_BY_DESCRIPTOR = os.scandir in os.supports_fd
_OPEN_FOLDER = (
    os.O_RDONLY
    | getattr(os, "O_DIRECTORY", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
)
_BY_PATH = attrgetter("path")


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
        self._open: list[tuple[str, Iterator[Listed]]] = []
        """The folders that are being walked through: real path, what is left of them."""

    def listing(self, mode: int | None) -> Listing:
        items: list[Listed] = []
        self._enter("", self._root)
        while self._open:
            real, left = self._open[-1]
            for item in left:
                items.append(item)
                if item.kind is _FOLDER:
                    name = item.path.rpartition("/")[2]
                    self._enter(item.path, self._links.get(item.path) or f"{real}/{name}")
                    break
            else:
                self._open.pop()
        return Listing(tuple(items), self._failures, mode)

    def _enter(self, folder: str, real: str) -> None:
        found: list[Listed] = []
        try:
            self._scan(folder, real, found)
        except OSError as error:
            if not folder and isinstance(error, FileNotFoundError):
                raise NotFoundError("HF7001", "it vanished", at=self._location) from error
            if not isinstance(error, FileNotFoundError):
                at = place_within(self._location, folder)
                self._failures[folder] = translated(error, at)
        found.sort(key=_BY_PATH)
        self._open.append((real, iter(found)))

    def _scan(self, folder: str, real: str, found: list[Listed]) -> None:
        """Look at one folder: one call to the system for each name, and no more than needed."""
        prefix = f"{folder}/" if folder else ""
        descriptor = os.open(real, _OPEN_FOLDER) if _SCAN_BY_DESCRIPTOR else None
        try:
            with os.scandir(real if descriptor is None else descriptor) as entries:
                for entry in entries:
                    try:
                        info = entry.stat(follow_symlinks=False)
                    except FileNotFoundError:
                        continue
                    path = prefix + entry.name
                    kind_bits = info.st_mode & 0o170000
                    if kind_bits == 0o100000:
                        modified = info.st_mtime_ns // 1_000_000
                        mode = info.st_mode & 0o777
                        found.append(Listed(path, _FILE, info.st_size, modified, mode))
                    elif kind_bits == 0o040000:
                        found.append(Listed(path, _FOLDER, 0, None, info.st_mode & 0o777))
                    elif kind_bits == 0o120000:
                        found.append(self._followed(path, entry.name, real))
                    else:
                        found.append(Listed(path, Kind.OTHER, 0))
        finally:
            if descriptor is not None:
                os.close(descriptor)

    def _followed(self, path: str, name: str, folder: str) -> Listed:
        """Say what a link leads to; only what lies inside of the root is looked at."""
        full = f"{folder}/{name}"
        try:
            real = os.path.realpath(full, strict=True)
            if not is_inside(real, self._root):
                return Listed(path, Kind.OUTWARD_LINK, 0)
            info = os.lstat(real)
        except OSError as error:
            if isinstance(error, PermissionError):
                # Where it ends is unknown, which is not the same as broken.
                at = place_within(self._location, path)
                self._failures[path] = translated(error, at)
            outward = not is_inside(os.path.realpath(full), self._root)
            return Listed(path, Kind.OUTWARD_LINK if outward else Kind.BROKEN_LINK, 0)
        if stat.S_ISREG(info.st_mode):
            modified = info.st_mtime_ns // 1_000_000
            return Listed(path, _FILE, info.st_size, modified, info.st_mode & 0o777)
        if stat.S_ISDIR(info.st_mode) and self._may_enter(real, folder):
            self._links[path] = real
            self._entered.add(real)
            return Listed(path, _FOLDER, 0, None, info.st_mode & 0o777)
        return Listed(path, Kind.OTHER, 0)

    def _may_enter(self, real: str, folder: str) -> bool:
        around = (folder, *(opened for opened, _ in self._open))
        return real not in self._entered and not any(is_inside(opened, real) for opened in around)


def is_inside(real: str, root: str) -> bool:
    """Whether a real path is the root or lies below it."""
    return real == root or real.startswith(root.rstrip(os.sep) + os.sep)
