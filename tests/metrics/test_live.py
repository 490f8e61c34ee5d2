"""The figures of a run follow from what happens in it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from holdfast.metrics.figures import JobFigures, LiveFigures
from holdfast.records.run import BatchNote, Ended
from holdfast.running.report import (
    BatchDone,
    JobEnded,
    JobRestarting,
    JobStarted,
    JobStarting,
    JobWaitingForUpstream,
    RecordFailing,
    RunStep,
)
from tests.metrics.jobs import MEASURES
from tests.spark.readyjobs import job

NOTE = BatchNote(7, 1200, "2026-11-16T05:00:00.000Z", 1.25)
STARTED = JobStarted("orders", "q", "r", 4, 7, ())
DONE = BatchDone("orders", NOTE, 1, 1200, 960.0, None, MEASURES)


class Run:
    """One job, and the batch that is being delivered."""

    def __init__(self) -> None:
        self.delivering: int | None = None
        orders = replace(job(Path("/nowhere")), name="orders", project="shop")
        self.live = LiveFigures([orders], lambda: {"orders": self.delivering})

    def after(self, *events: Any) -> JobFigures:
        """Return the figures after some events."""
        for event in events:
            self.live.take(event)
        (figures,) = self.live.now()
        return figures


def test_a_job_is_visible_before_it_starts() -> None:
    figures = Run().after(RunStep("starting Spark"))
    assert (figures.project, figures.job, figures.state) == ("shop", "orders", "waiting")
    assert (figures.up, figures.ended, figures.failed) == (False, False, False)
    assert figures.batch_id is None and figures.committed is None


def test_a_run_that_goes_well() -> None:
    run = Run()
    assert run.after(JobWaitingForUpstream("orders", ("raw",))).state == "waiting"
    assert run.after(JobStarting("orders")).state == "starting"
    started = run.after(STARTED)
    assert (started.state, started.up, started.lease_held) == ("running", True, True)
    assert (started.generation, started.pending) == (4, 7)
    done = run.after(DONE)
    assert (done.batch_id, done.batch_rows, done.pending) == (7, 1200, None)
    assert done.measures is MEASURES and done.committed is not None
    run.delivering = 8
    assert run.after().pending == 8
    run.delivering = None
    skipped = replace(NOTE, batch_id=8, skipped=True)
    ended = run.after(
        replace(DONE, batch=skipped), JobEnded("orders", Ended.FINISHED, 2, 2400, 3.0, None)
    )
    assert (ended.state, ended.up, ended.ended, ended.failed) == ("finished", False, True, False)
    assert ended.lease_held is False and ended.batch_id == 8
    assert ended.counted is not None
    assert (ended.counted.batches, ended.counted.rows) == (2, 2400)
    assert ended.counted.skipped_batches == 1


@pytest.mark.parametrize("ended", [Ended.FAILED, Ended.REFUSED, Ended.LOST_LEASE])
def test_a_failed_job_stays_visible_as_failed(ended: Ended) -> None:
    failed = Run().after(STARTED, DONE, JobEnded("orders", ended, 1, 1200, 3.0, "why"))
    assert (failed.state, failed.failed, failed.up) == (ended.value, True, False)
    assert failed.batch_id == 7


def test_a_restart_is_counted_and_is_no_failure() -> None:
    run = Run()
    over = JobEnded("orders", Ended.FAILED, 1, 1200, 3.0, "why")
    again = JobRestarting("orders", 1, 10, 5.0, "HF5301", "why")
    paused = run.after(STARTED, DONE, over, again)
    assert (paused.state, paused.failed, paused.ended) == ("restarting", False, False)
    twice = run.after(JobStarting("orders"), STARTED, DONE, over, again)
    assert twice.counted is not None
    assert (twice.counted.restarts, twice.counted.rows) == (2, 2400)


def test_other_events_and_other_jobs_change_nothing() -> None:
    run = Run()
    before = run.after(STARTED)
    assert run.after(RecordFailing("orders", "disk full", None), JobStarting("another")) == before
