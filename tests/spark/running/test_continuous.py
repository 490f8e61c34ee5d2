"""Jobs that go on until they are stopped run side by side, and one that fails ends alone."""

from __future__ import annotations

import shutil
import signal
import threading
from pathlib import Path
from typing import Any
from urllib.error import URLError

import pytest

import holdfast
from holdfast.running.report import BatchDone, Event, JobEnded, JobReport, RunStep
from tests.metrics.jobs import Scraped, names_of, scrape, value
from tests.spark.running.projects import Made, expected, ingest, table

pytestmark = pytest.mark.spark


class Watched:
    """Hears what happens, and acts once on it: input arrives, and at the end somebody stops."""

    def __init__(self, made: Made) -> None:
        self._made = made
        self._lock = threading.Lock()
        self.seen: list[Event] = []
        self.numbers: list[int] = []
        self.url = ""
        self.scraped: Scraped = {}
        """The metrics after the last batch, just before the stop."""

    def __call__(self, event: Event) -> None:
        """Feed both jobs until one failed; then feed the other once more, and stop."""
        with self._lock:
            self.seen.append(event)
            if isinstance(event, RunStep) and event.message.startswith("metrics: "):
                self.url = event.message.removeprefix("metrics: ")
            elif isinstance(event, JobEnded) and event.job == "fails":
                self.numbers += self._made.arrive(2)
            elif isinstance(event, BatchDone) and event.job == "lives":
                self._go_on(event)
            elif isinstance(event, JobEnded):
                # It ended before its time: the test fails, and does not wait for ever.
                signal.raise_signal(signal.SIGTERM)

    def _go_on(self, event: BatchDone) -> None:
        if any(isinstance(one, JobEnded) for one in self.seen):
            if event.total_rows == len(self.numbers):
                self.scraped = scrape(self.url)
                signal.raise_signal(signal.SIGTERM)
        elif event.total_rows == len(self.numbers) == 2:
            self.numbers += self._made.arrive(3)


def test_a_job_whose_history_can_t_be_written_delivers_all_the_same(
    spark: Any, tmp_path: Path
) -> None:
    """A full disk, a storage that is gone: the rows are in, and the report says what is not."""
    made = Made(tmp_path, {"lost": ingest("./lake/lost"), "good": ingest("./lake/good")})
    numbers = made.arrive(2)

    def watch(event: Event) -> None:
        runs = tmp_path / "checkpoints/.holdfast/lost/runs"
        if isinstance(event, BatchDone) and event.job == "lost":
            shutil.rmtree(runs)
            runs.touch()

    answer = holdfast.run(project=made.file, raise_on_failure=False, watch=watch)
    lost, good = answer.result.jobs
    assert (lost.ended.value, good.ended.value) == ("finished", "finished")
    (finding,) = answer.findings
    assert (finding.code, finding.severity.value) == ("HF2612", "warning")
    assert "lost finished (1 batch, 2 rows), but this could not be written" in finding.message
    assert answer.exit_status == 3
    assert lost.batches == 1 and made.ids("lost", "commits") == [0]
    assert table(spark, tmp_path / "lake/lost") == expected(numbers)
    assert holdfast.status("lost", project=made.file).result.jobs[0].job == "lost"


def test_one_fails_after_some_batches_and_the_other_goes_on(spark: Any, tmp_path: Path) -> None:
    """Until it is asked to stop; the status is that of the failure."""
    trigger = {"processing_time": "100 milliseconds"}
    jobs = {
        "fails": ingest("./lake/fails", trigger=trigger, transform="pipeline:divided"),
        "lives": ingest("./lake/lives", trigger=trigger),
    }
    made = Made(tmp_path, jobs)
    watched = Watched(made)
    watched.numbers += made.arrive(2)
    answer = holdfast.run(project=made.file, raise_on_failure=False, watch=watched, metrics_port=0)
    fails, lives = answer.result.jobs
    assert (fails.ended.value, lives.ended.value) == ("failed", "stopped")
    assert (fails.batches, fails.last_batch) == (1, 0)
    assert fails.failure is not None and fails.failure.error_class == "DIVIDE_BY_ZERO"
    assert answer.exit_status == 53 and answer.result.metrics_url == watched.url
    assert table(spark, tmp_path / "lake/lives") == expected(watched.numbers)
    assert len(watched.numbers) == 7
    ended = [one.job for one in watched.seen if isinstance(one, JobEnded)]
    assert ended == ["fails", "lives"]
    assert made.ids("fails", "offsets") == [0, 1] and made.ids("fails", "commits") == [0]
    assert made.ids("lives", "offsets") == made.ids("lives", "commits")
    _assert_scraped(watched.scraped, lives)
    with pytest.raises(URLError):
        scrape(watched.url)


def _assert_scraped(scraped: Scraped, lives: JobReport) -> None:
    """The one that runs is measured; the one that failed is still there."""
    numbers = {name: _number(scraped, name, "lives") for name in names_of(scraped, "lives")}
    assert (numbers["holdfast_job_up"], numbers["holdfast_lease_held"]) == (1, 1)
    assert numbers["holdfast_rows_total"] == lives.rows == 7
    assert numbers["holdfast_batch_id"] == lives.last_batch
    assert numbers["holdfast_lease_generation"] == lives.generation
    assert 0 <= numbers["holdfast_last_commit_age_seconds"] < 60
    phases = {
        dict(labels)["phase"]: spent
        for (name, labels), spent in scraped.items()
        if name == "holdfast_batch_duration_seconds" and ("job", "lives") in labels
    }
    assert {"addBatch", "walCommit", "commitOffsets", "latestOffset", "queryPlanning"} <= set(
        phases
    )
    assert phases["triggerExecution"] >= phases["addBatch"] > 0
    failed = {name: _number(scraped, name, "fails") for name in names_of(scraped, "fails")}
    assert (failed["holdfast_job_up"], failed["holdfast_job_failed"]) == (0, 1)
    assert (failed["holdfast_batch_id"], failed["holdfast_rows_total"]) == (0, 2)
    assert value(scraped, "holdfast_job_state", "fails", "test", state="failed") == 1


def _number(scraped: Scraped, name: str, job: str) -> float:
    """Return a sample of a job, of any labels."""
    return next(one for (n, labels), one in scraped.items() if n == name and ("job", job) in labels)
