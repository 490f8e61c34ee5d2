"""Reports a job that was not started: refused, or left out."""

from __future__ import annotations

from holdfast.errors import (
    CheckpointError,
    HoldfastError,
    LeaseError,
    ProjectError,
    RefusedError,
)
from holdfast.jobs.ready import ReadyJob
from holdfast.records.run import Ended
from holdfast.spark.events import JobEnded, Watcher
from holdfast.spark.failures import failure_of
from holdfast.spark.report import JobReport, Outcome

_REFUSALS = (CheckpointError, LeaseError, ProjectError, RefusedError)


def refusal(job: ReadyJob, error: HoldfastError, watch: Watcher, seconds: float = 0.0) -> Outcome:
    """Give the outcome of a job that an error kept from starting."""
    ended = Ended.REFUSED if isinstance(error, _REFUSALS) else Ended.FAILED
    trace = getattr(error, "trace", None)
    watch(JobEnded(job.name, ended, 0, 0, seconds, error.message, trace))
    report = JobReport(
        job.name, None, None, None, 0, 0, 0, ended, seconds, job.checkpoint.shown,
        failure=failure_of(error, error),
    )  # fmt: skip
    return Outcome(report, error)


def left_out(job: ReadyJob, watch: Watcher, ended: Ended, why: str) -> Outcome:
    """Give the outcome of a job that was not started although nothing is wrong with it."""
    watch(JobEnded(job.name, ended, 0, 0, 0.0, why))
    place = job.checkpoint.shown
    return Outcome(JobReport(job.name, None, None, None, 0, 0, 0, ended, 0.0, place))
