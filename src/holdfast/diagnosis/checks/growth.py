"""What grows without end: a source's log, changes since a snapshot, a connector's log."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.checkpoint.statefiles import PartitionFiles
from holdfast.diagnosis.checks.log.names import CONNECTOR_LOGS
from holdfast.diagnosis.inspection.subject import Subject
from holdfast.findings import Finding, Place, Severity
from holdfast.plurals import counted
from holdfast.storage.reading import Kind

LARGE_LOG_BYTES = 32 * 1024 * 1024
MANY_CHANGES = 100


def check_source_log_size(subject: Subject) -> Iterator[Finding]:
    """Report the log of a file source whose compact entry is large."""
    for name in sorted(subject.picture.source_logs):
        source = subject.picture.layout.sources[name]
        newest = max(source.compact_ids & source.files.keys(), default=None)
        if newest is not None and source.files[newest].size >= LARGE_LOG_BYTES:
            item = source.files[newest]
            message = f"{item.path} holds {item.size:,} bytes"
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
    files = [item for item in inside if item.kind is Kind.FILE]
    if files:
        size = sum(item.size for item in files)
        message = (
            f"{CONNECTOR_LOGS}/ holds {counted(len(files), 'file')} of a connector, {size:,} bytes"
        )
        evidence = {"files": len(files), "bytes": size}
        yield Finding("HF2310", Severity.INFO, message, Place(CONNECTOR_LOGS), evidence)


def changes_since_snapshot(files: PartitionFiles) -> int:
    """Count the versions that a load of the newest one replays."""
    snapshots = {*files.snapshots, *(version for version, _ in files.zips)}
    changes = {*files.deltas, *(version for version, _ in files.changelogs)}
    base = max(snapshots, default=0)
    return sum(1 for version in changes if version > base)
