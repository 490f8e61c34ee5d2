"""Keeps backups: objects named by the digest of their bytes, and snapshots that name objects."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from holdfast.backup.snapshot import (
    ID,
    CopiedFile,
    Snapshot,
    decode_snapshot,
    encode_snapshot,
)
from holdfast.errors import CheckpointError, HoldfastError, NotFoundError
from holdfast.storage.modes import narrowed
from holdfast.storage.reading import Kind, Listed, Reader
from holdfast.storage.writing import Writer

CHUNK_BYTES = 8 * 1024 * 1024
"""What is held in memory of a file at a time."""

OBJECTS = "objects"
SNAPSHOTS = "snapshots"


@dataclass(frozen=True)
class Store:
    """The folder `backups` of one checkpoint's records."""

    reader: Reader
    writer: Writer
    url: str
    """The place itself, to be opened again later."""

    @property
    def location(self) -> str:
        """Where the backups lie, as shown to people."""
        return self.reader.location

    def items(self) -> tuple[Listed, ...]:
        """List everything; nothing where no backup was ever made."""
        try:
            return self.reader.list().whole()
        except NotFoundError:
            return ()

    def snapshot_ids(self) -> list[str]:
        """Name every published backup, the oldest first."""
        names = self.reader.names(SNAPSHOTS)
        found = (name.removesuffix(".json") for name in names if name.endswith(".json"))
        return sorted(one for one in found if ID.fullmatch(one))

    def snapshot(self, snapshot_id: str) -> Snapshot:
        """Read one backup's list."""
        path = snapshot_path(snapshot_id)
        at = f"{self.location}/{path}"
        snapshot = decode_snapshot(self.reader.read(path), at)
        if snapshot.id != snapshot_id:
            raise CheckpointError("HF4511", "it holds another backup than its name says", at=at)
        return snapshot

    def narrowed(self, files: int | None, folders: int | None) -> Store:
        """Return the same store, whose new files and folders exceed these modes never."""
        return replace(self, writer=narrowed(self.writer, files, folders))

    def publish(self, snapshot: Snapshot) -> None:
        """Make the backup count; the last act of making it."""
        path, content = snapshot_path(snapshot.id), encode_snapshot(snapshot)
        self.writer.settle()
        if not self.writer.create(path, (content,)) and self.reader.read(path) != content:
            at = f"{self.location}/{path}"
            raise CheckpointError("HF4511", "another list stands under its name", at=at)
        self.writer.settle()
        self.snapshot(snapshot.id)

    def put(self, file: CopiedFile, chunks: Callable[[], Iterable[bytes]], *, present: bool) -> int:
        """See that the object is there and whole; give how many bytes had to be written."""
        path = object_path(file.sha256)
        if present and self.is_whole(file):
            return 0
        if present or not self.writer.create(path, checked(chunks(), file)):
            if self.is_whole(file):
                return 0
            self.writer.replace(path, checked(chunks(), file))
        if not self.is_whole(file):
            at = f"{self.location}/{path}"
            raise CheckpointError("HF4510", "what was written can't be read back whole", at=at)
        return file.size

    def is_whole(self, file: CopiedFile) -> bool:
        """Read the object and compare its digest."""
        digest = hashlib.sha256()
        try:
            for chunk in self.chunks(file):
                digest.update(chunk)
        except NotFoundError:
            return False
        return digest.hexdigest() == file.sha256

    def chunks(self, file: CopiedFile) -> Iterator[bytes]:
        """Read an object piece by piece."""
        return read_in_chunks(self.reader, object_path(file.sha256), file.size)

    def whole_chunks(self, file: CopiedFile) -> Iterator[bytes]:
        """Read an object piece by piece; raise HF4510 at its end where it is not whole."""
        try:
            yield from checked(self.chunks(file), file)
        except (NotFoundError, ChangedError) as error:
            at = f"{self.location}/{object_path(file.sha256)}"
            message = f"the copy of {file.path} is missing or damaged"
            raise CheckpointError("HF4510", message, at=at) from error


class ChangedError(CheckpointError):
    """Bytes were read that are not those that were expected: the file changed meanwhile."""

    def __init__(self, path: str) -> None:
        super().__init__("HF4512", f"{path} changed while it was copied")


def snapshot_path(snapshot_id: str) -> str:
    """Name the file of a backup's list."""
    return f"{SNAPSHOTS}/{snapshot_id}.json"


def object_path(sha256: str) -> str:
    """Name the file that holds the bytes with this digest."""
    return f"{OBJECTS}/{sha256[:2]}/{sha256}"


def read_in_chunks(reader: Reader, path: str, size: int) -> Iterator[bytes]:
    """Read a file piece by piece, to its end also if it grew."""
    start = 0
    while True:
        # One byte more than is expected, so that a file of the expected size takes one read.
        wanted = min(CHUNK_BYTES, max(size - start, 0) + 1)
        chunk = reader.read(path, start, wanted)
        start += len(chunk)
        if chunk:
            yield chunk
        if len(chunk) < wanted:
            return


def checked(chunks: Iterable[bytes], file: CopiedFile) -> Iterator[bytes]:
    """Pass chunks on; raise ChangedError at the end where they were not the file's."""
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(chunk)
        yield chunk
    if digest.hexdigest() != file.sha256:
        raise ChangedError(file.path)


@dataclass(frozen=True)
class Catalogue:
    """Every readable snapshot, oldest first, and why the others can't be read."""

    snapshots: tuple[Snapshot, ...]
    damaged: tuple[tuple[str, HoldfastError], ...] = field(default=())


def read_catalogue(store: Store) -> Catalogue:
    """Read every snapshot; a damaged one is told, and hides no other."""
    snapshots: list[Snapshot] = []
    damaged: list[tuple[str, HoldfastError]] = []
    for snapshot_id in store.snapshot_ids():
        try:
            snapshots.append(store.snapshot(snapshot_id))
        except NotFoundError:
            continue  # a retention that runs at the same time took it away
        except CheckpointError as error:
            damaged.append((snapshot_id, error))
    return Catalogue(tuple(snapshots), tuple(damaged))


def object_sizes(items: Iterable[Listed]) -> dict[str, int]:
    """Give the size of every object in a listing of the store, by digest."""
    return {
        item.path.rpartition("/")[2]: item.size
        for item in items
        if item.kind is Kind.FILE and item.path.startswith(f"{OBJECTS}/") and _is_object(item.path)
    }


def _is_object(path: str) -> bool:
    name = path.rpartition("/")[2]
    return len(name) == 64 and path == object_path(name)
