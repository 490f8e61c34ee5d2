"""Opens checkpoints, what is recorded beside them, and the sink of a target."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.errors import HoldfastError, NotFoundError, ProjectError, SinkError, StorageError
from holdfast.jobs.discovery import ProjectChoice
from holdfast.jobs.target import Target, resolve_place, resolve_target
from holdfast.storage.beside import beside, part_of
from holdfast.storage.location import Location
from holdfast.storage.opening import open_reader
from holdfast.storage.options import StorageOptions, StorageSettings
from holdfast.storage.reading import Reader

if TYPE_CHECKING:
    from holdfast.diagnosis.inspection.runs.recorded import Recall
    from holdfast.diagnosis.inspection.subject import DeclaredJob
    from holdfast.jobs.target import DeclaredSink
    from holdfast.ledgers.reading import SinkMemory, SinkPlace
    from holdfast.ledgers.sinkstate import LastCommitted, SinkState


@dataclass(frozen=True)
class Opening:
    """Opens places, each for at most `timeout` seconds, over shared connections."""

    timeout: float | None
    instances: dict[str, Any] = field(default_factory=dict)

    def reader(self, location: Location, settings: StorageSettings) -> Reader:
        """Open a place for reading."""
        return open_reader(location, settings, timeout=self.timeout, instances=self.instances)


def open_target(
    target: str | Path,
    project: ProjectChoice,
    storage_options: StorageOptions,
    timeout: float | None,
) -> tuple[Target, Reader]:
    """Find out which checkpoint is meant, and open it for reading."""
    found = resolved(target, project, storage_options)
    return found, open_reader(found.location, found.settings, timeout=timeout)


def open_recorded(
    target: str | Path,
    project: ProjectChoice,
    storage_options: StorageOptions,
    timeout: float | None,
    *,
    runs: int = 1,
    lease: bool = False,
    all_attempts: bool = False,
    recordings: bool = False,
) -> tuple[Target, Reader, Recall]:
    """Find out which checkpoint is meant; open it, and what is recorded beside it."""
    opening = Opening(timeout)
    found = resolved(target, project, storage_options)
    reader = opening.reader(found.location, found.settings)
    recall = recall_of(
        found, opening, runs=runs, lease=lease, all_attempts=all_attempts, recordings=recordings
    )
    return found, reader, recall


def recall_of(
    target: Target,
    opening: Opening,
    *,
    runs: int = 1,
    lease: bool = False,
    all_attempts: bool = False,
    recordings: bool = False,
) -> Recall:
    """Return what looks at the records of a target; nothing can be recorded beside a root."""
    from holdfast.diagnosis.inspection.runs.recorded import nothing, recall
    from holdfast.records.folder import records_of
    from holdfast.storage.location import canonical

    try:
        folder = records_of(target.location, target.settings)
    except StorageError:
        return nothing
    folder = replace(folder, open_reader=opening.reader)
    project, name = target.project, target.job
    return partial(
        recall,
        folder,
        checkpoint=canonical(target.location),
        runs=runs,
        lease=lease,
        job=(name, project.project) if project is not None and name is not None else None,
        all_attempts=all_attempts,
        recordings=recordings,
    )


def resolved(target: str | Path, project: ProjectChoice, storage_options: StorageOptions) -> Target:
    """Find out which checkpoint is meant."""
    return resolve_target(
        str(target),
        project=project,
        storage_options=storage_options,
        working_folder=working_folder(),
    )


def not_run_yet(
    error: NotFoundError, target: str, project: ProjectChoice, storage_options: StorageOptions
) -> NotFoundError | None:
    """Return what to say where the missing checkpoint is one of a job that has never run; else
    None."""
    from holdfast.records.folder import records_of
    from holdfast.records.starts import Attempts

    try:
        found = resolved(target, project, storage_options)
        if found.job is None or error.at != found.location.shown:
            return None
        records = records_of(found.location, found.settings)
        if not records.names() <= _OF_STARTS:
            return None
        failed = next(
            (one for one in Attempts(records).since() if one.exit_status != _IN_USE), None
        )
    except HoldfastError:
        return None
    message = f"job {found.job} has not run yet: its checkpoint does not exist"
    steps: tuple[str, ...] = ("holdfast run JOB",)
    if failed is not None:
        ended = "was refused" if failed.ended.value == "refused" else failed.ended.value
        message += f". A start {ended} at {failed.at}: {failed.code} {failed.message}"
        steps = tuple(dict.fromkeys((*failed.next, f"holdfast explain {failed.page}")))
    why = "Spark creates the checkpoint when the job first starts"
    return NotFoundError("HF7001", message, at=error.at, why=why, next_steps=steps)


def local_folder(location: Location) -> Path | None:
    """Return the folder of a place on this machine, None elsewhere."""
    return Path(location.url) if location.is_local else None


def working_folder() -> Path:
    """Return the working directory; somebody may have removed it under us."""
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        message = "the working directory no longer exists"
        raise NotFoundError("HF7001", message) from error


_IN_USE = 22
"""The exit status of a start that was refused because another driver runs the job."""
_OF_STARTS = frozenset({"lease", "attempts", "restarts"})
"""Records that a start leaves which failed before anything ran."""
_NO_FOLDERS = frozenset({"postgres", "jdbc", "custom"})


def declared_sink_of(target: Target) -> DeclaredSink | None:
    """Return what the project file says of a job's sink, None for a target that is no job."""
    if target.project is None or target.job is None:
        return None
    from holdfast.jobs.target import declared_sink

    return declared_sink(target.project, target.job)


def declared_job_of(target: Target) -> DeclaredJob | None:
    """Return what the project file says of a job, None for a target that is not a job."""
    if target.project is None or target.job is None:
        return None
    from holdfast.diagnosis.inspection.subject import declared_job

    return declared_job(target.project, target.job)


def sink_place(
    target: Target,
    given: str | Path | None,
    declared: DeclaredSink | None,
    storage_options: StorageOptions,
    timeout: float | None,
) -> tuple[SinkPlace | None, Path | None]:
    """Return the sink to read, and its directory if it is on this machine."""
    from holdfast.ledgers.reading import SinkPlace

    text = str(given) if given is not None else declared.path if declared is not None else None
    if text is None:
        return _unfilled_place(target) or ledger_place(target, declared, timeout), None
    if given is None and _is_unread(declared):
        return ledger_place(target, declared, timeout), None
    project = target.project if given is None else None
    relative_to = project.folder if project is not None else working_folder()

    def resolve(place: str) -> tuple[Location, StorageSettings]:
        return resolve_place(
            place, target, storage_options=storage_options, relative_to=relative_to
        )

    def open_below(folder: str) -> Reader:
        location, settings = resolve(f"{text.rstrip('/')}/{folder}" if folder else text)
        return open_reader(location, settings, timeout=timeout)

    def open_beside(folder: str) -> Reader:
        location, settings = resolve(text)
        return open_reader(part_of(beside(location), folder), settings, timeout=timeout)

    try:
        location, _ = resolve(text)
    except StorageError:
        if given is not None:
            raise
        # Spark may reach what this machine can't read; what is declared still counts.
        return None, None
    if given is not None:
        _refuse_missing(location)
    sees = None if given is not None or declared is None else _seeing(declared, *resolve(text))
    place = SinkPlace(location.shown, open_below, given is not None, open_beside, sees=sees)
    return place, local_folder(location)


def asking_sink(
    target: Target, storage_options: StorageOptions
) -> Callable[[str], LastCommitted] | None:
    """Return how the declared sink of a job is asked for the newest batch of a query; None where
    none is declared, or it cannot be asked."""
    place, _ = sink_place(target, None, declared_sink_of(target), storage_options, None)
    return None if place is None else lambda query_id: place.ask().last_committed(query_id)


def _refuse_missing(location: Location) -> None:
    """Raise HF7001 where a given path of this machine has no output, and no manifests of one."""
    folder = local_folder(location)
    if folder is None or os.path.lexists(folder):
        return
    if (beside_it := local_folder(beside(location))) is not None and os.path.lexists(beside_it):
        return
    message = "the output directory of the sink does not exist"
    steps = ("correct the path given with --sink",)
    why = "whether a batch that runs again is duplicated depends on what is in the sink"
    raise NotFoundError("HF7001", message, at=location.shown, why=why, next_steps=steps)


def _unfilled_place(target: Target) -> SinkPlace | None:
    """Return a sink whose path cannot be filled in here, with the reason; None for any other."""
    from holdfast.ledgers.reading import SinkMemory, SinkPlace

    project, job = target.project, target.job
    written = project.jobs[job].sink.path if project is not None and job is not None else None
    if project is None or job is None or written is None:
        return None
    try:
        project.filled_in(written, "jobs", job, "sink", "path")
    except ProjectError as error:
        memory = SinkMemory(written, failure=error)
        return SinkPlace(written, asked=lambda: memory, kind=project.jobs[job].sink.format)
    return None


def _seeing(
    declared: DeclaredSink, location: Location, settings: StorageSettings
) -> Callable[[str], SinkState] | None:
    """Return how a start looks at a sink that is a folder, None for formats that are not ours."""
    from holdfast.ledgers.delta.following import look_at_delta_table
    from holdfast.ledgers.files.manifests import log_of
    from holdfast.ledgers.files.output import FileOutput
    from holdfast.ledgers.files.startcheck import look_at_folder
    from holdfast.ledgers.sparkfilesink import FORMATS

    if declared.native:
        return None
    if declared.format == "delta":
        return partial(look_at_delta_table, location, settings)
    if declared.format in FORMATS:
        output = FileOutput(location, settings)
        return lambda query_id: look_at_folder(output, log_of(output), query_id)
    return None


def ledger_place(
    target: Target, declared: DeclaredSink | None, timeout: float | None
) -> SinkPlace | None:
    """Return a sink that is no folder and can be asked by one question, None for any other."""
    if declared is None or not (declared.format in _NO_FOLDERS or _is_unread(declared)):
        return None
    from holdfast.ledgers.custom import PART
    from holdfast.ledgers.reading import SinkPlace, ask_function, untold

    name = declared.identity or declared.format
    if declared.native:
        reason = f"what Spark's own {declared.format} sink holds cannot be read without Spark"
        return SinkPlace(name, asked=partial(untold, name, reason), kind=declared.format)
    if declared.format == "postgres":
        asked, sees = partial(_ask_database, target, name), partial(_see_database, target)
        return SinkPlace(name, asked=asked, kind=declared.format, sees=sees)
    if declared.format == "jdbc":
        reason = (
            "the ledger of a jdbc sink cannot be read without Spark; it is read when the job starts"
        )
        return SinkPlace(name, asked=partial(untold, name, reason), kind=declared.format)
    opening = Opening(timeout)
    try:
        ledger = part_of(beside(target.location), PART)
    except StorageError:
        return None
    opened = partial(opening.reader, ledger, target.settings)
    return SinkPlace(name, asked=partial(ask_function, name, opened), kind=declared.format)


def _is_unread(declared: DeclaredSink | None) -> bool:
    """Return whether it is a sink of Spark's own whose log nobody here reads."""
    from holdfast.ledgers.sparkfilesink import FORMATS

    if declared is None or not declared.native:
        return False
    return declared.path is None or declared.format.lower() not in FORMATS | {"delta"}


def _ask_database(target: Target, name: str) -> SinkMemory:
    """Ask a PostgreSQL ledger; what keeps the address from being known is part of the answer."""
    from holdfast.ledgers.reading import SinkMemory, ask_postgres

    project, job = target.project, target.job
    assert project is not None and job is not None
    try:
        sink = project.filled_job(job).sink
    except ProjectError as error:
        return SinkMemory(name, failure=error, is_folder=False)
    assert sink.url is not None and sink.table is not None
    return ask_postgres(sink.url, sink.table, sink.options, project.at("jobs", job, "sink"))


def _see_database(target: Target, query_id: str) -> SinkState:
    """Look at a PostgreSQL table as a start does; raise SinkError where that is not possible."""
    from holdfast.ledgers.database.connection import postgres_address
    from holdfast.ledgers.database.postgres import PostgresLedger
    from holdfast.ledgers.reading import ASKED_SECONDS

    project, job = target.project, target.job
    assert project is not None and job is not None
    try:
        sink = project.filled_job(job).sink
    except ProjectError as error:
        raise SinkError("HF5041", error.message, at=error.at) from error
    assert sink.url is not None and sink.table is not None
    at = project.at("jobs", job, "sink")
    return PostgresLedger(postgres_address(sink.url, sink.table, sink.options, at)).sight(
        query_id, ASKED_SECONDS
    )
