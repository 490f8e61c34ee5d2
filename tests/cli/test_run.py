"""`holdfast run` as far as it needs no Spark: refusals, lines on the way, events, the end."""

from __future__ import annotations

import io
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.answers import Answer
from holdfast.cli.drawing.liverun import LiveRun, line_of
from holdfast.cli.drawing.run import draw
from holdfast.cli.eventlines import EventLines
from holdfast.errors import StorageError
from holdfast.findings import Finding, Place, Severity
from holdfast.records.folder import records_of
from holdfast.records.holder import this_holder
from holdfast.records.lease import take_lease
from holdfast.records.run import BatchNote, Ended
from holdfast.redaction import remember_secret
from holdfast.spark.events import BatchDone, Event, JobEnded, JobStarted, JobStarting, JobWaiting
from holdfast.spark.report import JobReport, RunReport
from holdfast.storage.location import parse_location
from holdfast.storage.options import StorageSettings
from tests.cli.running import holdfast

PROJECT = """project: shop
jobs:
  orders:
    source: {format: json, path: ./in, schema: n long}
    sql: select * from source
    sink: {format: delta, path: ./lake/orders}
"""
NOTE = BatchNote(7, 1200, "2026-11-16T05:00:00.000Z", 1.25)
FINDING = Finding("HF3008", Severity.INFO, "spark.x is 1 here and 2 in the checkpoint", Place(""))
EVENTS: dict[str, Event] = {
    "starting": JobStarting("orders"),
    "waiting": JobWaiting("orders", "job orders of anna on host-7"),
    "started": JobStarted("orders", "an-id", "a-run", 3, 7, (FINDING,), "once, or so"),
    "batch": BatchDone("orders", NOTE, 2, 2400, 960.4, "5 records"),
    "ended": JobEnded("orders", Ended.FAILED, 2, 2400, 12.34, "it broke", "the whole trace"),
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give a project whose only job is held by this very process."""
    (tmp_path / "holdfast.yaml").write_text(PROJECT)
    monkeypatch.chdir(tmp_path)
    location = parse_location(str(tmp_path / "checkpoints/orders"))
    lease = take_lease(
        records_of(location, StorageSettings()), job="orders", holder=this_holder(None)
    )
    yield tmp_path
    lease.release()


def test_a_held_job_is_refused_before_spark_starts(project: Path) -> None:
    """Status 22, who holds it, and nothing written."""
    shown = holdfast("run", "--json")
    assert shown.status == 22
    document = json.loads(shown.out)
    assert document["schema"] == "holdfast.run/1" and document["status"] == "findings"
    (job,) = document["result"]["jobs"]
    assert (job["ended"], job["failure"]["code"]) == ("refused", "HF2601")
    assert document["result"]["spark"] is None
    assert document["findings"][0]["code"] == "HF2601"
    assert not (project / "checkpoints/orders").exists()
    assert not (project / ".holdfast").exists()


def test_the_same_for_people(project: Path) -> None:
    """The line on the way, the table, and the finding with what to do next."""
    shown = holdfast("run")
    assert shown.status == 22
    assert "orders: refused after" in shown.err
    assert "refused" in shown.out and "HF2601" in shown.out
    assert all(len(line) <= 80 for line in shown.out.splitlines())


def test_events_are_written_also_for_a_refusal(project: Path) -> None:
    """One line of JSON each."""
    holdfast("run", "--quiet", "--events", "events.jsonl")
    (line,) = (project / "events.jsonl").read_text().splitlines()
    event = json.loads(line)
    assert (event["event"], event["job"], event["ended"]) == ("ended", "orders", "refused")


def test_a_job_that_there_is_not(project: Path) -> None:
    """A usage error with the nearest name."""
    shown = holdfast("run", "order")
    assert shown.status == 2 and "is orders meant?" in shown.err


def test_no_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Status 10, with the way to one."""
    monkeypatch.chdir(tmp_path)
    shown = holdfast("run")
    assert shown.status == 10 and "holdfast init" in shown.err


@pytest.mark.parametrize("name", EVENTS)
def test_every_event_is_a_line_that_people_read(name: str) -> None:
    """With the numbers that matter."""
    line = line_of(EVENTS[name])
    wanted = {
        "starting": ["starting"],
        "waiting": ["waiting", "anna on host-7"],
        "started": ["an-id", "generation 3", "batch 7 is run again", "HF3008"],
        "batch": ["batch 7", "2,400 rows", "960 a second", "behind by 5 records"],
        "ended": ["failed after 12.3 s", "2 batches", "it broke"],
    }[name]
    assert [part for part in wanted if part not in line] == []


def test_plain_lines_come_at_most_once_a_second_but_ends_always(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A quick stream does not flood a log."""
    written = io.StringIO()
    monkeypatch.setattr(sys, "stderr", written)
    with LiveRun(silent=False, no_color=True) as live:
        for _ in range(50):
            live.show(EVENTS["batch"])
        live.show(EVENTS["ended"])
    assert written.getvalue().count("batch 7") == 1
    assert written.getvalue().count("failed") == 1


def test_what_the_sink_promises_is_said_at_the_start(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """On a line that stays, and in the events."""
    written = io.StringIO()
    monkeypatch.setattr(sys, "stderr", written)
    with LiveRun(silent=False, no_color=True) as live, EventLines(tmp_path / "events") as lines:
        live.show(EVENTS["started"])
        lines.write(EVENTS["started"])
    assert written.getvalue().splitlines()[-1] == "orders: sink: once, or so"
    assert json.loads((tmp_path / "events").read_text())["promise"] == "once, or so"


def test_silence_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    """For --quiet and --json."""
    written = io.StringIO()
    monkeypatch.setattr(sys, "stderr", written)
    with LiveRun(silent=True, no_color=True) as live:
        live.show(EVENTS["ended"])
    assert written.getvalue() == ""


def test_events_hold_no_secret_and_are_whole_while_they_grow(tmp_path: Path) -> None:
    """A reader sees every event at once."""
    remember_secret("hunter2-hunter2")
    path = tmp_path / "events.jsonl"
    with EventLines(path) as lines:
        for name, event in EVENTS.items():
            lines.write(event)
            last = json.loads(path.read_text().splitlines()[-1])
            assert (last["event"], last["job"]) == (name, "orders")
        lines.write(JobEnded("orders", Ended.FAILED, 0, 0, 0.0, "hunter2-hunter2"))
    assert "hunter2" not in path.read_text()


def test_events_that_can_t_be_written_are_an_error_before_anything_runs(tmp_path: Path) -> None:
    """With the place."""
    with pytest.raises(StorageError) as told, EventLines(tmp_path / "nowhere/events"):
        pass
    assert told.value.code.number == "HF7015"


def test_the_table_tells_what_the_sink_held_already() -> None:
    """Batches that ran again and were not written twice."""
    from rich.console import Console

    report = JobReport(
        "orders", "q", "r", 2, 3, 30, 1, Ended.FINISHED, 4.2, "c", 4, 6, "every batch once"
    )
    drawn = io.StringIO()
    console = Console(file=drawn, width=80)
    draw(Answer("run", "c", RunReport((report,), "4.2.0")), console)
    assert "3 (4 to 6, 1 held already)" in drawn.getvalue()
    assert "every batch once" in drawn.getvalue()


def test_a_half_restored_checkpoint_is_not_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Status 42, with both ways out; one that is at work right now is waited for."""
    (tmp_path / "holdfast.yaml").write_text(PROJECT)
    monkeypatch.chdir(tmp_path)
    records = tmp_path / "checkpoints/.holdfast/orders"
    intent = records / "journal/20261116T050000Z-ab/intent.json"
    intent.parent.mkdir(parents=True)
    intent.write_text(json.dumps({"id": intent.parent.name, "kind": "restore", "intent": {}}))
    shown = holdfast("run", "--json")
    assert shown.status == 42
    (finding,) = json.loads(shown.out)["findings"]
    assert finding["code"] == "HF4506" and "--undo" in " ".join(finding["next"])
    mark = records / "backups/busy/00000001"
    mark.parent.mkdir(parents=True)
    other = {"act": "restore", "host": "another", "process": 1, "token": "t", "since": time.time()}
    mark.write_text(json.dumps(other))
    shown = holdfast("run", "--json")
    assert (shown.status, json.loads(shown.out)["findings"][0]["code"]) == (22, "HF4507")
