"""Admits a job or refuses it before Spark is needed; a refused attempt is recorded."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from holdfast import __version__
from holdfast.diagnosis.checks.declared.declarations import changing_sources
from holdfast.diagnosis.checks.location import WrittenPlaces, emptied_place, on_own_disks
from holdfast.errors import (
    CheckpointError,
    HoldfastError,
    LeaseError,
    ProjectError,
    RefusedError,
    SinkError,
    StorageError,
)
from holdfast.findings import Finding, Place, Severity
from holdfast.jobs.ownership import check_place
from holdfast.jobs.ready import ReadyJob
from holdfast.jobs.registry import check_remembered
from holdfast.records.busy import is_busy
from holdfast.records.folder import RecordsFolder, records_of
from holdfast.records.history import History
from holdfast.records.journal import interrupted, unfinished_act
from holdfast.records.leases.taking import refuse_held
from holdfast.records.moments import moment_now
from holdfast.records.processes import this_holder
from holdfast.records.run import Ended
from holdfast.records.starts import Attempt, Attempts
from holdfast.restart.acceptance import refuse_unaccepted
from holdfast.running.events import JobEnded, Watcher
from holdfast.running.report import JobOutcome, JobReport, failure_record
from holdfast.storage.opening import open_reader

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
        # A refusal may be about the very path of the checkpoint, which then is not made.
        own = job.folder if job.project is not None and attempt.ended is Ended.FAILED else None
        Attempts(records).write(attempt, project=own)
    except StorageError as failure:
        error.unrecorded = failure


def refused_outcome(
    job: ReadyJob, error: HoldfastError, watch: Watcher, seconds: float = 0.0
) -> JobOutcome:
    """Return the outcome of a job that an error kept from starting."""
    ended = _ended(error)
    trace = getattr(error, "trace", None)
    watch(JobEnded(job.name, ended, 0, 0, seconds, error.message, trace))
    report = JobReport(
        job.name, None, None, None, 0, 0, 0, ended, seconds, job.checkpoint.shown,
        failure=failure_record(error),
    )  # fmt: skip
    return JobOutcome(report, error, tuple(_unrecorded(job, error)))


def _ended(error: HoldfastError) -> Ended:
    return Ended.REFUSED if isinstance(error, _REFUSALS) else Ended.FAILED


def _unrecorded(job: ReadyJob, error: HoldfastError) -> Iterator[Finding]:
    """Report that `status` and `evidence` will not show the attempt."""
    if error.unrecorded is None:
        return
    message = f"the attempt to start {job.name} could not be recorded: {error.unrecorded.message}"
    place = Place("", root=error.unrecorded.at)
    yield Finding("HF2616", Severity.INFO, message, place, {"job": job.name})


def unstarted_outcome(job: ReadyJob, watch: Watcher, ended: Ended, why: str) -> JobOutcome:
    """Return the outcome of a job that was not started although nothing is wrong with it."""
    watch(JobEnded(job.name, ended, 0, 0, 0.0, why))
    place = job.checkpoint.shown
    return JobOutcome(JobReport(job.name, None, None, None, 0, 0, 0, ended, 0.0, place))


def admit(job: ReadyJob, accepted: Collection[str] = (), master: str = "local") -> None:
    """Raise HoldfastError where the job must not start; the attempt is recorded, nothing else.

    `master` is where Spark will run; the default keeps questions about it for the start.
    """
    with attempt_recorded(job):
        if job.project is not None:
            check_remembered(job)
        check_place(job, open_reader(job.checkpoint, job.settings))
        records = records_of(job.checkpoint, job.settings)
        refuse_held(records)
        refuse_half_changed(job, records)
        refuse_file_as_output(job)
        # Known without Spark, so that nobody waits for it; the start asks again and records it.
        local = on_own_disks(master, written_places(job), has_state=False)
        refuse_unaccepted([*changing_sources(job.changed_tables), *local], accepted, job.at)


def refuse_file_as_output(job: ReadyJob) -> None:
    """Raise HF5006 where the sink's directory is a file of this machine."""
    output = job.sink.location
    if output is not None and output.is_local and Path(output.url).is_file():
        message = f"the sink's path is a file, not a directory: {output.shown}"
        raise SinkError("HF5006", message, at=job.sink.at)


def emptied(job: ReadyJob) -> tuple[Finding, ...]:
    """Return what is said of a project's job whose checkpoint is in a temporary directory."""
    if job.project is None or not job.checkpoint.is_local:
        return ()
    return tuple(emptied_place(job.checkpoint.url, str(job.folder)))


def written_places(job: ReadyJob) -> WrittenPlaces:
    """Return where tasks of a job write on this machine."""
    output, checkpoint = job.sink.location, job.checkpoint
    return WrittenPlaces(
        output.shown if output is not None and output.is_local else None,
        checkpoint.shown if checkpoint.is_local else None,
    )


def refuse_half_changed(job: ReadyJob, records: RecordsFolder) -> None:
    """Raise where an act on the checkpoint is under way, or was interrupted.

    Asked before Spark starts, to fail early, and again under the lease, where the answer holds: a
    job's turn may come hours after it was admitted.
    """
    act = unfinished_act(records.place("journal"), records.reader("runs"))
    if act is None:
        return
    if is_busy(records.place("backups")):
        message = f"the {act.kind} {act.id} is running on the checkpoint"
        raise CheckpointError("HF4507", message, at=job.checkpoint.shown)
    act_error = interrupted(act, job.checkpoint.shown)
    raise CheckpointError(
        act_error.code, act_error.message, at=job.checkpoint.shown, next_steps=act_error.next_steps
    )
