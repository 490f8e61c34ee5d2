"""The figures of jobs as a run sees them: from what happens, kept for whoever asks."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from holdfast.jobs.ready import ReadyJob
from holdfast.metrics.figures import Counted, JobFigures
from holdfast.records.run import Ended
from holdfast.spark.events import (
    BatchDone,
    Event,
    JobEnded,
    JobRestarting,
    JobStarted,
    JobStarting,
    JobWaitingForUpstream,
)

_FAILED = frozenset({Ended.FAILED, Ended.REFUSED, Ended.LOST_LEASE})


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
            known, state=event.ended.value, up=False, ended=True, failed=event.ended in _FAILED,
            lease_held=False,
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
