"""The figures of jobs as `status` sees them: from checkpoints and records."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.diagnosis.inspection.runs.shown import BatchShown, RunShown
from holdfast.diagnosis.status.result import JobState, JobStatus, LeaseShown, Status
from holdfast.metrics.figures import JobFigures, LastRun
from holdfast.records.leasesight import Standing
from holdfast.records.moments import epoch_seconds
from holdfast.records.run import Measures

_FAILED = frozenset({JobState.FAILED, JobState.REFUSED, JobState.LOST_LEASE, JobState.KILLED})
_ENDED = _FAILED | {JobState.FINISHED, JobState.STOPPED, JobState.SKIPPED}
_UNKNOWN = frozenset({JobState.UNCLEAR, JobState.UNREADABLE})
"""One look cannot say whether a driver runs."""


def figures_of_status(status: Status, now: float) -> Iterator[JobFigures]:
    """Yield the figures of every job, in the order of the project file."""
    for job in status.jobs:
        yield _figures(status.project, job, now)


def _figures(project: str, job: JobStatus, now: float) -> JobFigures:
    unknown, batch = job.state in _UNKNOWN, job.newest_batch
    return JobFigures(
        project=project,
        job=job.job,
        state=job.state.value,
        up=None if unknown else job.state is JobState.RUNNING,
        ended=None if unknown else job.state in _ENDED,
        failed=None if unknown else job.state in _FAILED,
        batch_id=job.last_committed,
        batch_rows=None if batch is None else batch.rows,
        pending=job.pending,
        committed=_committed(batch),
        measures=None if batch is None else _measures(batch),
        lease_held=_held(job.lease),
        generation=None if job.lease is None else job.lease.generation,
        last_run=_last_run(job.runs[0]) if job.runs else None,
        looked_at=now,
    )


def _committed(batch: BatchShown | None) -> float | None:
    if batch is None or batch.committed_at is None:
        return None
    return epoch_seconds(batch.committed_at)


def _measures(batch: BatchShown) -> Measures:
    # Older records know how long the whole batch took, and nothing else.
    phases = {"triggerExecution": batch.seconds, **batch.phase_seconds}
    return Measures(batch.batch_id, phases, batch.state, batch.lag)


def _held(lease: LeaseShown | None) -> bool | None:
    if lease is None:
        return False
    return None if lease.state is Standing.UNCLEAR else lease.state is Standing.HELD


def _last_run(run: RunShown) -> LastRun:
    return LastRun(run.batches, run.rows, run.skipped_batches, run.seconds)
