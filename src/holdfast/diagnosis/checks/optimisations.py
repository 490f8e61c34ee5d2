"""What is tuned, as far as files tell: what it means, and when to change it."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.checkpoint.gaps import skips_like_async
from holdfast.checkpoint.recovery.state import provider_of
from holdfast.checkpoint.statefiles import PartitionFiles
from holdfast.diagnosis.checks.growth import changes_since_snapshot
from holdfast.diagnosis.inspection.subject import Subject
from holdfast.findings import Finding, Place, Severity
from holdfast.format.logs.filelog import DEFAULT_INTERVAL, effective_interval
from holdfast.plurals import counted
from holdfast.storage.schemes import OBJECT_STORES

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
        message = f"the checkpoint lies on an object store ({subject.scheme}): renames are copies"
        yield _advice("HF2337", message, "")


def _advice(code: str, message: str, file: str) -> Finding:
    return Finding(code, Severity.INFO, message, Place(file))


def _partitions(subject: Subject) -> Iterator[PartitionFiles]:
    for operator in subject.picture.layout.state.operators.values():
        for store in operator.stores.values():
            yield from store.partitions.values()
