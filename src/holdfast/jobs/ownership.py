"""Keeps a job off a checkpoint whose records say that it is another job's."""

from __future__ import annotations

from typing import Protocol

from holdfast.errors import ProjectError
from holdfast.jobs.ready import ReadyJob


class Recorded(Protocol):
    """What a record of a run says of the job that it was a run of."""

    @property
    def job(self) -> str: ...
    @property
    def project(self) -> str | None: ...


def check_owner(job: ReadyJob, recorded: Recorded | None) -> None:
    """Raise a ProjectError where the newest record of the job's checkpoint is another job's.

    A job that moves from a program into a project file, or back, keeps its name and so its
    checkpoint: only two projects that differ are two owners.
    """
    if recorded is None:
        return
    two_projects = None not in (job.project, recorded.project) and job.project != recorded.project
    if recorded.job == job.name and not two_projects:
        return
    owner, this = recorded.job, job.name
    if two_projects:
        owner, this = f"{owner} of project {recorded.project}", f"{this} of project {job.project}"
    message = f"{job.checkpoint.shown} belongs to the job {owner}; this is {this}"
    raise ProjectError("HF1118", message, at=job.at)
