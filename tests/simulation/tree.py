"""The simulated storage: one tree in memory, and what of it would survive a power cut."""

from __future__ import annotations

from collections.abc import Iterator

from tests.simulation.semantics import Semantics


class File:
    """The bytes under one name."""

    __slots__ = ("content", "modified_ms", "synced")

    def __init__(self, content: bytes, modified_ms: int, synced: bool) -> None:
        self.content = content
        self.modified_ms = modified_ms
        self.synced = synced


class Tree:
    """Every file and folder by its whole path. Each method is one act that nothing divides."""

    def __init__(self, semantics: Semantics) -> None:
        self.semantics = semantics
        self.files: dict[str, File] = {}
        self.folders: set[str] = {semantics.root}
        self._kept: dict[str, File] = {}
        """The names on the disk; with the files' synced bytes they survive a power cut."""
        self._kept_folders: set[str] = {semantics.root}
        self.appeared: dict[str, int] = {}
        """In which order names appeared; a file may have been written long before it was named."""
        self._names = 0
        self._moved: list[tuple[str, str]] = []
        """Folders whose new name is not on the disk yet; what is in them moves with them."""

    def copy(self) -> Tree:
        """Return a tree that changes alone."""
        other = Tree(self.semantics)
        other.files = dict(self.files)
        other.folders = set(self.folders)
        other._kept = dict(self._kept)
        other._kept_folders = set(self._kept_folders)
        other.appeared, other._names = dict(self.appeared), self._names
        return other

    def put(self, path: str, content: bytes, modified_ms: int, *, synced: bool) -> None:
        """Write a file, in place of another one."""
        self.make_folder(_parent(path))
        self.files[path] = File(content, modified_ms, synced)
        self._name(path)
        if not self.semantics.power_cuts:
            self._kept[path] = self.files[path]

    def put_durably(self, path: str, content: bytes, modified_ms: int) -> None:
        """Write a file, with its name and the folders around it, down to the disk."""
        self.put(path, content, modified_ms, synced=True)
        self._kept[path] = self.files[path]
        folder = _parent(path)
        while folder not in self._kept_folders:
            self._kept_folders.add(folder)
            folder = _parent(folder)

    def link(self, source: str, target: str) -> bool:
        """Give a file a second name; False where the name is taken, KeyError where it is gone."""
        if target in self.files or target in self.folders:
            return False
        self.make_folder(_parent(target))
        self.files[target] = self.files[source]
        self._name(target)
        return True

    def rename(self, source: str, target: str) -> bool:
        """Give a file another name, in place of another file; False where it is gone."""
        file = self.files.pop(source, None)
        if file is None:
            return False
        self.make_folder(_parent(target))
        self.files[target] = file
        return True

    def rename_folder(self, source: str, target: str) -> bool:
        """Give a folder another name that is free; False where it is gone."""
        if source not in self.folders:
            return False
        self.make_folder(_parent(target))
        self._moved.append((source, target))
        for path in [one for one in self.files if one.startswith(f"{source}/")]:
            self.files[target + path[len(source) :]] = self.files.pop(path)
        for path in [one for one in self.folders if one == source or one.startswith(f"{source}/")]:
            self.folders.discard(path)
            self.folders.add(target + path[len(source) :])
        return True

    def remove(self, path: str) -> None:
        """Remove a file, if it is there."""
        if self.files.pop(path, None) is not None and not self.semantics.power_cuts:
            self._kept.pop(path, None)

    def make_folder(self, path: str) -> None:
        """Make a folder and those around it."""
        if not self.semantics.has_folders:
            return
        while path not in self.folders and len(path) > len(self.semantics.root):
            self.folders.add(path)
            path = _parent(path)

    def remove_folder(self, path: str) -> None:
        """Remove a folder if it is empty."""
        if path in self.folders and not any(self.children(path)):
            self.folders.discard(path)

    def is_folder(self, path: str) -> bool:
        """Return whether a folder is there, or files that imply one."""
        if self.semantics.has_folders:
            return path in self.folders
        return any(one.startswith(f"{path}/") for one in self.files)

    def children(self, folder: str) -> Iterator[str]:
        """Yield the names directly in a folder."""
        prefix, start = f"{folder}/", len(folder) + 1
        seen = set()
        for path in self.files:
            if path.startswith(prefix):
                name = path[start:].partition("/")[0]
                if name not in seen:
                    seen.add(name)
                    yield name
        for path in self.folders:
            if path.startswith(prefix):
                name = path[start:].partition("/")[0]
                if name not in seen:
                    seen.add(name)
                    yield name

    def below(self, folder: str) -> list[str]:
        """Return every file below a folder by its path there, in the order of names."""
        prefix, start = f"{folder}/", len(folder) + 1
        return sorted(path[start:] for path in self.files if path.startswith(prefix))

    def flush(self, path: str) -> bool:
        """Bring the bytes of a file to the disk; False where it is gone."""
        file = self.files.get(path)
        if file is None:
            return False
        if not file.synced:
            self.files[path] = File(file.content, file.modified_ms, True)
            if path in self._kept:
                self._kept[path] = self.files[path]
        return True

    def flush_folder(self, folder: str) -> None:
        """Bring the names in a folder to the disk: those that came and those that went."""
        if not self.semantics.power_cuts:
            return
        self._flush_moved(folder)
        prefix = f"{folder}/"
        for path in [one for one in self._kept if _parent(one) == folder]:
            if path not in self.files:
                del self._kept[path]
        for path, file in self.files.items():
            if path.startswith(prefix) and _parent(path) == folder:
                self._kept[path] = file
        for path in [one for one in self._kept_folders if _parent(one) == folder]:
            if path not in self.folders:
                self._kept_folders.discard(path)
        self._kept_folders |= {one for one in self.folders if _parent(one) == folder}

    def lose_power(self, *, torn: bool) -> None:
        """Lose what is not on the disk; `torn` keeps every name, and half of the bytes."""
        if torn:
            self.files = {path: _torn(file) for path, file in self.files.items()}
        else:
            self.folders = {one for one in self._kept_folders if self._reaches(one)}
            self.files = {
                path: _torn(file, kept=0)
                for path, file in self._kept.items()
                if _parent(path) in self.folders
            }
        self._moved = []
        self._kept = dict(self.files)
        self._kept_folders = set(self.folders)

    def settle(self) -> None:
        """Bring everything to the disk."""
        self.files = {
            path: File(one.content, one.modified_ms, True) for path, one in self.files.items()
        }
        self._kept = dict(self.files)
        self._kept_folders = set(self.folders)
        self._moved = []

    def _name(self, path: str) -> None:
        self._names += 1
        self.appeared[path] = self._names

    def _flush_moved(self, folder: str) -> None:
        """Bring the new names of renamed folders to the disk, with everything that is in them."""
        for move in [one for one in self._moved if folder in map(_parent, one)]:
            self._moved.remove(move)
            old, new = move
            for path in [one for one in self._kept if one.startswith(f"{old}/")]:
                self._kept[new + path[len(old) :]] = self._kept.pop(path)
            for path in [one for one in self._kept_folders if f"{one}/".startswith(f"{old}/")]:
                self._kept_folders.discard(path)
                self._kept_folders.add(new + path[len(old) :])

    def _reaches(self, folder: str) -> bool:
        while len(folder) > len(self.semantics.root):
            if folder not in self._kept_folders:
                return False
            folder = _parent(folder)
        return True


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


def _torn(file: File, kept: int | None = None) -> File:
    if file.synced:
        return file
    half = len(file.content) // 2 if kept is None else kept
    return File(file.content[:half], file.modified_ms, True)
