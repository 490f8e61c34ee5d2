"""What grows without end, and what is tuned: logs, state, snapshots, retention, compaction."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import pairwise

from holdfast.checkpoint.picture import Picture, skips_like_async
from holdfast.checkpoint.recovery.state import provider_of
from holdfast.checkpoint.statefiles import OperatorFiles, PartitionFiles
from holdfast.diagnosis.checks.log.names import CONNECTOR_LOGS
from holdfast.diagnosis.checks.state.rocksdb import snapshot_bytes
from holdfast.diagnosis.inspection.subject import Subject
from holdfast.findings import Finding, Place, Severity
from holdfast.format.logs.filelog import DEFAULT_INTERVAL, effective_interval
from holdfast.ledgers.sparkfilesink import LOG_FOLDER
from holdfast.storage.location import OBJECT_STORES
from holdfast.storage.reading import FileKind
from holdfast.wording import counted

LARGE_LOG_BYTES = 32 * 1024 * 1024
MANY_CHANGES = 100


def check_source_log_size(subject: Subject) -> Iterator[Finding]:
    """Report the log of a file source whose compact entry is large."""
    for name in sorted(subject.picture.source_logs):
        source = subject.picture.layout.sources[name]
        newest = max(source.compact_ids & source.files.keys(), default=None)
        if newest is not None and source.files[newest].size >= LARGE_LOG_BYTES:
            item = source.files[newest]
            message = f"{item.path} has {item.size:,} bytes"
            yield Finding(
                "HF2304", Severity.WARNING, message, Place(item.path), {"bytes": item.size}
            )


def check_changes_since_snapshot(subject: Subject) -> Iterator[Finding]:
    """Report the partition that replays most changes at a start, where they are many."""
    most, where = 0, ""
    for operator in subject.picture.layout.state.operators.values():
        for store in operator.stores.values():
            for partition, files in store.partitions.items():
                count = changes_since_snapshot(files)
                if count > most:
                    most, where = count, f"state/{operator.id}/{partition}"
    if most >= MANY_CHANGES:
        message = f"{where} has {most} changes since its newest snapshot"
        yield Finding("HF2309", Severity.WARNING, message, Place(where), {"changes": most})


def check_connector_logs(subject: Subject) -> Iterator[Finding]:
    """Mention logs of sinks that a connector keeps in the checkpoint."""
    items = subject.picture.layout.items.items()
    inside = [item for path, item in items if path.startswith(f"{CONNECTOR_LOGS}/")]
    files = [item for item in inside if item.kind is FileKind.FILE]
    if files:
        size = sum(item.size for item in files)
        message = (
            f"{CONNECTOR_LOGS}/ has {counted(len(files), 'file')} of a connector, {size:,} bytes"
        )
        evidence = {"files": len(files), "bytes": size}
        yield Finding("HF2310", Severity.INFO, message, Place(CONNECTOR_LOGS), evidence)


def changes_since_snapshot(files: PartitionFiles) -> int:
    """Count the versions that a load of the newest one replays."""
    snapshots = {*files.snapshots, *(version for version, _ in files.zips)}
    changes = {*files.deltas, *(version for version, _ in files.changelogs)}
    base = max(snapshots, default=0)
    return sum(1 for version in changes if version > base)


LARGE_STATE_BYTES = 256 * 1024 * 1024
GROWN = 1.2
_CLEANED_BY_WATERMARK = (
    "stateStoreSave",
    "StatefulStreamlineAggregate",
    "dedupe",
    "symmetricHashJoin",
    "sessionWindowStateStoreSaveExec",
)
"""Other operators remove state by other means: their own code, timers, times to live."""

Sizes = tuple[int, int, int, int]
"""The oldest version, its bytes, the newest version, its bytes."""


def check_state_growth(subject: Subject) -> Iterator[Finding]:
    """Report operators whose large state has grown over the kept batches, without a watermark."""
    if not _without_watermark(subject.picture):
        return
    for operator in subject.picture.layout.state.operators.values():
        metadata = subject.picture.operators.get(operator.id)
        if metadata is not None and metadata.name not in _CLEANED_BY_WATERMARK:
            continue
        sizes = _sizes(subject, operator)
        if sizes is None or sizes[3] < LARGE_STATE_BYTES or sizes[3] < sizes[1] * GROWN:
            continue
        first, before, last, after = sizes
        message = (
            f"the state of operator {operator.id} grew from {before:,} to {after:,} bytes between "
            f"batches {first - 1} and {last - 1}, and the query has no watermark"
        )
        evidence = {"bytes": after, "bytes_before": before, "versions": [first, last]}
        place = Place(f"state/{operator.id}")
        yield Finding("HF2319", Severity.WARNING, message, place, evidence)


def _without_watermark(picture: Picture) -> bool:
    entry = picture.newest_offsets
    return entry is not None and entry.metadata is not None and not entry.metadata.watermark_ms


def _sizes(subject: Subject, operator: OperatorFiles) -> Sizes | None:
    """Add the oldest and the newest snapshots of all partitions; None where one has not two."""
    first, before, last, after = 0, 0, 0, 0
    for store in operator.stores.values():
        for files in store.partitions.values():
            wholes = _wholes(subject, files)
            if len(wholes) < 2:
                return None
            first, last = max(first, min(wholes)), max(last, *wholes)
            before, after = before + wholes[min(wholes)], after + wholes[max(wholes)]
    return (first, before, last, after) if last else None


def _wholes(subject: Subject, files: PartitionFiles) -> dict[int, int]:
    """Return the versions that are kept whole, with their bytes, as far as they are known."""
    sizes = {version: item.size for version, item in files.snapshots.items()}
    for (version, _), item in files.zips.items():
        size = snapshot_bytes(subject.snapshots.get(item.path))
        if size is not None:
            sizes[version] = size
    return sizes


RETAINED = 100
"""Spark's default of minBatchesToRetain."""
FILE_MANAGER = "spark.sql.streaming.checkpointFileManagerClass"


def advise_async_tracking(subject: Subject) -> Iterator[Finding]:
    """Say that entries are written now and then only."""
    if skips_like_async(subject.picture):
        ids = subject.picture.layout.offsets.ids
        kept = counted(len(ids), "entry")
        message = f"async progress tracking is on: {kept} for {ids[-1] - ids[0] + 1} "
        yield _advice("HF2331", f"{message}batches; never exactly-once", "offsets")


def advise_changelogs(subject: Subject) -> Iterator[Finding]:
    """Say whether RocksDB writes changelogs or whole snapshots."""
    if provider_of(subject.picture) != "rocksdb":
        return
    partitions = list(_partitions(subject))
    changelogs = sum(len(one.changelogs) for one in partitions)
    snapshots = sum(len(one.zips) for one in partitions)
    state = "on" if changelogs else "off"
    files = f"{counted(changelogs, 'changelog')}, {counted(snapshots, 'snapshot')}"
    message = f"changelog checkpointing is {state}: {files}"
    yield _advice("HF2332", message, "state")


def advise_state_format(subject: Subject) -> Iterator[Finding]:
    """Say which checkpoint format RocksDB state has."""
    commit = subject.picture.newest_commit
    if provider_of(subject.picture) != "rocksdb" or commit is None:
        return
    format_ = 2 if commit.state_ids else 1
    yield _advice("HF2333", f"state checkpoint format {format_} is in use", "commits")


def advise_retention(subject: Subject) -> Iterator[Finding]:
    """Say how far back the logs reach, once something was purged."""
    ids = subject.picture.layout.offsets.ids
    if ids and ids[0] > 0 and not skips_like_async(subject.picture):
        usual = (
            "as by default" if abs(len(ids) - 1 - RETAINED) <= 1 else f"the default is {RETAINED}"
        )
        kept = counted(len(ids), "batch is", "batches are")
        message = f"{kept} kept, from {ids[0]} on ({usual})"
        yield _advice("HF2334", message, "offsets")


def advise_snapshots(subject: Subject) -> Iterator[Finding]:
    """Say how much a load of the state replays."""
    counts = [changes_since_snapshot(one) for one in _partitions(subject)]
    if any(counts):
        message = f"a load replays up to {counted(max(counts), 'change')} on top of a snapshot"
        yield _advice("HF2335", message, "state")


def advise_compaction(subject: Subject) -> Iterator[Finding]:
    """Say which interval a source's or the sink's log keeps to, where it is not the default."""
    for name in sorted(subject.picture.source_logs):
        source = subject.picture.layout.sources[name]
        interval = effective_interval(source.compact_ids)
        if source.compact_ids and interval != DEFAULT_INTERVAL:
            message = f"sources/{name} is compacted every {interval} entries, "
            yield _advice(
                "HF2336", f"{message}not {DEFAULT_INTERVAL} as by default", f"sources/{name}"
            )


def advise_object_store(subject: Subject) -> Iterator[Finding]:
    """Say what an object store needs, unless the project declares it."""
    declared = subject.job.settings if subject.job is not None else {}
    if subject.scheme in OBJECT_STORES and FILE_MANAGER not in declared:
        message = f"the checkpoint is on an object store ({subject.scheme}): renames are copies"
        yield _advice("HF2337", message, "")


def _advice(code: str, message: str, file: str) -> Finding:
    return Finding(code, Severity.INFO, message, Place(file))


def _partitions(subject: Subject) -> Iterator[PartitionFiles]:
    for operator in subject.picture.layout.state.operators.values():
        for store in operator.stores.values():
            yield from store.partitions.values()


def check_compaction_interval(subject: Subject) -> Iterator[Finding]:
    """Mention a log whose compact entries are not evenly apart."""
    for name in sorted(subject.picture.source_logs):
        compact = subject.picture.layout.sources[name].compact_ids
        if _distances(compact):
            yield _finding(f"sources/{name}", Place(f"sources/{name}"), compact)
    log = subject.sink.files if subject.sink is not None else None
    if log is not None and _distances(log.compact_ids):
        yield _finding(LOG_FOLDER, Place("", root=log.location), log.compact_ids)


def _distances(compact: Collection[int]) -> bool:
    """Return whether the distances differ."""
    return len({after - before for before, after in pairwise(sorted(compact))}) > 1


def _finding(what: str, place: Place, compact: Collection[int]) -> Finding:
    newest = sorted(compact)[-10:]
    message = f"{what} was compacted at {', '.join(map(str, newest))}: the interval changed"
    return Finding("HF2308", Severity.INFO, message, place, {"compact_ids": newest})
