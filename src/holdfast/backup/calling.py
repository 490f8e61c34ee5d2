"""Turns what a caller says (a target, a backup's name, options) into acts on records."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from holdfast.answers import Answer
from holdfast.backup import reports
from holdfast.backup.naming import find_snapshot, split_name
from holdfast.backup.records import Records, open_records, open_store, reopened
from holdfast.backup.restoring import Wish, restore_backup
from holdfast.backup.results import BackupList, BackupReport, Restoration
from holdfast.backup.retention import Retention
from holdfast.backup.settling import settle_restore
from holdfast.backup.sinklog import SinkLogWish, write_sink_log
from holdfast.backup.snapshot import ID
from holdfast.checkpoint.verification import Progress
from holdfast.errors import HoldfastError, NotFoundError, ProjectError, StorageError, UsageError
from holdfast.jobs.declaredsink import declared_sink
from holdfast.jobs.discovery import ProjectChoice
from holdfast.jobs.target import Target, resolve_target
from holdfast.ledgers.asking import COPIED_MANIFESTS
from holdfast.ledgers.files.output import MANIFESTS
from holdfast.records.leasesight import LeaseState
from holdfast.records.place import FOLDER
from holdfast.storage.beside import beside, part_of
from holdfast.storage.canonical import canonical
from holdfast.storage.location import Location, parse_location
from holdfast.storage.opening import open_reader

SINK_LOGS = ("_spark_metadata", "_delta_log")


class Caller:
    """Knows the project, the storage options and the working folder of one call."""

    def __init__(
        self,
        project: ProjectChoice,
        storage_options: Sequence[str],
        *,
        waiting: Callable[[str], None] | None = None,
    ) -> None:
        self._project = project
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
        return reports.back_up(
            records, now_ms=_now_ms(), retention=retention, sink_log=sink, progress=progress
        )

    def verify(self, target: str, *, progress: Progress | None) -> Answer[BackupReport]:
        """Verify one backup, or all of a checkpoint."""
        target, name = split_name(target)
        found = self.resolve(target)
        records = self._opened(found)
        chosen = None if name is None else [find_snapshot(records.store, name)]
        return reports.verify(records, chosen, progress=progress)

    def list_backups(self, target: str | None) -> Answer[BackupList]:
        """List the backups of a checkpoint, or of every job of the project."""
        found = [self.resolve(target)] if target is not None else list(self._jobs())
        return reports.list_backups(self._opened(one) for one in found)

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
        home, name = self._home_of(backup)
        source = self._opened(home)
        snapshot = find_snapshot(source.store, name)
        target, elsewhere = source, False
        if to is not None:
            place = self.resolve(to if _is_spelled_as_path(to) else f"./{to}")
            elsewhere = canonical(place.location) != canonical(home.location)
            target = self._opened(place) if elsewhere else source
        wish = Wish(snapshot, source.store, target, elsewhere, tuple(files), even_if_running)
        return restore_backup(wish, now_ms=_now_ms(), confirm=confirm, progress=progress)

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
        home, name = self._home_of(backup)
        source = self._opened(home)
        place = self.resolve(to if _is_spelled_as_path(to) else f"./{to}")
        target = self._opened(place)
        snapshot = find_snapshot(source.store, name)
        writing = tuple(self._opened(job) for job in self._jobs_writing_to(place))
        wish = SinkLogWish(snapshot, source.store, target, tuple(files), writing)
        return write_sink_log(wish, now_ms=_now_ms(), confirm=confirm, progress=progress)

    def settle(
        self, target: str, *, finish: bool, progress: Progress | None
    ) -> Answer[Restoration]:
        """Finish an interrupted restore, or take it back."""
        found = self.resolve(split_name(target)[0])
        records = self._opened(found)
        return settle_restore(
            records,
            finish=finish,
            writing=tuple(self._opened(job) for job in self._jobs_writing_to(found)),
            open_store=lambda url: open_store(reopened(url), found.settings),
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
            if not (self._folder / FOLDER / target).is_dir():
                raise
            return self.resolve(f"./{target}")

    def _home_of(self, backup: str) -> tuple[Target, str]:
        """Find the checkpoint that a backup belongs to, and the backup's name there."""
        target, name = split_name(backup)
        if name is not None:
            return self.resolve(target), name
        if ID.fullmatch(backup):
            for job in self._jobs():
                records = self._opened(job)
                if backup in records.store.snapshot_ids():
                    return job, backup
        message = f"{backup} does not say which backup"
        raise UsageError("HF4509", message)

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

    def _sink_log(self, sink: str) -> reports.SinkLog:
        found = self.resolve(sink if _is_spelled_as_path(sink) else f"./{sink}")
        places = _places_of_logs(found.location)
        readers = {name: open_reader(place, found.settings) for name, place in places.items()}
        folders = {name: reader for name, reader in readers.items() if reader.names("")}
        if not folders:
            message = f"neither {' nor '.join(SINK_LOGS)} is there, nor are manifests beside it"
            raise NotFoundError("HF7001", message, at=found.location.shown)
        return reports.SinkLog(canonical(found.location).removeprefix("file://"), folders)


def _places_of_logs(sink: Location) -> dict[str, Location]:
    """Give where a sink's log may be, by what it is called in a backup."""
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


def _is_spelled_as_path(text: str) -> bool:
    return os.sep in text or "/" in text or ":" in text or text in (".", "..")


def _now_ms() -> int:
    return int(time.time() * 1000)
