"""Answers `backup` and `backups`: makes or verifies under the store's lock, then tells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from holdfast.answers import Answer
from holdfast.backup.exclusion import alone
from holdfast.backup.making import Made, make_backup
from holdfast.backup.records import Records
from holdfast.backup.results import (
    BackupAct,
    BackupList,
    BackupPlace,
    BackupReport,
    summary_of,
)
from holdfast.backup.retention import Removed, Retention, apply_retention, sweep
from holdfast.backup.snapshot import Snapshot
from holdfast.backup.store import object_sizes, read_catalogue
from holdfast.backup.verifying import catalogue_findings, verify_snapshots
from holdfast.checkpoint.verification import Progress
from holdfast.errors import StorageError
from holdfast.findings import Finding
from holdfast.records.journal import interrupted
from holdfast.records.lease import Standing, lease_state
from holdfast.records.moments import epoch_seconds
from holdfast.storage.reading import Reader


@dataclass(frozen=True)
class SinkLog:
    """The folders of a sink that hold its log, and where the sink is."""

    location: str
    folders: Mapping[str, Reader]


def back_up(
    records: Records,
    *,
    now_ms: int,
    retention: Retention,
    sink_log: SinkLog | None = None,
    progress: Progress | None = None,
) -> Answer[BackupReport]:
    """Make a backup, then let go of those that are not kept."""
    # Looked at first, so that nothing is made beside a place where no checkpoint is.
    records.journal.refuse_unfinished()
    records.checkpoint.list()
    with alone(records.store, "backup") as killed:
        records.journal.refuse_unfinished()
        made = make_backup(
            records.checkpoint,
            records.store,
            identity=records.identity,
            now_ms=now_ms,
            released_ms=_released_ms(records),
            sink_logs=sink_log.folders if sink_log is not None else None,
            sink_location=sink_log.location if sink_log is not None else "",
            progress=progress,
        )
        removed = Removed()
        if retention.removes:
            removed = apply_retention(records.store, retention, now_ms)
        elif killed:
            files, size = sweep(records.store)
            removed = Removed(files=files, size_bytes=size)
    report = _made_report(records, made, removed)
    return Answer("backup", records.location, report, made.findings, _after(records, made))


def _released_ms(records: Records) -> int | None:
    """Return when the last run gave its lease back; None where none did, or one runs now."""
    try:
        lease = lease_state(records.folder)
    except StorageError:
        return None
    if lease is None or lease.state is not Standing.FREE or lease.beat is None:
        return None
    released = epoch_seconds(lease.beat.written_at)
    return None if released is None else round(released * 1000)


def verify(
    records: Records, snapshots: Iterable[Snapshot] | None, *, progress: Progress | None = None
) -> Answer[BackupReport]:
    """Read the copies again; of all backups where none is named."""
    catalogue = read_catalogue(records.store)
    chosen = tuple(catalogue.snapshots if snapshots is None else snapshots)
    verified = verify_snapshots(records.store, chosen, progress)
    unreadable = tuple(catalogue_findings(catalogue)) if snapshots is None else ()
    report = BackupReport(
        location=records.location,
        store=records.store.location,
        act=BackupAct.VERIFIED,
        backups=tuple(map(summary_of, chosen)),
        copied_files=0,
        copied_bytes=0,
        verified_files=verified.files,
        verified_bytes=verified.size_bytes,
        damaged=verified.damaged,
        removed_backups=(),
        removed_files=0,
        freed_bytes=0,
    )
    return Answer("backup", records.store.location, report, (*unreadable, *verified.findings))


def list_backups(places: Iterable[Records]) -> Answer[BackupList]:
    """Tell which backups there are; nothing is written."""
    findings: list[Finding] = []
    found: list[BackupPlace] = []
    for records in places:
        catalogue = read_catalogue(records.store)
        act = records.journal.unfinished()
        findings += catalogue_findings(catalogue)
        if act is not None:
            findings.append(interrupted(act, records.location))
        found.append(
            BackupPlace(
                location=records.location,
                store=records.store.location,
                stored_bytes=sum(object_sizes(records.store.items()).values()),
                unfinished=None if act is None else act.id,
                backups=tuple(map(summary_of, reversed(catalogue.snapshots))),
            )
        )
    location = found[0].store if len(found) == 1 else ""
    return Answer("backups", location, BackupList(tuple(found)), tuple(findings))


def _made_report(records: Records, made: Made, removed: Removed) -> BackupReport:
    files = {file.sha256: file.size for file in made.snapshot.files}
    return BackupReport(
        location=records.location,
        store=records.store.location,
        act=BackupAct.MADE,
        backups=(summary_of(made.snapshot),),
        copied_files=made.copied_files,
        copied_bytes=made.copied_bytes,
        verified_files=len(files),
        verified_bytes=sum(files.values()),
        damaged=(),
        removed_backups=removed.backups,
        removed_files=removed.files,
        freed_bytes=removed.size_bytes,
    )


def _after(records: Records, made: Made) -> tuple[str, ...]:
    return (f"holdfast restore {records.location}@{made.snapshot.id}",)
