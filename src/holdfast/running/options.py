"""What a run is asked for: the jobs, the Spark that they need, and what counts for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.errors import UsageError
from holdfast.findings import Finding
from holdfast.jobs.discovery import ProjectChoice
from holdfast.jobs.endpoints import ready_places
from holdfast.jobs.lineage import changed_tables, downstream_jobs
from holdfast.jobs.readying import ready_job
from holdfast.jobs.target import settings_at
from holdfast.records.run import Versions
from holdfast.restart.acceptance import SHARED_MOUNT
from holdfast.running.report import JobOutcome, Watcher
from holdfast.running.settings import S3, SessionOptions, features_of
from holdfast.running.stopping import GRACE_SECONDS, Stopping
from holdfast.storage.location import parse_location
from holdfast.storage.options import StorageSettings
from holdfast.wording import nearest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from holdfast.jobs.built import Job
    from holdfast.jobs.projectfile.model import Project
    from holdfast.jobs.ready import ReadyJob
    from holdfast.spark.session.jvm import Jvm


@dataclass(frozen=True)
class RunOptions:
    """What the user asked for, for every job of the run."""

    accepted: frozenset[str] = frozenset()
    """Findings that are accepted by name."""
    pending: bool | None = None
    """Whether the pending batch of an adopted checkpoint was delivered; None says nothing."""
    grace_seconds: float = GRACE_SECONDS
    settings: Mapping[str, str] = field(default_factory=dict)
    """The Spark settings of the project; of those that are kept, the open session's."""
    noted: tuple[Finding, ...] = ()
    """What every job of the run reports about the session."""
    keep_running: bool = False
    """Start a job again that failed for a reason that passes."""
    fail_fast: bool = False
    """Stop all jobs when one has failed for good."""

    most_batches: int | None = None
    """How many batches may be delivered; the one after them is left pending, and the job stops."""

    again: bool = False
    """This start is a restart within the run."""

    def for_restart(self) -> RunOptions:
        """Return what a restart is given: what was accepted or stated held for the first start.

        What is a mount of all machines stays one.
        """
        return replace(self, accepted=self.accepted & {SHARED_MOUNT}, pending=None, again=True)


Abandon = Callable[[], JobOutcome]
"""Ends a life whose code does not return, and returns what it did until then."""


def _kept(_abandon: Abandon) -> None:
    """Never end a life from outside."""


@dataclass(frozen=True)
class RunContext:
    """What every job of a run is given."""

    session: SparkSession
    jvm: Jvm
    versions: Versions
    options: RunOptions
    stopping: Stopping
    watch: Watcher
    abandonable: Callable[[Abandon], None] = _kept
    """Is told how a life that runs is ended from outside, where its code does not return."""


_S3 = parse_location("s3://any/where")


def requested_jobs(
    jobs: Sequence[str | Job],
    project: ProjectChoice,
    *,
    working_folder: Path,
    offline: bool,
    ui: bool,
    verbose: bool,
    kept: tuple[str, ...] = (),
) -> tuple[tuple[ReadyJob, ...], SessionOptions]:
    """Find the jobs to run and the Spark that they need."""
    names = [job for job in jobs if isinstance(job, str)]
    declared = tuple(job.ready() for job in jobs if not isinstance(job, str))
    if names and declared:
        message = "jobs of the project file and jobs of a program cannot run in the same call"
        raise UsageError("HF1001", message, next_steps=("run them one after the other",))
    if declared and project.is_explicit:
        message = "a profile applies to jobs of the project file, not to jobs of a program"
        raise UsageError("HF1001", message)
    if declared:
        declared = with_changed_tables(declared)
        options = session_of_program(
            declared, working_folder, offline=offline, ui=ui, verbose=verbose
        )
        return declared, replace(options, kept=kept)
    loaded = project.load_required(working_folder)
    ready = jobs_of_project(loaded, names)
    options = session_of_project(loaded, ready, offline=offline, ui=ui, verbose=verbose)
    return ready, replace(options, kept=kept)


def with_changed_tables(jobs: Sequence[ReadyJob]) -> tuple[ReadyJob, ...]:
    """Return jobs of a program, each with what it has to do with the others of them."""
    places = {job.name: ready_places(job) for job in jobs}
    return tuple(
        replace(
            job,
            changed_tables=changed_tables(places[job.name], places.values()),
            downstream=partial(downstream_jobs, job.name, places),
        )
        for job in jobs
    )


def jobs_of_project(project: Project, names: Sequence[str]) -> tuple[ReadyJob, ...]:
    """Make the named jobs ready, or all of them; a name that there is not is an error."""
    if not project.jobs:
        raise UsageError("HF1002", "the project declares no job", at=project.at("jobs"))
    for name in names:
        if name not in project.jobs:
            near = nearest(name, project.jobs)
            hint = f"; did you mean {near}?" if near else ""
            steps = (f"the jobs are {', '.join(project.jobs)}",)
            raise UsageError("HF1002", f"the project has no job {name}{hint}", next_steps=steps)
    chosen = [name for name in project.jobs if not names or name in names]
    return tuple(ready_job(project, name) for name in chosen)


def session_of_project(
    project: Project, jobs: Sequence[ReadyJob], *, offline: bool, ui: bool, verbose: bool
) -> SessionOptions:
    """Return the Spark that the project declares, with what these jobs need."""
    conf, features = project.spark.conf, features_of(jobs)
    # A secret of a storage that no job uses need not be there.
    storage = settings_at(_S3, project) if S3 in features else StorageSettings()
    return SessionOptions(
        name=project.project,
        master=project.filled_in(project.spark.master, "spark", "master"),
        conf={name: project.filled_in(text, "spark", "conf", name) for name, text in conf.items()},
        jars=tuple(
            project.filled_in(jar, "spark", "jars", at) for at, jar in enumerate(project.spark.jars)
        ),
        features=features,
        folder=project.folder.absolute(),
        storage=storage,
        offline=offline,
        ui=ui,
        verbose=verbose,
        master_at=project.at("spark", "master"),
        jars_at=project.at("spark", "jars"),
    )


def session_of_program(
    jobs: Sequence[ReadyJob], folder: Path, *, offline: bool, ui: bool, verbose: bool
) -> SessionOptions:
    """Return a Spark for jobs that a program declares: its own, else all cores of this machine."""
    return SessionOptions(
        name=jobs[0].name,
        any_master=True,
        features=features_of(jobs),
        folder=folder,
        offline=offline,
        ui=ui,
        verbose=verbose,
    )
