"""Makes a declared job ready: secrets filled in, paths resolved, defaults decided."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from holdfast.jobs.projectfile.job import Job, Source, interval_seconds, reads_folder
from holdfast.jobs.projectfile.model import Project
from holdfast.jobs.projectfile.sink import Sink
from holdfast.jobs.ready import (
    BackupPolicy,
    FailureHook,
    FunctionReference,
    ReadyJob,
    ReadySink,
    ReadySource,
    RestartPolicy,
    place_or_text,
    spark_path,
)
from holdfast.jobs.target import settings_at
from holdfast.redaction import remember_secret
from holdfast.storage.location import Location
from holdfast.storage.options import StorageSettings


@dataclass(frozen=True)
class Declared:
    """Where a job is declared, in a file or in Python: what its paths and messages refer to."""

    project: str | None
    folder: Path
    """What relative paths count from; absolute."""
    modules: Path
    """Where the user's modules are looked for; absolute."""
    at: Callable[..., str]
    """Spells where a key of the job stands."""
    settings: Callable[[Location], StorageSettings]
    """Gives what a place is reached with, without Spark."""
    profile: str | None = None


def ready_job(project: Project, name: str) -> ReadyJob:
    """Return a job of the project file as it is run; a secret that is missing is a ProjectError."""
    folder = project.folder.absolute()
    declared = Declared(
        project=project.project,
        folder=folder,
        modules=folder,
        at=lambda *path: project.at("jobs", name, *path),
        settings=lambda location: settings_at(location, project),
        profile=project.profile,
    )
    job = readied(project.filled_job(name), name, project.checkpoint_of(name), declared)
    return replace(
        job,
        changed_tables=project.changed_tables_of(name),
        downstream=partial(project.downstream_of, name),
    )


def readied(job: Job, name: str, checkpoint: Location, declared: Declared) -> ReadyJob:
    """Return a job, in which every secret is filled in, as it is run."""
    return ReadyJob(
        name=name,
        project=declared.project,
        folder=declared.modules,
        sources=_ready_sources(job, declared),
        transform=_reference(job.transform, declared, "transform"),
        sql=job.sql,
        sink=_ready_sink(job.sink, declared),
        output_mode=job.decided_output_mode,
        processing_time=job.trigger.processing_time,
        conf=job.conf,
        checkpoint=checkpoint,
        settings=declared.settings(checkpoint),
        adopted=job.checkpoint is not None,
        at=declared.at(),
        profile=declared.profile,
        protect=job.protect,
        restart=RestartPolicy(job.restart.limit, interval_seconds(job.restart.backoff)),
        on_failure=_failure_hook(job, declared),
        backup=_backup_policy(job),
        declaration=job,
    )


def _backup_policy(job: Job) -> BackupPolicy | None:
    backup = job.backup
    return None if backup is None else BackupPolicy(interval_seconds(backup.every), backup.keep)


def _failure_hook(job: Job, declared: Declared) -> FailureHook | None:
    hook = job.on_failure
    if hook is None:
        return None
    if hook.webhook is not None:
        # Whoever knows the URL of a webhook can post to it.
        remember_secret(hook.webhook)
    return FailureHook(
        at=declared.at("on_failure"),
        command=() if hook.command is None else tuple(shlex.split(hook.command)),
        webhook=hook.webhook,
    )


def _ready_sources(job: Job, declared: Declared) -> tuple[ReadySource, ...]:
    if job.source is not None:
        ((name, source),) = job.named_sources.items()
        return (_ready_source(name, source, declared, "source"),)
    return tuple(
        _ready_source(name, source, declared, "sources", name)
        for name, source in job.sources.items()
    )


def _ready_source(name: str, source: Source, declared: Declared, *path: str) -> ReadySource:
    options = dict(source.options)
    # What `path` means to a source that we don't know is its own affair: it may name a table.
    if "path" in options and reads_folder(source.format):
        options["path"] = _place(options["path"], declared)[0]
    return ReadySource(
        name=name,
        format=source.format,
        path=None if source.path is None else _place(source.path, declared)[0],
        schema=source.schema_text,
        options=options,
        at=declared.at(*path),
    )


def _ready_sink(sink: Sink, declared: Declared) -> ReadySink:
    path, location = (None, None) if sink.path is None else _place(sink.path, declared)
    return ReadySink(
        format=sink.format,
        mode=sink.mode,
        at=declared.at("sink"),
        path=path,
        location=location,
        settings=StorageSettings() if location is None else declared.settings(location),
        key=sink.key,
        order_by=sink.order_by,
        batch_column=sink.batch_column,
        url=sink.url,
        table=sink.table,
        function=_reference(sink.function, declared, "sink", "function"),
        partition_by=sink.partition_by,
        native=sink.native,
        options=sink.options,
    )


def _place(text: str, declared: Declared) -> tuple[str, Location | None]:
    """Return a path as Spark takes it, and where that is for readers without Spark."""
    place = place_or_text(text, declared.folder)
    if isinstance(place, str):
        return place, None
    return spark_path(place, declared.settings(place)), place


def _reference(written: str | None, declared: Declared, *path: str) -> FunctionReference | None:
    if written is None:
        return None
    module, _, name = written.partition(":")
    return FunctionReference(module, name, declared.modules, declared.at(*path))
