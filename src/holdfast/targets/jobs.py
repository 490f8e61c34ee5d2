"""Finds the jobs of a project, and the checkpoints that the doctor is to examine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from holdfast.errors import HoldfastError, UsageError
from holdfast.jobs.discovery import ProjectChoice
from holdfast.jobs.projectfile.substitution import has_reference
from holdfast.jobs.target import Target, check_form, job_target, resolve_place
from holdfast.storage.location import Location
from holdfast.storage.options import StorageOptions
from holdfast.storage.reading import Reader
from holdfast.targets.opening import (
    Opening,
    declared_job_of,
    declared_sink_of,
    ledger_place,
    local_folder,
    recall_of,
    resolved,
    sink_place,
    working_folder,
)
from holdfast.wording import nearest

if TYPE_CHECKING:
    from holdfast.diagnosis.doctor.doctor import Examinee, Unopened
    from holdfast.diagnosis.inspection.sources import SourcePlaces
    from holdfast.diagnosis.status.status import JobPlace
    from holdfast.jobs.projectfile.model import Project
    from holdfast.jobs.target import DeclaredSink
    from holdfast.ledgers.reading import SinkPlace


def jobs_of(project: ProjectChoice) -> list[str]:
    """Name every job of the project, in its order."""
    return list(_project_with_jobs(project).jobs)


def job_named(text: str, project: ProjectChoice) -> str | None:
    """Return the job of the project that a target is; None for a path, and where nobody can say."""
    try:
        return resolved(text, project, ()).job
    except HoldfastError:
        return None


def job_places(
    names: Sequence[str],
    project: ProjectChoice,
    storage_options: StorageOptions,
    timeout: float | None,
) -> tuple[str, list[JobPlace]]:
    """Return the project's name and its jobs, or those that are named, ready to be looked at."""
    check_form(storage_options)
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
    storage_options: StorageOptions,
    opening: Opening,
) -> JobPlace:
    from holdfast.diagnosis.status.status import SHOWN_RUNS, JobPlace
    from holdfast.jobs.target import declared_sink

    sink = declared_sink(project, name)
    backup = project.jobs[name].backup
    trigger = project.jobs[name].trigger.processing_time or "available now"
    described = partial(JobPlace, job=name, sink=sink.format, sink_identity=sink.identity,
                        trigger=trigger, native=sink.native,
                        backup_every=None if backup is None else backup.every)  # fmt: skip
    try:
        target = job_target(name, project, storage_options)
    except HoldfastError as error:
        return described(location=error.at or name, open_checkpoint=partial(_raise, error))
    return described(
        location=target.location.shown,
        folder=local_folder(target.location),
        open_checkpoint=partial(opening.reader, target.location, target.settings),
        recall=recall_of(target, opening, runs=SHOWN_RUNS, lease=True),
        ledger=ledger_place(target, sink, opening.timeout),
        output=_file_output(target, sink, storage_options, opening.timeout),
        newest_backup=partial(_newest_backup, target),
    )


def _newest_backup(target: Target) -> str | None:
    from holdfast.backup.snapshot import rfc3339
    from holdfast.records.folder import records_of
    from holdfast.running.backups import newest_backup_ms

    made = newest_backup_ms(records_of(target.location, target.settings))
    return None if made is None else rfc3339(made)


def _file_output(
    target: Target,
    declared: DeclaredSink,
    storage_options: StorageOptions,
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
        raise UsageError("HF1002", "no target given, and the project declares no job")
    return loaded


def _no_such_job(name: str, jobs: list[str]) -> UsageError:
    near = nearest(name, jobs)
    hint = f"; did you mean {near}?" if near else ""
    step = f"give one of the jobs ({', '.join(sorted(jobs))})"
    return UsageError("HF1002", f"the project has no job {name}{hint}", next_steps=(step,))


EXAMINED_RUNS = 10
"""How many of the newest runs the doctor looks at."""


def each_once(examinees: list[Examinee | Unopened]) -> list[Examinee | Unopened]:
    """Keep the first of those that are the same place: it is no copy of itself."""
    by_place = {getattr(one, "path", one.target): one for one in reversed(examinees)}
    return list(reversed(by_place.values()))


def examinees_of(
    text: str,
    sink: str | Path | None,
    project: ProjectChoice,
    storage_options: StorageOptions,
    timeout: float | None,
) -> Iterator[Examinee | Unopened]:
    """Open one target, or every checkpoint of a base folder; what can't be opened says why."""
    from holdfast.diagnosis.doctor.doctor import Unopened, checkpoints_below

    try:
        opening = Opening(timeout)
        found = resolved(text, project, storage_options)
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


def examinee_of(
    target: Target, text: str, storage_options: StorageOptions, sink: str | None = None
) -> Examinee:
    """Open one checkpoint with everything around it; nothing is read yet."""
    opening = Opening(None)
    reader = opening.reader(target.location, target.settings)
    return _examinee(target, reader, text, sink, storage_options, opening)


def _examinee(
    target: Target,
    reader: Reader,
    text: str,
    sink: str | Path | None,
    storage_options: StorageOptions,
    opening: Opening,
) -> Examinee:
    from holdfast.diagnosis.doctor.doctor import Examinee

    declared = declared_sink_of(target)
    place, _ = sink_place(target, sink, declared, storage_options, opening.timeout)
    return Examinee(
        target=text,
        reader=reader,
        path=target.location.url,
        scheme=target.location.scheme,
        open_folder=_folder_opener(target, opening),
        sink=place,
        job=declared_job_of(target),
        recall=recall_of(target, opening, runs=EXAMINED_RUNS, lease=True, recordings=True),
        exists_at=partial(_exists_at, target, storage_options, opening),
        sources=source_places(target, storage_options, opening),
    )


def _exists_at(
    target: Target, storage_options: StorageOptions, opening: Opening, path: str
) -> bool | None:
    """Return whether a file exists at a path in the target's own storage; None where unknown."""
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


def source_places(
    target: Target, storage_options: StorageOptions, opening: Opening
) -> SourcePlaces:
    """Return where the sources of a target are; of a target that is no job the records tell it."""
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

    def names_in(folder: str) -> frozenset[str] | None:
        try:
            place, settings = resolve_place(
                folder, target, storage_options=storage_options, relative_to=relative_to
            )
            is_known = project is not None or place.is_local
            if not is_known and place.scheme != target.location.scheme:
                return None
            return opening.reader(place, settings).names("")
        except HoldfastError:
            return None

    if project is None or job is None:
        return SourcePlaces(open_table, names_in=names_in)
    declared = project.shown_job(job).named_sources.values()
    paths = [
        path
        for one in declared
        if one.format.lower() == "delta" and (path := one.path or one.options.get("path"))
        if not has_reference(path)
    ]
    has_kafka = any(one.format.lower() == "kafka" for one in declared)
    kafka = partial(_kafka_options, project, job) if has_kafka else None
    return SourcePlaces(open_table, tuple(paths), kafka, names_in, here=True)


def _kafka_options(project: Project, job: str) -> tuple[Mapping[str, str], ...]:
    filled = project.filled_job(job).named_sources.values()
    return tuple(one.options for one in filled if one.format.lower() == "kafka")


def _folder_opener(target: Target, opening: Opening) -> Callable[[str], Reader] | None:
    """Return what opens another folder of the same storage; None for one that lies in no folder."""
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
