"""Finds out what is to be run: jobs of a project or of a program, and the Spark they need."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.errors import UsageError
from holdfast.jobs.readying import ready_job
from holdfast.jobs.target import settings_at
from holdfast.spark.features import features_of
from holdfast.spark.settings import SessionWish
from holdfast.storage.location import parse_location

if TYPE_CHECKING:
    from holdfast.jobs.project import Project
    from holdfast.jobs.ready import ReadyJob

_S3 = parse_location("s3://any/where")


def jobs_of_project(project: Project, names: Sequence[str]) -> tuple[ReadyJob, ...]:
    """Make the named jobs ready, or all of them; a name that there is not is an error."""
    if not project.jobs:
        raise UsageError("HF1002", "the project declares no job", at=project.at("jobs"))
    for name in names:
        if name not in project.jobs:
            near = difflib.get_close_matches(name, project.jobs, n=1, cutoff=0.5)
            hint = f"; is {near[0]} meant?" if near else ""
            steps = (f"the jobs are {', '.join(project.jobs)}",)
            raise UsageError("HF1002", f"{name} is no job of the project{hint}", next_steps=steps)
    chosen = [name for name in project.jobs if not names or name in names]
    return tuple(ready_job(project, name) for name in chosen)


def session_of_project(
    project: Project, jobs: Sequence[ReadyJob], *, offline: bool, ui: bool, verbose: bool
) -> SessionWish:
    """Give the Spark that the project declares, with what these jobs need."""
    conf = project.spark.conf
    return SessionWish(
        name=project.project,
        master=project.spark.master,
        conf={name: project.filled_in(text, "spark", "conf", name) for name, text in conf.items()},
        jars=project.spark.jars,
        features=features_of(jobs),
        folder=project.folder.absolute(),
        storage=settings_at(_S3, project),
        offline=offline,
        ui=ui,
        verbose=verbose,
        jars_at=project.at("spark", "jars"),
    )


def session_of_program(
    jobs: Sequence[ReadyJob], folder: Path, *, offline: bool, ui: bool, verbose: bool
) -> SessionWish:
    """Give a Spark for jobs that a program declares: its own, else all cores of this machine."""
    return SessionWish(
        name=jobs[0].name,
        any_master=True,
        features=features_of(jobs),
        folder=folder,
        offline=offline,
        ui=ui,
        verbose=verbose,
    )
