"""Keeps backups: objects named by their digests, snapshots that name objects, and how long."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from holdfast.backup.snapshot import (
    ARCHIVE,
    BACKUP,
    BEFORE_PLAN,
    BEFORE_RESTORE,
    ID,
    CopiedFile,
    Snapshot,
    decode_snapshot,
    encode_snapshot,
    moment_ms,
)
from holdfast.errors import CheckpointError, HoldfastError, NotFoundError, UsageError
from holdfast.records.busy import has_lost
from holdfast.storage.reading import FileKind, Listed, Reader
from holdfast.storage.writing import Writer, narrowed

CHUNK_BYTES = 8 * 1024 * 1024
"""What is held in memory of a file at a time."""

OBJECTS = "objects"
SNAPSHOTS = "snapshots"


@dataclass(frozen=True)
class BackupStore:
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
            raise CheckpointError(
                "HF4511", "its content is of a different backup than its name", at=at
            )
        return snapshot

    def narrowed(self, files: int | None, folders: int | None) -> BackupStore:
        """Return the same store, whose new files and folders exceed these modes never."""
        return replace(self, writer=narrowed(self.writer, files, folders))

    def publish(self, snapshot: Snapshot) -> None:
        """Make the backup count; the last act of making it.

        Raise HF4507 where the store was lost meanwhile, HF4510 where a copy is gone: then no list
        names it.
        """
        path, content = snapshot_path(snapshot.id), encode_snapshot(snapshot)
        self.writer.settle()
        self.refuse_lost()
        self._refuse_missing(snapshot)
        if not self.writer.create(path, (content,)) and self.reader.read(path) != content:
            at = f"{self.location}/{path}"
            raise CheckpointError("HF4511", "a different list has this name", at=at)
        self.writer.settle()
        self.snapshot(snapshot.id)
        try:
            # Whoever came in before the list was there may have removed what it names.
            self.refuse_lost()
        except CheckpointError:
            self.writer.remove(path)
            raise

    def refuse_lost(self) -> None:
        """Raise HF4507 where somebody else took the store over from its holder."""
        if has_lost(self.reader, self.url):
            message = (
                "another process took this process for dead and works on the backups now; copies "
                "of this backup may be removed, so that it was not published"
            )
            raise CheckpointError("HF4507", message, at=self.location)

    def _refuse_missing(self, snapshot: Snapshot) -> None:
        sizes = object_sizes(self.items())
        for file in snapshot.files:
            if file.sha256 not in sizes:
                at = f"{self.location}/{object_path(file.sha256)}"
                message = f"the copy of {file.path} was removed while the backup was made"
                raise CheckpointError("HF4510", message, at=at)

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
            raise self._not_intact(path)
        return file.size

    def put_whole(self, file: CopiedFile, content: bytes, *, present: bool) -> int:
        """Do as `put`, with all bytes at hand: comparing bytes costs a tenth of a digest."""
        path = object_path(file.sha256)
        if present and self._holds(path, content):
            return 0
        if present or not self.writer.create(path, (content,)):
            if self._holds(path, content):
                return 0
            self.writer.replace(path, (content,))
        if not self._holds(path, content):
            raise self._not_intact(path)
        return file.size

    def _holds(self, path: str, content: bytes) -> bool:
        try:
            return self.reader.read(path) == content
        except NotFoundError:
            return False

    def _not_intact(self, path: str) -> CheckpointError:
        at = f"{self.location}/{path}"
        return CheckpointError("HF4510", "what was written does not read back intact", at=at)

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


def read_catalogue(store: BackupStore) -> Catalogue:
    """Read every snapshot; a damaged one is reported, and hides no other."""
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
    """Return the size of every object in a listing of the store, by digest."""
    return {
        item.path.rpartition("/")[2]: item.size
        for item in items
        if item.kind is FileKind.FILE
        and item.path.startswith(f"{OBJECTS}/")
        and _is_object(item.path)
    }


def _is_object(path: str) -> bool:
    name = path.rpartition("/")[2]
    return len(name) == 64 and path == object_path(name)


NEWEST = "newest"
_BEGINNING = re.compile(r"\d{4,8}|\d{8}T\d{0,9}|\d{8}T\d{9}Z(-[0-9a-f]{0,8})?")


def split_name(text: str) -> tuple[str, str | None]:
    """Split TARGET@ID; the second part is None where the text names no backup."""
    target, at, name = text.rpartition("@")
    if at and target and (name == NEWEST or _BEGINNING.fullmatch(name)):
        return target, name
    return text, None


def find_snapshot(store: BackupStore, name: str) -> Snapshot:
    """Find the one backup that the name means."""
    ids = store.snapshot_ids()
    if name == NEWEST:
        return _newest(ids, store)
    return store.snapshot(_only(ids, name, store))


_OTHERS = {
    BEFORE_PLAN: "before a plan",
    BEFORE_RESTORE: "before a restore",
    ARCHIVE: "as an archive",
}
"""How a backup was made that nobody requested, by its purpose."""


def _newest(ids: Sequence[str], store: BackupStore) -> Snapshot:
    """Return the newest requested backup: what a restore set aside is named by its id only."""
    others: set[str] = set()
    for snapshot_id in reversed(ids):
        snapshot = store.snapshot(snapshot_id)
        if snapshot.purpose == BACKUP:
            return snapshot
        others.add(snapshot.purpose)
    if others:
        made = " or ".join(sorted(_OTHERS.get(one, f"as {one}") for one in others))
        step = "name one by its id: holdfast backups TARGET lists the backups"
        message = f"there are only backups that were made {made}"
        raise UsageError("HF4509", message, at=store.location, next_steps=(step,))
    step = "holdfast backup TARGET makes the first one"
    raise UsageError("HF4509", "there are no backups yet", at=store.location, next_steps=(step,))


def _only(ids: Sequence[str], name: str, store: BackupStore) -> str:
    found = [one for one in ids if one.startswith(name)]
    if len(found) == 1:
        return found[0]
    if not ids:
        return _newest(ids, store).id
    several = f"{len(found)} backups begin with {name}" if found else f"there is no backup {name}"
    raise UsageError("HF4509", several, at=store.location)


DAY_MS = 24 * 3600 * 1000


@dataclass(frozen=True)
class Retention:
    """What to keep: the newest so many, or those of the last so many days; either is enough."""

    keep_last: int | None = None
    keep_within_days: float | None = None

    @property
    def removes(self) -> bool:
        """Whether anything may be removed at all."""
        return self.keep_last is not None or self.keep_within_days is not None

    def kept(self, ids: Sequence[str], now_ms: int) -> frozenset[str]:
        """Choose among ids, oldest first; the newest one is always kept."""
        if not self.removes:
            return frozenset(ids)
        kept = set(ids[-max(self.keep_last or 1, 1) :])
        if self.keep_within_days is not None:
            since = now_ms - self.keep_within_days * DAY_MS
            kept |= {one for one in ids if moment_ms(one) >= since}
        return frozenset(kept)


@dataclass(frozen=True)
class Removed:
    """What retention took away."""

    backups: tuple[str, ...] = ()
    files: int = 0
    size_bytes: int = 0


def apply_retention(store: BackupStore, retention: Retention, now_ms: int) -> Removed:
    """Remove the backups that are not kept, then what only they named, under the store's lock."""
    catalogue = read_catalogue(store)
    asked = [one for one in catalogue.snapshots if one.purpose == BACKUP]
    # Counted apart: a damaged backup never takes the place of an undamaged one.
    whole = [one.id for one in asked if not one.mismatched]
    damaged = [one.id for one in asked if one.mismatched]
    kept = retention.kept(whole, now_ms) | retention.kept(damaged, now_ms)
    kept |= _farthest(asked)
    # What a restore set aside is kept as long as the backups around it; an archive for good: the
    # checkpoint itself is gone.
    removed = tuple(
        one.id
        for one in catalogue.snapshots
        if one.id not in kept
        and one.purpose != ARCHIVE
        and (one.purpose == BACKUP or one.id < min(kept, default=""))
    )
    for snapshot_id in removed:
        store.writer.remove(snapshot_path(snapshot_id))
    # Gone for good before their copies are: a list must never name what is not there.
    store.writer.settle()
    files, size = sweep(store)
    return Removed(removed, files, size)


def _farthest(snapshots: Sequence[Snapshot]) -> frozenset[str]:
    """Return the backup, oldest first given, that has the newest batch of the newest known query.

    A checkpoint that lost entries is backed up as well, and then only an older backup has what the
    output needs. A query that was started again on purpose takes its place.
    """
    queries = [one.query_id for one in snapshots if one.query_id is not None]
    own = [one for one in snapshots if queries and one.query_id == queries[-1]]
    return frozenset(one.id for one in sorted(own, key=_reach)[-1:])


def _reach(snapshot: Snapshot) -> tuple[int, int, bool]:
    batches = (snapshot.last_planned, snapshot.last_committed)
    planned, committed = (-1 if one is None else one for one in batches)
    return planned, committed, not snapshot.mismatched


def sweep(store: BackupStore) -> tuple[int, int]:
    """Remove the copies that no list names; none while a list can't be read."""
    catalogue = read_catalogue(store)
    if catalogue.damaged:
        return 0, 0
    named = {file.sha256 for snapshot in catalogue.snapshots for file in snapshot.files}
    sizes = object_sizes(store.items())
    unnamed = [sha256 for sha256 in sizes if sha256 not in named]
    store.refuse_lost()
    for sha256 in unnamed:
        store.writer.remove(object_path(sha256))
    store.writer.settle()
    return len(unnamed), sum(sizes[sha256] for sha256 in unnamed)
