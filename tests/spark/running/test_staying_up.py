"""A chain of jobs that go on, at its first start, while its database goes away and comes back."""

from __future__ import annotations

import json
import os
import signal
import threading
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from deltalake import DeltaTable

import holdfast
from holdfast.records.folder import records_of
from holdfast.records.history import History
from holdfast.records.run import Ended
from holdfast.running.report import (
    BatchDone,
    Event,
    JobEnded,
    JobRestarting,
    JobStarted,
    JobStarting,
    JobWaitingForUpstream,
)
from holdfast.running.stopping import Stopping
from holdfast.storage.location import parse_location
from holdfast.storage.options import StorageSettings
from tests.drawing import draw
from tests.parts.door import Door
from tests.parts.postgres import rows_in
from tests.spark.running.processes import (
    WAIT_SECONDS,
    call,
    java_below,
    result_of,
    started,
    wait_for,
)
from tests.spark.running.projects import Made, expected, ingest

pytestmark = pytest.mark.spark


class Outage:
    """Shuts the way to the database after the first batch, and opens it at the second restart."""

    def __init__(self, made: Made, socket: str) -> None:
        self._made = made
        self._socket = socket
        self._lock = threading.Lock()
        self.door = Door(socket)
        self.stopping = Stopping()
        self.seen: list[Event] = []
        self.numbers = made.arrive(2)

    def __call__(self, event: Event) -> None:
        """Take an event of any thread."""
        with self._lock:
            self.seen.append(event)
            if isinstance(event, BatchDone) and event.job == "gold":
                self._delivered()
            elif isinstance(event, JobRestarting) and event.restart == 2:
                self.door = Door(self._socket, self.door.port)
            elif isinstance(event, JobEnded) and event.ended is not Ended.STOPPED:
                self._failed(event)

    def _delivered(self) -> None:
        if len(self.numbers) == 2:
            self.door.close()
            self.numbers += self._made.arrive(3)
        else:
            self.stopping.ask()

    def _failed(self, event: JobEnded) -> None:
        if event.job == "raw" or "is unreachable" not in (event.message or ""):
            # It fails for another reason than the test's: it does not wait for ever.
            self.stopping.ask()


def test_a_chain_waits_for_its_first_commit_and_outlives_its_database(
    spark: Any, tmp_path: Path, database: str
) -> None:
    """The reader starts when the table is there; each restart is a run; no row is lost."""
    (folder,) = parse_qs(urlsplit(database).query)["host"]
    trigger = {"processing_time": "100 milliseconds"}
    made = Made(tmp_path, {})
    outage = Outage(made, f"{folder}/.s.PGSQL.5432")
    name = urlsplit(database).path.strip("/")
    url = f"postgresql://postgres@127.0.0.1:{outage.door.port}/{name}"
    gold = {
        "source": {"format": "delta", "path": "./lake/raw"},
        "transform": "pipeline:same",
        "sink": {"format": "postgres", "url": url, "table": "gold"},
        "trigger": trigger,
        "restart": {"limit": 5, "backoff": "10 milliseconds"},
    }
    Made(tmp_path, {"gold": gold, "raw": ingest(trigger=trigger)})
    answer = holdfast.run(
        raise_on_failure=False,
        project=made.file,
        keep_running=True,
        stopping=outage.stopping,
        watch=outage,
    )
    outage.door.close()

    reports = {one.job: one for one in answer.result.jobs}
    assert {job: one.ended.value for job, one in reports.items()} == {
        "raw": "stopped",
        "gold": "stopped",
    }
    assert answer.exit_status == 0 and [one.code for one in answer.findings] == ["HF5312"]
    assert sorted(rows_in(database, "select n, k from gold")) == sorted(expected(outage.numbers))

    first = [one for one in outage.seen if getattr(one, "job", None) == "gold"][:2]
    assert first == [JobWaitingForUpstream("gold", ("raw",)), JobStarting("gold")]
    before = outage.seen[: outage.seen.index(JobStarting("gold"))]
    assert any(isinstance(one, BatchDone) and one.job == "raw" for one in before)

    assert (reports["gold"].restarts, reports["raw"].restarts) == (2, 0)
    assert (reports["gold"].batches, reports["gold"].rows) == (2, 5)
    location = parse_location(str(made.checkpoint("gold")))
    newest, oldest = History(records_of(location, StorageSettings())).runs()
    assert (oldest.ended, newest.ended) == (Ended.FAILED, Ended.STOPPED)
    assert oldest.failure is not None and oldest.failure.code == "HF5041"
    assert newest.generation > oldest.generation and newest.first_batch == 1
    started = [one for one in outage.seen if isinstance(one, JobStarted) and one.job == "gold"]
    assert started[-1].next_batch == 1, "the batch that was pending is run again"


def reported(folder: Path, job: str, event: str) -> list[dict[str, Any]]:
    """Return the events of a kind that a job has had so far."""
    file = folder / "events"
    lines = file.read_text().splitlines() if file.exists() else []
    every = [json.loads(line) for line in lines]
    return [one for one in every if (one.get("job"), one["event"]) == (job, event)]


def test_a_killed_jvm_is_replaced_and_every_job_that_ran_starts_again(tmp_path: Path) -> None:
    """In a process of its own: one job had ended, two were running, and nothing is lost."""
    trigger = {"processing_time": "100 milliseconds"}
    kept = {"trigger": trigger, "restart": {"backoff": "10 milliseconds"}}
    gold = ingest("./lake/gold") | {"source": {"format": "delta", "path": "./lake/raw"}} | kept
    made = Made(tmp_path, {"raw": ingest() | kept, "gold": gold, "once": ingest("./lake/once")})
    numbers = made.arrive(2)
    words = ("run", "--keep-running", "--json", "--events", "events")
    with started(tmp_path, *words) as process:
        wait_for(lambda: reported(tmp_path, "gold", "batch"), "the first rows at the chain's end")
        (java,) = java_below(process.pid)
        os.kill(java, signal.SIGKILL)
        numbers += made.arrive(3)
        wait_for(lambda: len(reported(tmp_path, "gold", "batch")) > 1, "new rows at its end")
        process.send_signal(signal.SIGTERM)
        printed, errors = process.communicate(timeout=WAIT_SECONDS)
    assert (process.returncode, errors) == (128 + signal.SIGTERM, "")
    document = json.loads(printed)
    jobs = {one["job"]: one for one in document["result"]["jobs"]}
    assert {name: (one["ended"], one["restarts"]) for name, one in jobs.items()} == {
        "raw": ("stopped", 1), "gold": ("stopped", 1), "once": ("finished", 0),
    }  # fmt: skip
    assert (jobs["raw"]["rows"], jobs["gold"]["rows"], jobs["once"]["rows"]) == (5, 5, 2)
    assert [one["code"] for one in document["findings"]] == ["HF5312", "HF5312"]
    assert document["findings"][0]["evidence"]["failures"][0]["code"] == "HF5304"
    for job, count in (("raw", 1), ("gold", 1), ("once", 0)):
        codes = [one["code"] for one in reported(tmp_path, job, "restarting")]
        assert codes == ["HF5304"] * count
    rows = DeltaTable(str(tmp_path / "lake/gold")).to_pyarrow_table().column("n").to_pylist()
    assert sorted(rows) == numbers


@draw("number")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_during_the_wait_before_a_restart(tmp_path: Path, number: signal.Signals) -> None:
    """Whichever comes: the table, the job's error and its hook, and the same exit status."""
    restart = {"trigger": {"processing_time": "1 second"}, "restart": {"backoff": "5 minutes"}}
    hook = {"on_failure": {"command": "tee notified"}}
    sink = {"sink": {"format": "parquet", "path": "./lake/raw"}}
    made = Made(tmp_path, {"raw": ingest() | sink | restart | hook})
    made.arrive(2)
    words = ("run", "--keep-running", "--no-color", "--events", "events")
    with started(tmp_path, *words) as process:
        wait_for(lambda: reported(tmp_path, "raw", "batch"), "the first batch")
        (java,) = java_below(process.pid)
        os.kill(java, signal.SIGKILL)
        wait_for(lambda: reported(tmp_path, "raw", "restarting"), "the pause")
        wait_for(lambda: not java_below(process.pid), "the end of the session")
        (job,) = result_of(call(tmp_path, "status", "--json"))["result"]["jobs"]
        assert job["state"] == "restarting" and job["runs"][0]["ended"] == "failed"
        assert job["next_restart"]["due_at"] > job["runs"][0]["ended_at"]
        process.send_signal(number)
        printed, errors = process.communicate(timeout=WAIT_SECONDS)
    assert process.returncode == 53, errors
    lines = [" ".join(line.split()) for line in printed.splitlines()]
    assert any(line.startswith("raw failed 1 (0) 2 ") for line in lines)
    assert "error HF5304: raw: Spark's JVM" in " ".join(lines)
    document = json.loads((tmp_path / "notified").read_text())
    assert document["result"]["jobs"][0]["ended"] == "failed"
    (job,) = result_of(call(tmp_path, "status", "--json"))["result"]["jobs"]
    assert (job["state"], job["next_restart"]) == ("failed", None)
