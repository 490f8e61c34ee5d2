"""Readers and writers of the simulated storage, with the promises of `storage/reading.py` and
`storage/writing.py`: every request that a real storage would see is one step of the scheduler.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from holdfast.errors import NotFoundError, StorageError
from holdfast.storage.location import inner_path, place_within
from holdfast.storage.machine import temporary_name
from holdfast.storage.reading import FileKind, Listed, Listing, add_parents, order_of
from tests.simulation.schedule import FAIL, LOST
from tests.simulation.tree import File
from tests.simulation.world import World


class SimulatedReader:
    """Reads below `root`."""

    def __init__(self, world: World, root: str, location: str | None = None) -> None:
        self._world = world
        self._root = root.rstrip("/")
        self._location = root if location is None else location

    @property
    def location(self) -> str:
        """Where this is, as shown to people."""
        return self._location

    def list(self) -> Listing:
        """List everything below the root: folder by folder, or by one request."""
        if not self._world.tree.semantics.has_folders:
            return self._listed_at_once()
        items: list[Listed] = []
        self._walk("", items)
        return Listing(tuple(items), {})

    def names(self, folder: str) -> frozenset[str]:
        """Return the names directly in a folder."""
        full = f"{self._root}/{folder}" if folder else self._root
        self._ask("names", folder)
        return frozenset(self._world.tree.children(full))

    def read(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """Read a file or a part of it."""
        full = f"{self._root}/{inner_path(path, self._at(path))}"
        self._ask("read", path)
        file = self._world.tree.files.get(full)
        if file is None:
            if self._world.tree.is_folder(full):
                message = "a directory is where a file was expected"
                raise StorageError("HF7013", message, at=self._at(path))
            raise NotFoundError("HF7001", f"there is no file {path}", at=self._at(path))
        return file.content[start:] if length is None else file.content[start : start + length]

    def read_many(self, paths: Iterable[str]) -> Mapping[str, bytes | StorageError]:
        """Read several whole files; a failure stands in place of the bytes."""
        return {path: self._read_or_error(path) for path in paths}

    def _read_or_error(self, path: str) -> bytes | StorageError:
        try:
            return self.read(path)
        except StorageError as error:
            return error

    def _walk(self, folder: str, items: builtins.list[Listed]) -> None:
        self._ask("list", folder)
        tree = self._world.tree
        full = f"{self._root}/{folder}" if folder else self._root
        if full not in tree.folders:
            if not folder:
                raise NotFoundError("HF7001", "it does not exist", at=self._location)
            return
        found: builtins.list[tuple[str, File | None]] = []
        for name in sorted(tree.children(full)):
            path = f"{folder}/{name}" if folder else name
            found.append((path, tree.files.get(f"{full}/{name}")))
        for path, file in found:
            if file is not None:
                items.append(Listed(path, FileKind.FILE, len(file.content), file.modified_ms))
            else:
                items.append(Listed(path, FileKind.FOLDER, 0, None))
                self._walk(path, items)

    def _listed_at_once(self) -> Listing:
        self._ask("list", "")
        prefix, start = f"{self._root}/", len(self._root) + 1
        items, folders = [], set[str]()
        for full, file in self._world.tree.files.items():
            if full.startswith(prefix):
                path = full[start:]
                add_parents(path, folders)
                items.append(Listed(path, FileKind.FILE, len(file.content), file.modified_ms))
        if not items:
            raise NotFoundError("HF7001", "it does not exist", at=self._location)
        items.extend(Listed(folder, FileKind.FOLDER, 0) for folder in folders)
        items.sort(key=order_of)
        return Listing(tuple(items), {})

    def _ask(self, kind: str, path: str) -> None:
        if self._world.step(kind, f"{self._root}/{path}") is not None:
            raise StorageError("HF7006", "the storage did not answer", at=self._at(path))

    def _at(self, path: str) -> str:
        return place_within(self._location, path)


class SimulatedWriter:
    """Writes below `root`, by the same requests as the real writer of such a storage."""

    def __init__(self, world: World, root: str, location: str | None = None) -> None:
        self._world = world
        self._root = root.rstrip("/")
        self._location = root if location is None else location
        self._semantics = world.tree.semantics
        self._unsettled: set[str] = set()

    @property
    def location(self) -> str:
        """Where this is, as shown to people."""
        return self._location

    def create(self, path: str, chunks: Iterable[bytes]) -> bool:
        """Write a file that is not there yet."""
        full, content = self._full(path), b"".join(chunks)
        if not self._semantics.create_is_atomic:
            return self._created_then_filled(full, content)
        if not self._semantics.has_folders:
            with self._request("create", full):
                return self._put_once(full, content)
        temporary = self._written(full, content)
        created = False
        try:
            with self._request("create", full):
                created = self._linked(temporary, full)
        finally:
            self._drop(temporary)
        self._remember(full)
        return created

    def replace(self, path: str, chunks: Iterable[bytes]) -> None:
        """Write a file, in place of another one if need be."""
        full, content = self._full(path), b"".join(chunks)
        if not self._semantics.has_folders:
            with self._request("replace", full):
                self._put(full, content)
            return
        temporary = self._written(full, content)
        try:
            if not self._semantics.replace_is_atomic:
                with self._request("remove", full):
                    self._world.tree.remove(full)
            with self._request("replace", full):
                if not self._world.tree.rename(temporary, full):
                    raise self._swept(full)
        except BaseException:
            self._drop(temporary)
            raise
        self._remember(full)

    def remove(self, path: str) -> None:
        """Remove a file, if it is there."""
        full = self._full(path)
        with self._request("remove", full):
            self._world.tree.remove(full)
        self._remember(full)

    def move(self, source: str, target: str) -> None:
        """Give a file another name: by one act, or as a copy and a removal."""
        old, new = self._full(source), self._full(target)
        if self._semantics.renames:
            self._make(new)
            with self._request("move", new):
                if not self._world.tree.rename(old, new):
                    raise NotFoundError("HF7001", "it does not exist", at=self._at(source))
            self._remember(old)
            self._remember(new)
            return
        with self._request("copy", new):
            file = self._world.tree.files.get(old)
            if file is None:
                raise NotFoundError("HF7001", "it does not exist", at=self._at(source))
            self._put(new, file.content)
        self.remove(source)

    def move_folder(self, source: str, target: str) -> None:
        """Give a folder another name; storages without folders refuse."""
        if not self._semantics.has_folders:
            message = f"this storage has no directories that could be renamed to {target}"
            raise StorageError("HF7015", message, at=self._at(source))
        old, new = self._full(source), self._full(target)
        self._make(new)
        with self._request("move-folder", new):
            if self._world.tree.is_folder(new) and any(self._world.tree.children(new)):
                raise StorageError("HF7015", "the name is taken", at=self._at(target))
            if not self._world.tree.rename_folder(old, new):
                raise NotFoundError("HF7001", "it does not exist", at=self._at(source))
        self._remember(old)
        self._remember(new)

    def flush(self, path: str) -> None:
        """Bring a file that somebody else wrote to the disk."""
        if not self._semantics.power_cuts:
            return
        full = self._full(path)
        with self._request("flush", full):
            if not self._world.tree.flush(full):
                raise NotFoundError("HF7001", "it does not exist", at=self._at(path))
        while len(full) > len(self._root):
            self._remember(full)
            full = full.rpartition("/")[0]

    def make_folder(self, path: str) -> None:
        """Make a folder and those around it."""
        if self._semantics.has_folders:
            full = f"{self._root}/{path}" if path else self._root
            self._make(f"{full}/")
            with self._request("make-folder", full):
                self._world.tree.make_folder(full)
            self._remember(full)

    def remove_folder(self, path: str) -> None:
        """Remove a folder if it is empty."""
        if self._semantics.has_folders:
            full = f"{self._root}/{path}" if path else self._root
            with self._request("remove-folder", full):
                self._world.tree.remove_folder(full)
            self._remember(full)

    def settle(self) -> None:
        """Flush every folder that was changed."""
        if not self._semantics.power_cuts or not self._unsettled:
            return
        folders, self._unsettled = sorted(self._unsettled), set()
        with self._request("settle", self._root):
            for folder in folders:
                self._world.tree.flush_folder(folder)

    def _created_then_filled(self, full: str, content: bytes) -> bool:
        with self._request("create", full):
            if not self._put_once(full, b""):
                return False
        with self._request("fill", full):
            self._put(full, content)
        return True

    def _linked(self, temporary: str, full: str) -> bool:
        try:
            return self._world.tree.link(temporary, full)
        except KeyError:
            raise self._swept(full) from None

    def _swept(self, full: str) -> StorageError:
        message = "the storage failed while writing: the temporary file is gone"
        return StorageError("HF7015", message, at=full)

    def _make(self, full: str) -> None:
        """Remember the folders that a write makes around a name: they have to be flushed too."""
        folder = full.rpartition("/")[0]
        while folder not in self._world.tree.folders and len(folder) > len(self._semantics.root):
            self._remember(folder)
            folder = folder.rpartition("/")[0]

    def _put_once(self, full: str, content: bytes) -> bool:
        if full in self._world.tree.files:
            return False
        self._put(full, content)
        return True

    def _put(self, full: str, content: bytes) -> None:
        self._world.tree.put(full, content, self._moment(), synced=True)

    def _written(self, full: str, content: bytes) -> str:
        """Write a temporary file beside the name, down to the disk."""
        folder = full.rpartition("/")[0]
        temporary = f"{folder}/{temporary_name()}"
        self._make(temporary)
        with self._request("write", temporary):
            self._put(temporary, content)
        return temporary

    def _drop(self, temporary: str) -> None:
        with self._request("drop", temporary):
            self._world.tree.remove(temporary)

    @contextmanager
    def _request(self, kind: str, full: str) -> Iterator[None]:
        answer = self._world.step(kind, full, mutates=True)
        if answer == FAIL:
            raise StorageError("HF7015", "the storage did not answer", at=full)
        yield
        if answer == LOST:
            raise StorageError("HF7015", "the storage's answer was lost", at=full)

    def _moment(self) -> int:
        return int((self._world.now + 1_800_000_000.0) * 1000)

    def _remember(self, full: str) -> None:
        self._unsettled.add(full.rpartition("/")[0])

    def _full(self, path: str) -> str:
        return f"{self._root}/{inner_path(path, self._at(path))}"

    def _at(self, path: str) -> str:
        return place_within(self._location, path)
