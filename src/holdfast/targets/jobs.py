"""Finds the jobs of a project, and opens their checkpoints and sinks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, NoReturn

from holdfast.errors import HoldfastError, UsageError
from holdfast.jobs.discovery import ProjectChoice
from holdfast.jobs.target import Target, check_form, job_target
from holdfast.nearest import nearest
from holdfast.storage.options import StorageOptions
from holdfast.targets.opening import Opening, local_folder, recall_of, resolved, working_folder
from holdfast.targets.sinks import ledger_place, sink_place

if TYPE_CHECKING:
    from holdfast.diagnosis.inspection.sink.place import SinkPlace
    from holdfast.diagnosis.status.status import JobPlace
    from holdfast.jobs.projectfile.model import Project
    from holdfast.jobs.target import DeclaredSink


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
    trigger = project.jobs[name].trigger.processing_time or "available now"
    described = partial(JobPlace, job=name, sink=sink.format, sink_identity=sink.identity,
                        trigger=trigger, native=sink.native)  # fmt: skip
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
    )


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
