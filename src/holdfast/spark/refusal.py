"""Reports a job that was not started: refused, or left out; and records the attempt."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from holdfast import __version__
from holdfast.errors import (
    CheckpointError,
    HoldfastError,
    LeaseError,
    ProjectError,
    RefusedError,
    StorageError,
)
from holdfast.findings import Finding, Place, Severity
from holdfast.jobs.ready import ReadyJob
from holdfast.records.attempts import Attempt, Attempts
from holdfast.records.folder import records_of
from holdfast.records.history import History
from holdfast.records.holder import this_holder
from holdfast.records.moments import moment_now
from holdfast.records.run import Ended
from holdfast.spark.events import JobEnded, Watcher
from holdfast.spark.failures import failure_of
from holdfast.spark.report import JobReport, Outcome

DID_NOT_RETURN = "stopped at once; its code did not return"
_REFUSALS = (CheckpointError, LeaseError, ProjectError, RefusedError)


@contextmanager
def attempt_recorded(*jobs: ReadyJob, spark: str | None = None) -> Iterator[None]:
    """Record an error that ends the start of these jobs; it is raised as it is.

    For errors before a run has a record of its own. An attempt that cannot be recorded is noted in
    the error and never hides it.
    """
    try:
        yield
    except HoldfastError as error:
        for job in jobs:
            _record(job, error, spark)
        raise


def _record(job: ReadyJob, error: HoldfastError, spark: str | None) -> None:
    holder = this_holder(None)
    records = records_of(job.checkpoint, job.settings)
    attempt = Attempt(
        at=moment_now(),
        job=job.name,
        project=job.project,
        ended=_ended(error),
        code=error.code.number,
        message=error.message,
        exit_status=error.exit_status,
        page=error.page,
        why=error.why,
        next=error.next_steps,
        place=error.at,
        host=holder.host,
        process=holder.python.number,
        user=holder.user,
        holdfast=__version__,
        spark=spark,
    )
    try:
        attempt = replace(attempt, after=History(records).newest_generation())
        Attempts(records).write(attempt)
    except StorageError as failure:
        error.unrecorded = failure


def refusal(job: ReadyJob, error: HoldfastError, watch: Watcher, seconds: float = 0.0) -> Outcome:
    """Give the outcome of a job that an error kept from starting."""
    ended = _ended(error)
    trace = getattr(error, "trace", None)
    watch(JobEnded(job.name, ended, 0, 0, seconds, error.message, trace))
    report = JobReport(
        job.name, None, None, None, 0, 0, 0, ended, seconds, job.checkpoint.shown,
        failure=failure_of(error, error),
    )  # fmt: skip
    return Outcome(report, error, tuple(_unrecorded(job, error)))


def _ended(error: HoldfastError) -> Ended:
    return Ended.REFUSED if isinstance(error, _REFUSALS) else Ended.FAILED


def _unrecorded(job: ReadyJob, error: HoldfastError) -> Iterator[Finding]:
    """Report that `status` and `evidence` will not show the attempt."""
    if error.unrecorded is None:
        return
    message = f"the attempt to start {job.name} could not be recorded: {error.unrecorded.message}"
    place = Place("", root=error.unrecorded.at)
    yield Finding("HF2616", Severity.INFO, message, place, {"job": job.name})


def left_out(job: ReadyJob, watch: Watcher, ended: Ended, why: str) -> Outcome:
    """Give the outcome of a job that was not started although nothing is wrong with it."""
    watch(JobEnded(job.name, ended, 0, 0, 0.0, why))
    place = job.checkpoint.shown
    return Outcome(JobReport(job.name, None, None, None, 0, 0, 0, ended, 0.0, place))
