"""The figures of one job at one moment: from the events of a run, or from `status`."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from holdfast.diagnosis.inspection.runs.restarts import BatchShown, RunShown
from holdfast.diagnosis.status.result import JobState, JobStatus, LeaseShown, Status
from holdfast.jobs.ready import ReadyJob
from holdfast.records.leases.state import Standing
from holdfast.records.moments import epoch_seconds
from holdfast.records.run import Ended, Measures
from holdfast.running.report import (
    BatchDone,
    Event,
    JobEnded,
    JobRestarting,
    JobStarted,
    JobStarting,
    JobWaitingForUpstream,
)


@dataclass(frozen=True)
class Counted:
    """What one process counted since it started."""

    batches: int = 0
    rows: int = 0
    skipped_batches: int = 0
    restarts: int = 0


@dataclass(frozen=True)
class LastRun:
    """The newest recorded run as a whole."""

    batches: int
    rows: int
    skipped_batches: int
    seconds: float


@dataclass(frozen=True)
class JobFigures:
    """Everything that metrics show of one job; None is unknown, and is not shown."""

    project: str
    job: str
    state: str
    up: bool | None
    ended: bool | None
    failed: bool | None
    batch_id: int | None = None
    """The newest committed batch."""
    batch_rows: int | None = None
    pending: int | None = None
    """A batch that is planned and not committed."""
    committed: float | None = None
    """When the newest commit was made, in seconds since 1970."""
    measures: Measures | None = None
    """What Spark measured in the newest batch."""
    lease_held: bool | None = None
    generation: int | None = None
    counted: Counted | None = None
    last_run: LastRun | None = None
    looked_at: float | None = None
    """When `status` looked at it, in seconds since 1970."""


_FAILED_RUNS = frozenset({Ended.FAILED, Ended.REFUSED, Ended.LOST_LEASE})


class LiveFigures:
    """What is known of the jobs of a run. Jobs that ended stay.

    A scrape copies references under the lock and makes its text after that, so that no event ever
    waits for a scraper.
    """

    def __init__(
        self, jobs: Iterable[ReadyJob], delivering: Callable[[], Mapping[str, int | None]]
    ) -> None:
        self._lock = threading.Lock()
        self._delivering = delivering
        self._figures = {
            job.name: JobFigures(
                job.project or "", job.name, "waiting", up=False, ended=False, failed=False,
                lease_held=False, counted=Counted(),
            )
            for job in jobs
        }  # fmt: skip

    def take(self, event: Event) -> None:
        """Take what happened to a job; what concerns all of them changes nothing."""
        if event.job is None:
            return
        with self._lock:
            known = self._figures.get(event.job)
            if known is not None:
                self._figures[event.job] = _after(known, event)

    def now(self) -> list[JobFigures]:
        """Return the figures of all jobs, with the batches that are delivered right now."""
        delivering = self._delivering()
        with self._lock:
            figures = list(self._figures.values())
        return [_with_delivery(one, delivering.get(one.job)) for one in figures]


def _with_delivery(figures: JobFigures, batch: int | None) -> JobFigures:
    return figures if batch is None else replace(figures, pending=batch)


def _after(known: JobFigures, event: Event) -> JobFigures:
    """Return the figures of a job after something happened to it."""
    if isinstance(event, JobStarting):
        return replace(known, state="starting", ended=False, failed=False)
    if isinstance(event, JobWaitingForUpstream):
        return replace(known, state="waiting")
    if isinstance(event, JobStarted):
        return replace(
            known, state="running", up=True, ended=False, failed=False, lease_held=True,
            generation=event.generation, pending=event.next_batch,
        )  # fmt: skip
    if isinstance(event, BatchDone):
        return _after_batch(known, event)
    if isinstance(event, JobEnded):
        return replace(
            known, state=event.ended.value, up=False, ended=True,
            failed=event.ended in _FAILED_RUNS, lease_held=False,
        )  # fmt: skip
    if isinstance(event, JobRestarting):
        counted = known.counted or Counted()
        counted = replace(counted, restarts=counted.restarts + 1)
        return replace(known, state="restarting", ended=False, failed=False, counted=counted)
    return known


def _after_batch(known: JobFigures, event: BatchDone) -> JobFigures:
    counted, batch = known.counted or Counted(), event.batch
    return replace(
        known,
        batch_id=batch.batch_id,
        batch_rows=batch.rows,
        pending=None,
        committed=time.time(),
        measures=event.measures,
        counted=replace(
            counted,
            batches=counted.batches + 1,
            rows=counted.rows + batch.rows,
            skipped_batches=counted.skipped_batches + batch.skipped,
        ),
    )


_FAILED_JOBS = frozenset(
    {JobState.FAILED, JobState.REFUSED, JobState.LOST_LEASE, JobState.KILLED, JobState.GONE}
)
_ENDED = _FAILED_JOBS | {
    JobState.FINISHED, JobState.STOPPED, JobState.SKIPPED, JobState.RESTORED, JobState.REMEDIED,
}  # fmt: skip
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
        failed=None if unknown else job.state in _FAILED_JOBS,
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
