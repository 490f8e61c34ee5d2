"""Copies a folder into the store as one consistent moment, also while a query runs on it.

The listing sees what Spark writes last before what it writes first, so a commit that is listed has
its offsets and state listed too. The copy counts only if every listed file could be read and none
was written again meanwhile; else the folder is listed again. What was copied already is not copied
twice, so that each further pass is shorter than the one before.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from holdfast.backup.checksums import ChecksumComparison, adjacent
from holdfast.backup.snapshot import CopiedFile, Modes
from holdfast.backup.store import (
    CHUNK_BYTES,
    BackupStore,
    ChangedError,
    object_path,
    read_in_chunks,
)
from holdfast.checkpoint.layout import checked_name
from holdfast.checkpoint.verification import Progress
from holdfast.errors import CheckpointError, NotFoundError, StorageError
from holdfast.storage.parallel import one_ahead, side_by_side
from holdfast.storage.reading import FileKind, Listed, Listing, Reader
from holdfast.storage.writing import Narrowable, narrow, narrowed

_LOGS = ("offsets", "commits")
_NEEDED_BATCHES = 2
"""Spark reads the newest planned batch and the one before it."""


def log_id(path: str) -> int | None:
    """Return the batch of a file in offsets/ or commits/, or of its checksum; None elsewhere."""
    folder, _, name = (checked_name(path) or path).partition("/")
    return int(name) if folder in _LOGS and name.isascii() and name.isdigit() else None


def droppable(missed: Iterable[str], found: Mapping[str, CopiedFile]) -> bool:
    """Whether the copy is whole without these: temporary files, and old entries of the logs."""
    newest = newest_id(found, "commits")
    oldest_needed = -1 if newest is None else newest - _NEEDED_BATCHES + 1
    return all(
        path.endswith((".tmp", ".tmp.crc")) or _is_before(path, oldest_needed) for path in missed
    )


def without_purged(missed: Iterable[str], found: Mapping[str, CopiedFile]) -> dict[str, CopiedFile]:
    """Drop every log entry up to the newest that was purged, so that no gap is left."""
    purged = max((one for one in map(log_id, missed) if one is not None), default=-1)
    return {path: file for path, file in found.items() if not _is_before(path, purged + 1)}


def newest_id(paths: Iterable[str], log: str) -> int | None:
    """Return the newest batch among the files of one log."""
    own = (path for path in paths if path.startswith(f"{log}/") and checked_name(path) is None)
    ids = map(log_id, own)
    return max((one for one in ids if one is not None), default=None)


def _is_before(path: str, limit: int) -> bool:
    number = log_id(path)
    return number is not None and number < limit


PASSES = 5
WORKERS = 8
_BATCH_FILES = 256
_BATCH_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True)
class Copy:
    """One consistent moment of a folder, with every file in the store."""

    files: tuple[CopiedFile, ...]
    folders: tuple[str, ...]
    special: tuple[str, ...]
    """Links out, pipes and the like, which were not copied."""
    moved: bool
    """Something was written or purged while the copy was made."""
    newest_modified_ms: int | None
    modes: Modes | None
    mismatched: tuple[str, ...] = ()
    """Files whose bytes do not match the checksum that was copied with them."""


@dataclass
class Copier:
    """Copies folders into one store, and counts what it had to write."""

    store: BackupStore
    present: set[str]
    """Digests of the objects that the store has."""
    progress: Progress | None = None
    copied_files: int = 0
    copied_bytes: int = 0
    _whole: set[str] = field(default_factory=set)
    _known: dict[Listed, CopiedFile] = field(default_factory=dict)
    _comparison: ChecksumComparison = field(default_factory=ChecksumComparison)
    _done_bytes: int = 0
    _folders: int | None = None
    """The mode that no folder of the store exceeds."""

    def copy(self, source: Reader) -> Copy:
        """Copy everything below the source; raise HF4512 where no moment holds still."""
        moved = False
        for _ in range(PASSES):
            before = _listed(source)
            self._folders = before.root_mode
            narrow(self.store.writer, "", before.root_mode)
            found, missed = self._pass(source, before)
            after = _listed(source)
            moved = moved or bool(missed) or set(before.items) != set(after.items)
            if not _written_anew(before, after, missed) and droppable(missed, found):
                self._narrow(before)
                copy = _copy_of(before, without_purged(missed, found), moved=moved)
                # Most were compared when they were read; the others are read from the store.
                by_path = {file.path: file for file in copy.files}
                compared = self._comparison.compare(by_path, self.store.chunks)
                return replace(copy, mismatched=compared)
        message = (
            f"it was listed {PASSES} times, and each time a file disappeared before it was read"
        )
        raise CheckpointError("HF4512", message, at=source.location)

    def _pass(
        self, source: Reader, listing: Listing
    ) -> tuple[dict[str, CopiedFile], frozenset[str]]:
        """Copy what is new in the listing; give what was copied, and what was gone or changed."""
        items = [item for item in listing.items if item.kind is FileKind.FILE]
        total = sum(item.size for item in items)
        self._done_bytes = 0
        missed: set[str] = set()
        fresh = [item for item in items if item.modified_ms is None or item not in self._known]
        batches = _batches(sorted(fresh, key=lambda item: adjacent(item.path)))
        # The next files are read while those before are written.
        for batch, contents in one_ahead(batches, partial(_content, source)):
            missed |= self._batch(source, batch, contents)
            self._done_bytes += sum(item.size for item in batch)
            if self.progress is not None:
                self.progress(self._done_bytes, total)
        found = {item.path: self._known[item] for item in items if item in self._known}
        return {path: file for path, file in found.items() if path not in missed}, frozenset(missed)

    def _batch(
        self, source: Reader, batch: list[Listed], content: Mapping[str, bytes | None]
    ) -> set[str]:
        if batch[0].size > CHUNK_BYTES:
            return self._large(source, batch[0])
        contents = {item: read for item in batch if (read := content[item.path]) is not None}
        known = side_by_side(lambda item: copied(item.path, contents[item]), contents, WORKERS)
        self._known.update(known)
        data = {file: contents[item] for item, file in known.items()}

        def put(file: CopiedFile, store: BackupStore, present: bool) -> int:
            return store.put_whole(file, data[file], present=present)

        self._put(list(data), put, {item.path: item.mode for item in batch})
        self._comparison.compare({file.path: file for file in data}, lambda file: (data[file],))
        return {item.path for item in batch if item not in contents}

    def _large(self, source: Reader, item: Listed) -> set[str]:
        """Copy a file that is not held in memory: read once for its digest, once for the copy."""
        try:
            file = digested(source, item.path, item.size)

            def put(file: CopiedFile, store: BackupStore, present: bool) -> int:
                again = partial(read_in_chunks, source, item.path, item.size)
                return store.put(file, again, present=present)

            self._put([file], put, {item.path: item.mode})
        except (NotFoundError, ChangedError):
            return {item.path}
        self._known[item] = file
        return set()

    def _put(
        self,
        files: Iterable[CopiedFile],
        put: Callable[[CopiedFile, BackupStore, bool], int],
        modes: Mapping[str, int | None],
    ) -> None:
        unique = {file.sha256: file for file in files if file.sha256 not in self._whole}

        wanted = {modes[file.path] for file in unique.values()}
        stores = {mode: self.store.narrowed(mode, self._folders) for mode in wanted}

        def put_one(sha256: str) -> int:
            file = unique[sha256]
            return put(file, stores[modes[file.path]], sha256 in self.present)

        written = side_by_side(put_one, unique, WORKERS)
        self._whole |= set(written)
        self.copied_bytes += sum(written.values())
        self.copied_files += sum(1 for sha256 in written if sha256 not in self.present)
        self.present |= set(written)

    def _narrow(self, listing: Listing) -> None:
        """Take rights from copies that are open further than one of the files that they are of."""
        modes: dict[str, int] = {}
        for item in listing.items:
            file = self._known.get(item)
            if file is not None and item.mode is not None:
                modes[file.sha256] = modes.get(file.sha256, item.mode) & item.mode
        for mode in set(modes.values()):
            narrower = narrowed(self.store.writer, mode, mode)
            if isinstance(narrower, Narrowable):
                for sha256 in (one for one, of_one in modes.items() if of_one == mode):
                    narrower.narrow(object_path(sha256))


def _listed(source: Reader) -> Listing:
    listing = source.list()
    for error in listing.failures.values():
        raise error
    return listing


def _content(source: Reader, batch: Sequence[Listed]) -> dict[str, bytes | None]:
    """Read files that fit into memory; None for each that is gone. A large one is read later."""
    if batch[0].size > CHUNK_BYTES:
        return {}
    read = source.read_many([item.path for item in batch])
    contents: dict[str, bytes | None] = {}
    for path, content in read.items():
        if isinstance(content, StorageError) and not isinstance(content, NotFoundError):
            raise content
        contents[path] = None if isinstance(content, StorageError) else content
    return contents


def copied(path: str, content: bytes) -> CopiedFile:
    """Return a file by the digest of its bytes."""
    return CopiedFile(path, len(content), hashlib.sha256(content).hexdigest())


def digested(source: Reader, path: str, size: int) -> CopiedFile:
    """Read a file piece by piece for its digest."""
    digest, length = hashlib.sha256(), 0
    for chunk in read_in_chunks(source, path, size):
        digest.update(chunk)
        length += len(chunk)
    return CopiedFile(path, length, digest.hexdigest())


def _batches(items: Iterable[Listed]) -> Iterator[list[Listed]]:
    """Group files within a bound of number and bytes; a large one stands alone."""
    batch: list[Listed] = []
    size = 0
    for item in items:
        if item.size > CHUNK_BYTES:
            yield [item]
            continue
        batch.append(item)
        size += item.size
        if len(batch) >= _BATCH_FILES or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _written_anew(before: Listing, after: Listing, missed: frozenset[str]) -> bool:
    """Whether a file of the first listing has other bytes in the second one."""
    now = {item.path: item for item in after.items}
    return any(
        item.path in now and item != now[item.path] and item.kind is FileKind.FILE
        for item in before.items
    ) or any(path in now for path in missed)


def _copy_of(listing: Listing, files: dict[str, CopiedFile], *, moved: bool) -> Copy:
    plain = (FileKind.FILE, FileKind.FOLDER)
    times = [item.modified_ms for item in listing.items if item.modified_ms is not None]
    return Copy(
        files=tuple(files.values()),
        folders=tuple(item.path for item in listing.items if item.kind is FileKind.FOLDER),
        special=tuple(item.path for item in listing.items if item.kind not in plain),
        moved=moved,
        newest_modified_ms=max(times, default=None),
        modes=_modes_of(listing),
    )


def _modes_of(listing: Listing) -> Modes | None:
    files = {
        i.path: i.mode for i in listing.items if i.kind is FileKind.FILE and i.mode is not None
    }
    folders = {
        i.path: i.mode for i in listing.items if i.kind is FileKind.FOLDER and i.mode is not None
    }
    if listing.root_mode is None:
        return None
    folders[""] = listing.root_mode
    file = Counter(files.values()).most_common(1)[0][0] if files else 0o600
    folder = Counter(folders.values()).most_common(1)[0][0]
    others = {path: mode for path, mode in files.items() if mode != file}
    others |= {path: mode for path, mode in folders.items() if mode != folder}
    return Modes(file, folder, dict(sorted(others.items())))
