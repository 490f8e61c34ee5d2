"""Answers `backup`, `backups` and `restore` for a target or the name of a backup."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from holdfast.answers import Answer, naming
from holdfast.backup.access import Records, alone, open_records, open_store, reopened
from holdfast.backup.making import Made, catalogue_findings, make_backup, verify_snapshots
from holdfast.backup.restoring import AskSink, RestoreOptions, restore_backup
from holdfast.backup.results import (
    BackupAct,
    BackupList,
    BackupPlace,
    BackupReport,
    Restoration,
    summary_of,
)
from holdfast.backup.settling import settle_restore
from holdfast.backup.sinklog import SinkLogOptions, write_sink_log
from holdfast.backup.snapshot import ID, Snapshot
from holdfast.backup.store import (
    Removed,
    Retention,
    apply_retention,
    find_snapshot,
    object_sizes,
    read_catalogue,
    split_name,
    sweep,
)
from holdfast.checkpoint.verification import Progress
from holdfast.errors import HoldfastError, NotFoundError, ProjectError, StorageError, UsageError
from holdfast.findings import Finding
from holdfast.jobs.discovery import ProjectChoice
from holdfast.jobs.target import Target, declared_sink, resolve_target
from holdfast.ledgers.files.output import MANIFESTS
from holdfast.ledgers.reading import COPIED_MANIFESTS
from holdfast.records.journal import interrupted
from holdfast.records.leases.state import LeaseState
from holdfast.records.leases.taking import Standing, lease_state
from holdfast.records.moments import epoch_seconds
from holdfast.storage.beside import FOLDER, beside, part_of
from holdfast.storage.location import Location, canonical, is_folder, is_there, parse_location
from holdfast.storage.opening import open_reader
from holdfast.storage.options import StorageOptions
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
    """Return the backups that exist; nothing is written."""
    findings: list[Finding] = []
    found: list[BackupPlace] = []
    for records in places:
        catalogue = read_catalogue(records.store)
        act = records.journal.unfinished()
        findings += catalogue_findings(catalogue)
        if act is not None:
            findings.append(interrupted(act, records.location, records.location))
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


SINK_LOGS = ("_spark_metadata", "_delta_log")


class Caller:
    """Knows the project, the storage options and the working folder of one call."""

    def __init__(
        self,
        project: ProjectChoice,
        storage_options: StorageOptions,
        *,
        waiting: Callable[[str], None] | None = None,
        sink_of: Callable[[Target], AskSink | None] = lambda _: None,
    ) -> None:
        self._project = project
        self._sink_of = sink_of
        self._options = storage_options
        self._folder = Path.cwd()
        self._waiting = waiting

    def back_up(
        self,
        target: str,
        *,
        retention: Retention,
        sink_log: str | None,
        progress: Progress | None,
    ) -> Answer[BackupReport]:
        """Back a checkpoint up."""
        found = self.resolve(target)
        records = self._opened(found)
        sink = None if sink_log is None else self._sink_log(sink_log)
        return back_up(
            records, now_ms=_now_ms(), retention=retention, sink_log=sink, progress=progress
        )

    def verify(self, target: str, *, progress: Progress | None) -> Answer[BackupReport]:
        """Verify one backup, or all of a checkpoint."""
        target, name = self._split(target)
        found = self.resolve(target)
        records = self._opened(found)
        with naming(target):
            chosen = None if name is None else [find_snapshot(records.store, name)]
        return verify(records, chosen, progress=progress)

    def list_backups(self, target: str | None) -> Answer[BackupList]:
        """List the backups of a checkpoint, or of every job of the project."""
        found = [self.resolve(target)] if target is not None else list(self._jobs())
        return list_backups(self._opened(one) for one in found)

    def restore(
        self,
        backup: str,
        *,
        to: str | None,
        files: Sequence[str],
        even_if_running: bool,
        confirm: Callable[[str], bool] | None,
        progress: Progress | None,
    ) -> Answer[Restoration]:
        """Restore a backup to where it was made of, or to another place."""
        home, snapshot = self._home_of(backup)
        source = self._opened(home)
        target, elsewhere = source, False
        if to is not None:
            place = self.resolve(to if _is_spelled_as_path(to) else f"./{to}")
            elsewhere = canonical(place.location) != canonical(home.location)
            _refuse_inside(place, home)
            target = self._opened(place) if elsewhere else source
        options = RestoreOptions(
            snapshot=snapshot,
            source=source.store,
            target=target,
            elsewhere=elsewhere,
            files=tuple(files),
            even_if_running=even_if_running,
            ask_sink=self._sink_of(home),
        )
        return restore_backup(options, now_ms=_now_ms(), confirm=confirm, progress=progress)

    def write_sink_log(
        self,
        backup: str,
        *,
        to: str,
        files: Sequence[str],
        confirm: Callable[[str], bool] | None,
        progress: Progress | None,
    ) -> Answer[Restoration]:
        """Write the log of a sink that a backup holds out to an empty place."""
        home, snapshot = self._home_of(backup)
        source = self._opened(home)
        place = self.resolve(to if _is_spelled_as_path(to) else f"./{to}")
        _refuse_inside(place, home)
        target = self._opened(place)
        writing = tuple(self._opened(job) for job in self._jobs_writing_to(place))
        options = SinkLogOptions(snapshot, source.store, target, tuple(files), writing)
        return write_sink_log(options, now_ms=_now_ms(), confirm=confirm, progress=progress)

    def settle(
        self,
        target: str,
        *,
        finish: bool,
        confirm: Callable[[str], bool] | None,
        progress: Progress | None,
    ) -> Answer[Restoration]:
        """Finish an interrupted restore, or take it back."""
        found = self.resolve(split_name(target)[0])
        records = self._opened(found)
        return settle_restore(
            records,
            finish=finish,
            writing=tuple(self._opened(job) for job in self._jobs_writing_to(found)),
            open_store=lambda url: open_store(reopened(url), found.settings),
            confirm=confirm,
            progress=progress,
        )

    def resolve(self, target: str) -> Target:
        """Find the checkpoint that a text means, also one that is gone and has records here."""
        try:
            return resolve_target(
                target,
                project=self._project,
                storage_options=self._options,
                working_folder=self._folder,
            )
        except UsageError:
            if not is_folder(self._folder / FOLDER / target):
                raise
            return self.resolve(f"./{target}")

    def _home_of(self, backup: str) -> tuple[Target, Snapshot]:
        """Find the checkpoint that a backup is of, and the backup."""
        target, name = self._split(backup)
        if name is None and ID.fullmatch(backup):
            for job in self._jobs():
                store = self._opened(job).store
                if backup in store.snapshot_ids():
                    return job, find_snapshot(store, backup)
            message = f"no job of the project has a backup {backup}"
            raise UsageError(
                "HF4509", message, next_steps=("holdfast backups shows the backups of all jobs",)
            )
        home = self.resolve(target)
        if not self._is_there(target):
            message = f"there is no checkpoint and no backup of one at {home.location.shown}"
            raise UsageError("HF1002", message)
        with naming(target):
            if name is None:
                message = f"{target} is a checkpoint; name the backup to restore"
                raise UsageError("HF4509", message)
            return home, find_snapshot(self._opened(home).store, name)

    def _split(self, text: str) -> tuple[str, str | None]:
        """Split TARGET@ID; what cannot be an id is one all the same after a checkpoint's name."""
        target, name = split_name(text)
        before, at, after = text.rpartition("@")
        could_be = name is None and at and before and "/" not in after
        if could_be and not self._is_there(text) and self._is_there(before):
            return before, after
        return target, name

    def _is_there(self, target: str) -> bool:
        """Whether a text names a job, a local folder, or a checkpoint that has backups."""
        try:
            found = self.resolve(target)
        except UsageError:
            return False
        place = found.location
        if found.job is not None or (place.is_local and is_there(Path(place.url))):
            return True
        return bool(self._opened(found).store.snapshot_ids())

    def _jobs(self) -> Iterator[Target]:
        project = self._project.load_required(self._folder)
        for name in project.jobs:
            yield self.resolve(name)

    def _jobs_writing_to(self, place: Target) -> Iterator[Target]:
        """Yield the jobs of the project whose output is at the place, around it or inside it."""
        file = self._project.find(self._folder)
        try:
            project = None if file is None else self._project.load(file, self._folder)
        except (ProjectError, UsageError):
            if self._project.file is not None or self._project.is_explicit:
                raise
            return  # it only happens to lie above
        if project is None:
            return
        there = canonical(place.location)
        for name in project.jobs:
            path = declared_sink(project, name).path
            sink = None if path is None else _place_of(path, project.folder)
            if sink is not None and _overlap(sink, there):
                yield self.resolve(name)

    def _opened(self, target: Target) -> Records:
        def waiting(state: LeaseState) -> None:
            if self._waiting is not None:
                self._waiting(state.words)

        return open_records(target.location, target.settings, waiting=waiting)

    def _sink_log(self, sink: str) -> SinkLog:
        found = self.resolve(sink if _is_spelled_as_path(sink) else f"./{sink}")
        places = _places_of_logs(found.location)
        readers = {name: open_reader(place, found.settings) for name, place in places.items()}
        folders = {name: reader for name, reader in readers.items() if reader.names("")}
        if not folders:
            message = f"there is no {' or '.join(SINK_LOGS)}, and there are no manifests next to it"
            raise NotFoundError("HF7001", message, at=found.location.shown)
        return SinkLog(canonical(found.location).removeprefix("file://"), folders)


def _places_of_logs(sink: Location) -> dict[str, Location]:
    """Return where a sink's log may be, by what it is called in a backup."""
    places = {name: part_of(sink, name) for name in SINK_LOGS}
    try:
        return {**places, COPIED_MANIFESTS: part_of(beside(sink), MANIFESTS)}
    except StorageError:
        # Nothing lies beside a root.
        return places


def _place_of(path: str, folder: Path) -> str | None:
    try:
        return canonical(parse_location(path, relative_to=folder))
    except HoldfastError:
        return None  # no place that could be written to from here


def _overlap(one: str, other: str) -> bool:
    return f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/")


def _refuse_inside(place: Target, home: Target) -> None:
    """Raise HF1001 where a copy would be written into the checkpoint that it is a copy of."""
    if canonical(place.location).startswith(canonical(home.location).rstrip("/") + "/"):
        message = "the place to restore to is inside the checkpoint that was backed up"
        raise UsageError("HF1001", message, at=place.location.shown)


def _is_spelled_as_path(text: str) -> bool:
    return os.sep in text or "/" in text or ":" in text or text in (".", "..")


def _now_ms() -> int:
    return int(time.time() * 1000)
