"""Makes a backup, publishes its list as the last act, and verifies copies by their digests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import and_

import holdfast
from holdfast.backup.checksums import mismatch_finding
from holdfast.backup.copying import WORKERS, Copier, Copy, newest_id
from holdfast.backup.safety import LEAST_MS
from holdfast.backup.snapshot import (
    BACKUP,
    CHECKPOINT,
    SINK_LOG,
    CopiedFile,
    Modes,
    Root,
    Snapshot,
    moment_ms,
)
from holdfast.backup.store import BackupStore, Catalogue, object_path, object_sizes, snapshot_path
from holdfast.checkpoint.reading import read_picture
from holdfast.checkpoint.verification import Progress
from holdfast.errors import DecodeError
from holdfast.findings import Finding, Place, Severity
from holdfast.format.logs.log import decode_query
from holdfast.storage.machine import is_abandoned
from holdfast.storage.parallel import side_by_side
from holdfast.storage.reading import Reader


@dataclass(frozen=True)
class Made:
    """A published backup, and what it took."""

    snapshot: Snapshot
    copied_files: int
    copied_bytes: int
    findings: tuple[Finding, ...]


def make_backup(
    checkpoint: Reader,
    store: BackupStore,
    *,
    identity: str,
    now_ms: int,
    purpose: str = BACKUP,
    released_ms: int | None = None,
    sink_logs: Mapping[str, Reader] | None = None,
    sink_location: str = "",
    progress: Progress | None = None,
) -> Made:
    """Back a checkpoint up, and the folders of its sink's log; the caller holds the store.

    `released_ms` is when the last run gave its lease back: what it wrote is no sign of a query.
    """
    # A folder that is no checkpoint is refused before anything of it is copied.
    read_picture(checkpoint, history=1)
    items = store.items()
    for item in items:
        if is_abandoned(item.path, item.modified_ms):
            store.writer.remove(item.path)
    copier = Copier(store, set(object_sizes(items)), progress)
    copy = copier.copy(checkpoint)
    roots = [Root(CHECKPOINT, identity, copy.files, copy.folders, copy.modes)]
    if sink_logs:
        parts = [(name, copier.copy(reader)) for name, reader in sink_logs.items()]
        roots.append(_joined(sink_location, parts))
    running = copy.moved or _changed_recently(copy, now_ms, released_ms)
    snapshot = _snapshot(store, roots, running=running, now_ms=now_ms, purpose=purpose)
    if copy.mismatched:
        snapshot = replace(snapshot, format=3, mismatched=copy.mismatched)
    of_roots = [root.modes.of_folder("") for root in roots if root.modes is not None]
    limit = reduce(and_, of_roots) if of_roots else None
    store.narrowed(limit, limit).publish(snapshot)
    findings = tuple(_findings(copy, running=running))
    if copy.mismatched:
        findings = (mismatch_finding(snapshot, copy.mismatched), *findings)
    return Made(snapshot, copier.copied_files, copier.copied_bytes, findings)


def _joined(location: str, parts: Sequence[tuple[str, Copy]]) -> Root:
    """Put the folders of a sink's log under one root."""
    files = tuple(
        CopiedFile(f"{name}/{file.path}", file.size, file.sha256)
        for name, copy in parts
        for file in copy.files
    )
    folders = tuple(
        folder
        for name, copy in parts
        for folder in (name, *(f"{name}/{one}" for one in copy.folders))
    )
    return Root(SINK_LOG, location, files, folders, _joined_modes(parts))


def _joined_modes(parts: Sequence[tuple[str, Copy]]) -> Modes | None:
    """Put the modes of several folders under one root, whose own is the narrowest of theirs."""
    modes = [(name, copy, copy.modes) for name, copy in parts if copy.modes is not None]
    if not modes or len(modes) < len(parts):
        return None
    first = modes[0][2]
    others = {"": reduce(and_, (found.of_folder("") for _, _, found in modes))}
    for name, copy, found in modes:
        others |= {f"{name}/{file.path}": found.of_file(file.path) for file in copy.files}
        others |= {f"{name}/{one}": found.of_folder(one) for one in copy.folders}
        others[name] = found.of_folder("")
    return Modes(first.file, first.folder, others)


def _snapshot(
    store: BackupStore, roots: Sequence[Root], *, running: bool, now_ms: int, purpose: str
) -> Snapshot:
    checkpoint = roots[0]
    planned = newest_id(checkpoint.by_path, "offsets")
    committed = newest_id(checkpoint.by_path, "commits")
    is_pending = planned is not None and (committed is None or committed < planned)
    return Snapshot(
        made_ms=_after_the_newest(store, now_ms),
        holdfast=holdfast.__version__,
        location=checkpoint.location,
        query_id=_query_id(store, checkpoint.by_path.get("metadata")),
        last_planned=planned,
        last_committed=committed,
        pending=planned if is_pending else None,
        running=running,
        purpose=purpose,
        roots=tuple(roots),
        format=2 if any(root.modes is not None for root in roots) else 1,
    )


def _after_the_newest(store: BackupStore, now_ms: int) -> int:
    """Return a time after every backup that is there, also where the clock was set back."""
    ids = store.snapshot_ids()
    return max(now_ms, moment_ms(ids[-1]) + 1) if ids else now_ms


def _query_id(store: BackupStore, metadata: CopiedFile | None) -> str | None:
    if metadata is None:
        return None
    try:
        return decode_query(b"".join(store.chunks(metadata))).id
    except DecodeError:
        return None  # a damaged checkpoint is backed up as it is; inspect tells the damage


def _changed_recently(copy: Copy, now_ms: int, released_ms: int | None) -> bool:
    newest = copy.newest_modified_ms
    if newest is None or (released_ms is not None and newest <= released_ms):
        return False
    return now_ms - newest < LEAST_MS


def _findings(copy: Copy, *, running: bool) -> Iterator[Finding]:
    if running:
        basis = "it changed while it was copied" if copy.moved else "it changed seconds ago"
        yield Finding(
            code="HF4501",
            severity=Severity.INFO,
            message=f"a query seems to be running: {basis}; the copy is consistent",
            place=Place(""),
            evidence={"moved": copy.moved, "newest_modified_ms": copy.newest_modified_ms},
        )
    if copy.special:
        shown = ", ".join(copy.special[:5])
        yield Finding(
            code="HF4515",
            severity=Severity.WARNING,
            message=f"{len(copy.special)} names are not regular files and were not copied: {shown}",
            place=Place(copy.special[0]),
            evidence={"names": list(copy.special[:100])},
        )


_AT_ONCE = 64


@dataclass(frozen=True)
class Verified:
    """What was read again, and what was not as it should be."""

    files: int
    size_bytes: int
    damaged: tuple[str, ...]
    findings: tuple[Finding, ...]


def verify_snapshots(
    store: BackupStore, snapshots: Iterable[Snapshot], progress: Progress | None = None
) -> Verified:
    """Hash every copy that the snapshots name, each once."""
    named: dict[str, tuple[CopiedFile, list[str]]] = {}
    for snapshot in snapshots:
        for file in snapshot.files:
            named.setdefault(file.sha256, (file, []))[1].append(f"{snapshot.id}: {file.path}")
    files = [file for file, _ in named.values()]
    total, done = sum(file.size for file in files), 0
    broken: list[CopiedFile] = []
    for start in range(0, len(files), _AT_ONCE):
        part = files[start : start + _AT_ONCE]
        whole = side_by_side(store.is_whole, part, WORKERS)
        broken += [file for file in part if not whole[file]]
        done += sum(file.size for file in part)
        if progress is not None:
            progress(done, total)
    findings = tuple(_damage(file, named[file.sha256][1]) for file in broken)
    damaged = tuple(place for file in broken for place in named[file.sha256][1])
    return Verified(len(files), total, damaged, findings)


def catalogue_findings(catalogue: Catalogue) -> Iterator[Finding]:
    """Report the snapshots that cannot be read."""
    for snapshot_id, error in catalogue.damaged:
        yield Finding(
            code="HF4511",
            severity=Severity.ERROR,
            message=f"backup {snapshot_id}: {error.message}",
            place=Place(snapshot_path(snapshot_id)),
        )


def _damage(file: CopiedFile, places: list[str]) -> Finding:
    more = f" and {len(places) - 1} more" if len(places) > 1 else ""
    first = places[0].partition(":")[0]
    return Finding(
        code="HF4510",
        severity=Severity.ERROR,
        message=f"the copy of {file.path} is missing or damaged, in {first}{more}",
        place=Place(object_path(file.sha256)),
        evidence={"sha256": file.sha256, "named_by": places[:20]},
    )
