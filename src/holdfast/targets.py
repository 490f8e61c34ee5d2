"""Opens what the public functions are asked about: checkpoints, base folders, jobs and sinks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from holdfast.errors import (
    HoldfastError,
    NotFoundError,
    ProjectError,
    SinkError,
    StorageError,
    UsageError,
)
from holdfast.jobs.discovery import ProjectChoice
from holdfast.jobs.substitution import has_reference
from holdfast.jobs.target import Target, job_target, resolve_place, resolve_target
from holdfast.nearest import nearest
from holdfast.storage.beside import beside, part_of
from holdfast.storage.location import Location
from holdfast.storage.opening import open_reader
from holdfast.storage.options import StorageSettings, parse_storage_option
from holdfast.storage.reading import Reader

if TYPE_CHECKING:
    from holdfast.diagnosis.doctor.doctor import Examinee, Unopened
    from holdfast.diagnosis.inspection.runs.recorded import Recall
    from holdfast.diagnosis.inspection.sink.place import SinkPlace
    from holdfast.diagnosis.inspection.sources import SourcePlaces
    from holdfast.diagnosis.status.status import JobPlace
    from holdfast.jobs.declaredsink import DeclaredSink
    from holdfast.jobs.project import Project
    from holdfast.ledgers.asking import SinkMemory
    from holdfast.ledgers.sinksight import SinkSight


_NO_FOLDERS = frozenset({"postgres", "jdbc", "custom"})
EXAMINED_RUNS = 10
"""How many of the newest runs the doctor looks at."""


@dataclass(frozen=True)
class Opening:
    """Opens places, each for at most `timeout` seconds, over shared connections."""

    timeout: float | None
    instances: dict[str, Any] = field(default_factory=dict)

    def reader(self, location: Location, settings: StorageSettings) -> Reader:
        """Open a place for reading."""
        return open_reader(location, settings, timeout=self.timeout, instances=self.instances)


def each_once(examinees: list[Examinee | Unopened]) -> list[Examinee | Unopened]:
    """Keep the first of those that are the same place: it is no copy of itself."""
    by_place = {getattr(one, "path", one.target): one for one in reversed(examinees)}
    return list(reversed(by_place.values()))


def jobs_of(project: ProjectChoice) -> list[str]:
    """Name every job of the project, in its order."""
    return list(_project_with_jobs(project).jobs)


def job_named(text: str, project: ProjectChoice) -> str | None:
    """Return the job of the project that a target is; None for a path, and where nobody can say."""
    try:
        return _resolved(text, project, ()).job
    except HoldfastError:
        return None


def job_places(
    names: Sequence[str],
    project: ProjectChoice,
    storage_options: Sequence[str],
    timeout: float | None,
) -> tuple[str, list[JobPlace]]:
    """Give the project's name and its jobs, or those that are named, ready to be looked at."""
    loaded = _project_with_jobs(project)
    for name in names:
        if name not in loaded.jobs:
            raise _no_such_job(name, list(loaded.jobs))
    opening = Opening(timeout)
    chosen = [one for one in loaded.jobs if not names or one in names]
    places = [_job_place(one, loaded, storage_options, opening) for one in chosen]
    return loaded.project, places


def _job_place(
    name: str,
    project: Project,
    storage_options: Sequence[str],
    opening: Opening,
) -> JobPlace:
    from holdfast.diagnosis.status.status import SHOWN_RUNS, JobPlace
    from holdfast.jobs.declaredsink import declared_sink

    sink = declared_sink(project, name)
    trigger = project.jobs[name].trigger.processing_time or "available now"
    described = partial(JobPlace, job=name, sink=sink.format, sink_identity=sink.identity,
                        trigger=trigger, native=sink.native)  # fmt: skip
    try:
        options = [parse_storage_option(option) for option in storage_options]
        target = job_target(name, project, options)
    except HoldfastError as error:
        return described(location=error.at or name, open_checkpoint=partial(_raise, error))
    return described(
        location=target.location.shown,
        folder=local_folder(target.location),
        open_checkpoint=partial(opening.reader, target.location, target.settings),
        recall=recall_of(target, opening, runs=SHOWN_RUNS, lease=True),
        ledger=ledger_place(target, sink, opening.timeout),
        output=_file_output(target, sink, storage_options, opening.timeout),
    )


def _file_output(
    target: Target,
    declared: DeclaredSink,
    storage_options: Sequence[str],
    timeout: float | None,
) -> SinkPlace | None:
    """Return the output folder of a file sink, None for any other sink."""
    from holdfast.ledgers.sparkfilesink import FORMATS

    if declared.native or declared.format not in FORMATS or declared.path is None:
        return None
    return sink_place(target, None, declared, storage_options, timeout)[0]


def _raise(error: HoldfastError) -> NoReturn:
    raise error


def _project_with_jobs(project: ProjectChoice) -> Project:
    loaded = project.load_required(working_folder())
    if not loaded.jobs:
        raise UsageError("HF1002", "no target is given, and the project declares no job")
    return loaded


def _no_such_job(name: str, jobs: list[str]) -> UsageError:
    near = nearest(name, jobs)
    hint = f"; is {near} meant?" if near else ""
    step = f"give one of the jobs ({', '.join(sorted(jobs))})"
    return UsageError("HF1002", f"{name} is no job of this project{hint}", next_steps=(step,))


def examinees_of(
    text: str,
    sink: str | Path | None,
    project: ProjectChoice,
    storage_options: Sequence[str],
    timeout: float | None,
) -> Iterator[Examinee | Unopened]:
    """Open one target, or every checkpoint of a base folder; what can't be opened says why."""
    from holdfast.diagnosis.doctor.doctor import Unopened
    from holdfast.diagnosis.inspection.basefolder import checkpoints_below

    try:
        opening = Opening(timeout)
        found = _resolved(text, project, storage_options)
        reader = opening.reader(found.location, found.settings)
        inside = [] if found.job is not None else checkpoints_below(reader)
        for name in inside:
            below = replace(found, location=_below(found.location, name))
            opened = opening.reader(below.location, below.settings)
            yield _examinee(below, opened, below.location.shown, sink, storage_options, opening)
        if not inside:
            yield _examinee(found, reader, text, sink, storage_options, opening)
    except HoldfastError as error:
        yield Unopened(text, error)


def _examinee(
    target: Target,
    reader: Reader,
    text: str,
    sink: str | Path | None,
    storage_options: Sequence[str],
    opening: Opening,
) -> Examinee:
    from holdfast.diagnosis.doctor.doctor import Examinee
    from holdfast.diagnosis.inspection.declaring import declared_job

    project, job = target.project, target.job
    declared = declared_sink_of(target)
    place, _ = sink_place(target, sink, declared, storage_options, opening.timeout)
    return Examinee(
        text,
        reader,
        target.location.url,
        target.location.scheme,
        _folder_opener(target, opening),
        place,
        declared_job(project, job) if project and job else None,
        recall_of(target, opening, runs=EXAMINED_RUNS, lease=True),
        partial(_exists_at, target, storage_options, opening),
        source_places(target, storage_options, opening),
    )


def _exists_at(
    target: Target, storage_options: Sequence[str], opening: Opening, path: str
) -> bool | None:
    """Tell whether a file exists at a path in the target's own storage; None where unknown."""
    folder, _, name = path.rpartition("/")
    try:
        location, settings = resolve_place(
            folder, target, storage_options=storage_options, relative_to=working_folder()
        )
        if location.scheme != target.location.scheme:
            return None
        return name in opening.reader(location, settings).names("")
    except HoldfastError:
        return None


def source_places(target: Target, storage_options: Sequence[str], opening: Opening) -> SourcePlaces:
    """Give where the sources of a target are; of a target that is no job the records tell it."""
    from holdfast.diagnosis.inspection.sources import SourcePlaces
    from holdfast.ledgers.delta.transactions import LOG_FOLDER

    project, job = target.project, target.job
    relative_to = project.folder if project is not None else working_folder()

    def open_table(path: str) -> tuple[str, Reader]:
        table, _ = resolve_place(
            path, target, storage_options=storage_options, relative_to=relative_to
        )
        log, settings = resolve_place(
            f"{path.rstrip('/')}/{LOG_FOLDER}",
            target,
            storage_options=storage_options,
            relative_to=relative_to,
        )
        return table.shown, opening.reader(log, settings)

    if project is None or job is None:
        return SourcePlaces(open_table)
    declared = project.shown_job(job).named_sources.values()
    paths = [
        path
        for one in declared
        if one.format.lower() == "delta" and (path := one.path or one.options.get("path"))
        if not has_reference(path)
    ]
    has_kafka = any(one.format.lower() == "kafka" for one in declared)
    kafka = partial(_kafka_options, project, job) if has_kafka else None
    return SourcePlaces(open_table, tuple(paths), kafka)


def _kafka_options(project: Project, job: str) -> tuple[Mapping[str, str], ...]:
    filled = project.filled_job(job).named_sources.values()
    return tuple(one.options for one in filled if one.format.lower() == "kafka")


def _folder_opener(target: Target, opening: Opening) -> Callable[[str], Reader] | None:
    """Give what opens another folder of the same storage; None for one that lies in no folder."""
    parent = target.location.url.rpartition("/")[0]
    if not target.location.is_local and (parent.endswith("/") or "://" not in parent):
        return None

    def open_folder(path: str) -> Reader:
        return opening.reader(replace(target.location, url=path), target.settings)

    return open_folder


def _below(location: Location, name: str) -> Location:
    text, url, shown = location.text, location.url, location.shown
    joined = [f"{one.rstrip('/')}/{name}" for one in (text, url, shown)]
    return replace(location, text=joined[0], url=joined[1], shown=joined[2])


def sink_place(
    target: Target,
    given: str | Path | None,
    declared: DeclaredSink | None,
    storage_options: Sequence[str],
    timeout: float | None,
) -> tuple[SinkPlace | None, Path | None]:
    """Give the sink to ask, and where its folder is if it lies on this machine."""
    from holdfast.diagnosis.inspection.sink.place import SinkPlace

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
    sees = None if given is not None or declared is None else _seeing(declared, *resolve(text))
    place = SinkPlace(location.shown, open_below, given is not None, open_beside, sees=sees)
    return place, local_folder(location)


def _unfilled_place(target: Target) -> SinkPlace | None:
    """Return a sink whose path cannot be filled in here, with the reason; None for any other."""
    from holdfast.diagnosis.inspection.sink.place import SinkPlace
    from holdfast.ledgers.asking import SinkMemory

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
) -> Callable[[str], SinkSight] | None:
    """Return how a start looks at a sink that is a folder, None for formats that are not ours."""
    from holdfast.ledgers.delta.sight import look_at_delta_table
    from holdfast.ledgers.files.manifests import log_of
    from holdfast.ledgers.files.output import FileOutput
    from holdfast.ledgers.files.sight import look_at_folder
    from holdfast.ledgers.sparkfilesink import FORMATS

    if declared.native:
        return None
    if declared.format == "delta":
        return partial(look_at_delta_table, location, settings)
    if declared.format in FORMATS:
        output = FileOutput(location, settings)
        return lambda query_id: look_at_folder(output, log_of(output), query_id)
    return None


def declared_sink_of(target: Target) -> DeclaredSink | None:
    """Give what the project file says of a job's sink, None for a target that is no job."""
    if target.project is None or target.job is None:
        return None
    from holdfast.jobs.declaredsink import declared_sink

    return declared_sink(target.project, target.job)


def ledger_place(
    target: Target, declared: DeclaredSink | None, timeout: float | None
) -> SinkPlace | None:
    """Give a sink that is no folder and can be asked by one question, None for any other."""
    if declared is None or not (declared.format in _NO_FOLDERS or _is_unread(declared)):
        return None
    from holdfast.diagnosis.inspection.sink.place import SinkPlace
    from holdfast.ledgers.asking import ask_function, untold
    from holdfast.ledgers.custom.batchledger import PART

    name = declared.identity or declared.format
    if declared.native:
        told = f"what Spark's own {declared.format} sink holds cannot be read without Spark"
        return SinkPlace(name, asked=partial(untold, name, told), kind=declared.format)
    if declared.format == "postgres":
        asked, sees = partial(_ask_database, target, name), partial(_see_database, target)
        return SinkPlace(name, asked=asked, kind=declared.format, sees=sees)
    if declared.format == "jdbc":
        told = "a jdbc sink's ledger can't be asked without Spark: it is asked when the job starts"
        return SinkPlace(name, asked=partial(untold, name, told), kind=declared.format)
    opening = Opening(timeout)
    try:
        ledger = part_of(beside(target.location), PART)
    except StorageError:
        return None
    opened = partial(opening.reader, ledger, target.settings)
    return SinkPlace(name, asked=partial(ask_function, name, opened), kind=declared.format)


def _is_unread(declared: DeclaredSink | None) -> bool:
    """Tell whether it is a sink of Spark's own whose log nobody here reads."""
    from holdfast.ledgers.sparkfilesink import FORMATS

    if declared is None or not declared.native:
        return False
    return declared.path is None or declared.format.lower() not in FORMATS | {"delta"}


def _ask_database(target: Target, name: str) -> SinkMemory:
    """Ask a PostgreSQL ledger; what keeps the address from being known is part of the answer."""
    from holdfast.ledgers.asking import SinkMemory, ask_postgres

    project, job = target.project, target.job
    assert project is not None and job is not None
    try:
        sink = project.filled_job(job).sink
    except ProjectError as error:
        return SinkMemory(name, failure=error, is_folder=False)
    assert sink.url is not None and sink.table is not None
    return ask_postgres(sink.url, sink.table, sink.options, project.at("jobs", job, "sink"))


def _see_database(target: Target, query_id: str) -> SinkSight:
    """Look at a PostgreSQL table as a start does; raise SinkError where that is not possible."""
    from holdfast.ledgers.asking import ASKED_SECONDS
    from holdfast.ledgers.database.address import postgres_address
    from holdfast.ledgers.database.postgres import PostgresLedger

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


def local_folder(location: Location) -> Path | None:
    """Give the folder of a place on this machine, None elsewhere."""
    return Path(location.url) if location.is_local else None


def open_recorded(
    target: str | Path,
    project: ProjectChoice,
    storage_options: Sequence[str],
    timeout: float | None,
    *,
    runs: int = 1,
    all_attempts: bool = False,
) -> tuple[Target, Reader, Recall]:
    """Find out which checkpoint is meant; open it, and what is recorded beside it."""
    opening = Opening(timeout)
    found = _resolved(target, project, storage_options)
    reader = opening.reader(found.location, found.settings)
    return found, reader, recall_of(found, opening, runs=runs, all_attempts=all_attempts)


def recall_of(
    target: Target,
    opening: Opening,
    *,
    runs: int = 1,
    lease: bool = False,
    all_attempts: bool = False,
) -> Recall:
    """Give what looks at the records of a target; nothing can be recorded beside a root."""
    from holdfast.diagnosis.inspection.runs.recorded import nothing, recall
    from holdfast.records.folder import records_of
    from holdfast.storage.canonical import canonical

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
    )


def open_target(
    target: str | Path,
    project: ProjectChoice,
    storage_options: Sequence[str],
    timeout: float | None,
) -> tuple[Target, Reader]:
    """Find out which checkpoint is meant, and open it for reading."""
    found = _resolved(target, project, storage_options)
    return found, open_reader(found.location, found.settings, timeout=timeout)


def _resolved(target: str | Path, project: ProjectChoice, storage_options: Sequence[str]) -> Target:
    return resolve_target(
        str(target),
        project=project,
        storage_options=storage_options,
        working_folder=working_folder(),
    )


def working_folder() -> Path:
    """Give the working directory; somebody may have removed it under us."""
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        message = "the working directory does not exist any more"
        raise NotFoundError("HF7001", message) from error
