"""`holdfast run` as far as it needs no Spark: refusals, lines on the way, events, the end."""

from __future__ import annotations

import io
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from holdfast.answers import Answer
from holdfast.cli.drawing.liverun import EventLines, InWork, LiveRun, _block, line_of
from holdfast.cli.drawing.run import draw_run
from holdfast.errors import UsageError
from holdfast.findings import Finding, Place, Severity
from holdfast.records.folder import records_of
from holdfast.records.leases.taking import take_lease
from holdfast.records.processes import this_holder
from holdfast.records.run import BatchNote, Ended
from holdfast.redaction import remember_secret
from holdfast.running.report import (
    BatchDone,
    Event,
    JobEnded,
    JobReport,
    JobRestarting,
    JobsFailed,
    JobStarted,
    JobStarting,
    JobStopping,
    JobWaiting,
    JobWaitingForUpstream,
    RecordFailing,
    RunReport,
    RunStep,
)
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
    "step": RunStep("starting Spark 4.2.0…"),
    "starting": JobStarting("orders"),
    "waiting": JobWaiting("orders", "job orders of anna on host-7"),
    "waiting-for-upstream": JobWaitingForUpstream("orders", ("raw", "rates")),
    "started": JobStarted("orders", "an-id", "a-run", 3, 7, (FINDING,), "once, or so"),
    "batch": BatchDone("orders", NOTE, 2, 2400, 960.4, "5 records"),
    "record-failing": RecordFailing("orders", "no space left", "./.holdfast/orders/runs"),
    "stopping": JobStopping("orders", 8, signal.SIGINT),
    "ended": JobEnded("orders", Ended.FAILED, 2, 2400, 12.34, "it broke", "the whole trace"),
    "restarting": JobRestarting("orders", 2, 10, 10.0, "HF5041", "PostgreSQL is unreachable"),
    "jobs-failed": JobsFailed("orders", ("orders (HF5301)",), 3),
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
    """Status 22, who holds it; nothing but the attempt is written, and the job stays healthy."""
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
    status = holdfast("status", "--json")
    (shown_job,) = status.document["result"]["jobs"]
    assert (status.status, shown_job["state"]) == (0, "running")
    assert shown_job["last_attempt"]["code"] == "HF2601"
    assert status.document["findings"][0]["code"] == "HF2617"


def test_the_same_for_people(project: Path) -> None:
    """The line on the way, the table, and the finding with what to do next."""
    shown = holdfast("run")
    assert shown.status == 22
    assert "orders: refused after" in shown.err
    assert "refused" in shown.out and "HF2601" in shown.out
    assert shown.fits(80)


def test_events_are_written_also_for_a_refusal(project: Path) -> None:
    """One line of JSON each."""
    holdfast("run", "--quiet", "--events", "events.jsonl")
    (line,) = (project / "events.jsonl").read_text().splitlines()
    event = json.loads(line)
    assert (event["event"], event["job"], event["ended"]) == ("ended", "orders", "refused")


def test_a_job_that_there_is_not(project: Path) -> None:
    """A usage error with the nearest name."""
    shown = holdfast("run", "order")
    assert shown.status == 2 and "did you mean orders?" in shown.err


@pytest.mark.parametrize(
    "words",
    [("run",), ("run", "orders"), ("status",), ("status", "orders"), ("doctor",), ("backups",),
     ("restore", "20260101T000000000Z-00000000", "--yes")],
    ids=" ".join,
)  # fmt: skip
def test_every_command_that_needs_a_project_gives_one_answer_without_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """Status 10, with the way to one."""
    monkeypatch.chdir(tmp_path)
    shown = holdfast(*words)
    assert shown.status == 10 and "HF1101" in shown.err
    assert "holdfast init" in shown.err and "--project FILE" in shown.err


def test_a_spark_that_cannot_start_is_an_attempt_of_every_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the code, the page and the exit status that `run` ended with; nothing else is made."""
    (tmp_path / "holdfast.yaml").write_text(PROJECT)
    (tmp_path / "checkpoints").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "no-java"))
    ran = holdfast("run", "--json")
    assert ran.status == 52
    status = holdfast("status", "--json")
    (job,) = status.document["result"]["jobs"]
    assert (status.status, job["state"], job["exists"]) == (3, "failed", False)
    attempt, error = job["last_attempt"], ran.document["error"]
    assert (attempt["code"], attempt["message"]) == (error["code"], error["message"])
    assert (attempt["next"], attempt["exit_status"]) == (error["next"], 52)
    assert attempt["spark"] is None and str(os.getpid()) in attempt["holder"]
    assert f"holdfast explain {error['code']}" in status.document["next"]
    assert [one.name for one in (tmp_path / "checkpoints").iterdir()] == [".holdfast"]


def test_a_checkpoint_at_a_mistyped_place_is_refused_and_leaves_nothing_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "holdfast.yaml").write_text(f"{PROJECT}checkpoints: ./chekpoints\n")
    (tmp_path / ".holdfast").mkdir()
    known = {"version": 1, "checkpoints": {"orders": f"file://{tmp_path}/checkpoints/orders"}}
    (tmp_path / ".holdfast/checkpoints.json").write_text(json.dumps(known))
    monkeypatch.chdir(tmp_path)
    assert holdfast("run", "--json").status == 10
    assert not (tmp_path / "chekpoints").exists()
    assert holdfast("status", "--json").document["result"]["jobs"][0]["state"] == "new"
    (tmp_path / "chekpoints").mkdir()
    refused = holdfast("run", "--json").document["result"]["jobs"][0]
    assert refused["ended"] == "refused"
    status = holdfast("status", "--json")
    (job,) = status.document["result"]["jobs"]
    assert (status.status, job["state"]) == (3, "refused")
    assert job["last_attempt"]["code"] == refused["failure"]["code"]


def test_an_attempt_that_cannot_be_recorded_does_not_hide_the_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "holdfast.yaml").write_text(PROJECT)
    records = tmp_path / "checkpoints/.holdfast/orders"
    intent = records / "journal/20261116T050000Z-ab/intent.json"
    intent.parent.mkdir(parents=True)
    intent.write_text(json.dumps({"id": intent.parent.name, "kind": "restore", "intent": {}}))
    (records / "attempts").write_text("a file in the way")
    monkeypatch.chdir(tmp_path)
    shown = holdfast("run", "--json")
    assert shown.status == 42
    assert [one["code"] for one in shown.document["findings"]] == ["HF2616", "HF4506"]


@pytest.mark.parametrize("name", EVENTS)
def test_every_event_is_a_line_that_people_read(name: str) -> None:
    """With the numbers that matter."""
    line = line_of(EVENTS[name])
    wanted = {
        "starting": ["starting"],
        "waiting": ["waiting", "anna on host-7"],
        "waiting-for-upstream": ["waiting for the first output of upstream jobs raw, rates"],
        "started": ["an-id", "generation 3", "batch 7 is run again", "HF3008"],
        "batch": ["batch 7, 1,200 rows, 960 rows/s, behind by 5 records; so far 2 batches, 2,400"],
        "record-failing": ["continues", "no space left"],
        "step": ["starting Spark 4.2.0"],
        "stopping": ["finishing batch 8, press Ctrl-C again to stop now"],
        "ended": ["failed after 12.3 s", "2 batches", "it broke"],
        "restarting": ["restarting in 10 s", "restart 2 of 10", "HF5041 PostgreSQL"],
        "jobs-failed": ["1 of 3 jobs failed: orders (HF5301)"],
    }[name]
    assert [part for part in wanted if part not in line] == []


def test_the_line_about_all_jobs_stays_while_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is nobody's own line: in a pipe it has no job before it, live it stands below all."""
    written = io.StringIO()
    monkeypatch.setattr(sys, "stderr", written)
    with LiveRun(silent=False, no_color=True) as live:
        live.show(EVENTS["ended"])
        live.show(EVENTS["jobs-failed"])
    assert written.getvalue().splitlines()[-1] == "1 of 3 jobs failed: orders (HF5301)"
    block = _block({"": "1 of 3 jobs failed", "orders": "orders: failed", "b": "b: batch 3"})
    assert block.plain.splitlines() == ["orders: failed", "b: batch 3", "1 of 3 jobs failed"]


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (JobStopping("a", 3, signal.SIGTERM), "finishing batch 3, send the signal again to stop"),
        (JobStopping("a", None, signal.SIGINT), "stopping; no batch is being written"),
        (JobStopping("a", 3, None), "finishing batch 3, then stopping"),
    ],
)
def test_a_stop_says_what_is_finished_first(event: Event, line: str) -> None:
    """And how to stop now, for whoever sent a signal."""
    assert line_of(event).startswith(line)


def test_steps_and_stops_are_lines_that_stay(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """In a pipe as well, and in the events."""
    written = io.StringIO()
    monkeypatch.setattr(sys, "stderr", written)
    shown = [EVENTS["step"], EVENTS["stopping"]]
    with LiveRun(silent=False, no_color=True) as live, EventLines(tmp_path / "events") as lines:
        for event in shown:
            live.show(event)
            lines.write(event)
    assert written.getvalue().splitlines() == [
        "starting Spark 4.2.0…",
        "orders: finishing batch 8, press Ctrl-C again to stop now",
    ]
    kept = [json.loads(line) for line in (tmp_path / "events").read_text().splitlines()]
    assert [one["event"] for one in kept] == ["step", "stopping"]
    assert (kept[0]["message"], kept[1]["batch"]) == ("starting Spark 4.2.0…", 8)


def test_plain_lines_come_at_most_once_a_second_but_ends_always(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A quick stream does not flood a log, and what has no line of its own is counted."""
    written = io.StringIO()
    monkeypatch.setattr(sys, "stderr", written)
    with LiveRun(silent=False, no_color=True) as live:
        for _ in range(50):
            live.show(EVENTS["batch"])
        live.show(EVENTS["ended"])
    first, skipped, last = written.getvalue().splitlines()
    assert first.startswith("orders: batch 7, 1,200 rows")
    assert skipped == "orders: … 49 more batches, 58,800 rows"
    assert last.startswith("orders: failed after")


def test_a_batch_in_work_shows_how_long_it_takes() -> None:
    """First in its line, which may be longer than the terminal; a quick batch changes nothing."""
    now, delivering = [100.0], {"orders": 7, "idle": None}
    in_work = InWork(lambda: delivering, lambda: now[0])
    lines = {"orders": "orders: started", "idle": "idle: batch 2", "": "1 of 2 jobs failed"}
    assert in_work.added_to(lines) == lines
    now[0] = 112.9
    assert in_work.added_to(lines) == {
        **lines, "orders": "orders: batch 7 in progress for 12 s; started",
    }  # fmt: skip
    delivering["orders"] = 8
    assert in_work.added_to(lines) == lines
    now[0] = 120.0
    assert in_work.added_to(lines)["orders"] == "orders: batch 8 in progress for 7 s; started"
    delivering.clear()
    assert in_work.added_to(lines) == lines


def test_a_long_batch_has_lines_in_a_pipe_at_growing_distances(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In the words of the terminal: after half a minute, then every minute, later less often."""
    monkeypatch.setattr("holdfast.cli.drawing.liverun.LiveRun._look", lambda _: None)
    written = io.StringIO()
    monkeypatch.setattr(sys, "stderr", written)
    now, delivering = [0.0], {"orders": 7, "idle": None}
    with LiveRun(
        silent=False, no_color=True, delivering=lambda: delivering, clock=lambda: now[0]
    ) as live:
        live.show(JobStarting("orders"))
        for second in range(7_200):
            now[0] = float(second)
            live.show_in_progress()
        lines = written.getvalue().splitlines()
        assert lines[:3] == [
            "orders: starting",
            "orders: batch 7 in progress for 30 s; starting",
            "orders: batch 7 in progress for 90 s; starting",
        ]
        seconds = [int(line.split(" for ")[1].split()[0]) for line in lines[1:]]
        distances = [later - earlier for earlier, later in pairwise(seconds)]
        assert distances == sorted(distances) and (distances[0], distances[-1]) == (60, 600)
        delivering["orders"] = 8
        live.show_in_progress()
        now[0] += 29
        live.show_in_progress()
        assert len(written.getvalue().splitlines()) == len(lines), "a new batch begins at zero"
        now[0] += 1
        live.show_in_progress()
        assert written.getvalue().endswith("batch 8 in progress for 30 s; starting\n")
        live.show(EVENTS["ended"])
        now[0] += 900
        ended = written.getvalue()
        live.show_in_progress()
        assert written.getvalue() == ended, "a job that has ended has no further line"


def test_only_a_pipe_that_somebody_reads_is_looked_after(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches in progress are looked at beside a run, but not for --quiet and --json."""
    looked: list[bool] = []
    seen = threading.Event()

    def look(live: LiveRun) -> None:
        looked.append(live._silent)
        seen.set()

    monkeypatch.setattr("holdfast.cli.drawing.liverun.LiveRun._look", look)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with LiveRun(silent=True, no_color=True), LiveRun(silent=False, no_color=True):
        assert seen.wait(30)
    assert looked == [False]


def test_a_batch_that_the_sink_has_and_numbers_of_one() -> None:
    note = replace(NOTE, batch_id=1, rows=1, skipped=True)
    line = line_of(BatchDone("orders", note, 1, 1, 3.2, None))
    assert line == "batch 1 skipped (already in the sink), 1 row, 3 rows/s; so far 1 batch, 1 row"
    ended = line_of(JobEnded("orders", Ended.FINISHED, 1, 1, 2.0, None))
    assert ended == "finished after 2.0 s, 1 batch, 1 row"


def test_what_the_sink_promises_is_said_at_the_start(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """On a line that stays, and in the events."""
    written = io.StringIO()
    monkeypatch.setattr(sys, "stderr", written)
    with LiveRun(silent=False, no_color=True) as live, EventLines(tmp_path / "events") as lines:
        live.show(EVENTS["started"])
        lines.write(EVENTS["started"])
    assert written.getvalue().splitlines()[-1] == "orders: delivery: once, or so"
    assert json.loads((tmp_path / "events").read_text())["promise"] == "once, or so"


def test_silence_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    """For --quiet and --json."""
    written = io.StringIO()
    monkeypatch.setattr(sys, "stderr", written)
    with LiveRun(silent=True, no_color=True) as live:
        live.show(EVENTS["ended"])
    assert written.getvalue() == ""


def test_the_address_of_metrics_is_shown_although_nothing_else_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of a port that was chosen, nobody would know it otherwise."""
    shown = io.StringIO()
    monkeypatch.setattr("sys.stderr", shown)
    with LiveRun(silent=True, no_color=True) as live:
        live.show(RunStep("metrics: http://127.0.0.1:9/metrics", always=True))
    assert shown.getvalue() == "metrics: http://127.0.0.1:9/metrics\n"


def test_events_hold_no_secret_and_are_whole_while_they_grow(tmp_path: Path) -> None:
    """A reader sees every event at once."""
    remember_secret("hunter2-hunter2")
    path = tmp_path / "events.jsonl"
    with EventLines(path) as lines:
        for name, event in EVENTS.items():
            lines.write(event)
            last = json.loads(path.read_text().splitlines()[-1])
            assert (last["event"], last["job"] or "orders") == (name, "orders")
        lines.write(JobEnded("orders", Ended.FAILED, 0, 0, 0.0, "hunter2-hunter2"))
    assert "hunter2" not in path.read_text()


def test_events_that_can_t_be_written_are_an_error_before_anything_runs(tmp_path: Path) -> None:
    """With the place."""
    place = tmp_path / "nowhere/events"
    with pytest.raises(UsageError) as told, EventLines(place):
        pass
    assert (str(told.value.code), told.value.exit_status, told.value.at) == (
        "HF1001",
        2,
        str(place),
    )
    assert told.value.message == "--events: the file cannot be opened: no such file or directory"


def test_the_table_tells_what_the_sink_held_already() -> None:
    """Batches that ran again and were not written twice."""
    from rich.console import Console

    report = JobReport(
        "orders", "q", "r", 2, 3, 30, 1, Ended.FINISHED, 4.2, "c", 4, 6, "every batch once"
    )
    drawn = io.StringIO()
    console = Console(file=drawn, width=80)
    draw_run(Answer("run", "c", RunReport((report,), "4.2.0")), console)
    assert "3 (4 to 6, 1 skipped)" in drawn.getvalue()
    assert "every batch once" in drawn.getvalue()


def test_promises_that_differ_name_their_jobs() -> None:
    from rich.console import Console

    once, mostly = "exactly once", "at least once"
    jobs = tuple(
        JobReport(name, "q", "r", 2, 3, 30, 0, Ended.FINISHED, 4.2, "c", promise=promise)
        for name, promise in (("orders", once), ("pager", mostly), ("clicks", once))
    )
    for shown in (jobs, jobs[:1]):
        drawn = io.StringIO()
        draw_run(Answer("run", "c", RunReport(shown, "4.2.0")), Console(file=drawn, width=80))
        said = [one for one in drawn.getvalue().splitlines() if "delivery" in one]
        assert said == (
            ["orders, clicks: delivery: exactly once", "pager: delivery: at least once"]
            if len(shown) > 1
            else ["delivery: exactly once"]
        )


def test_the_report_names_a_pending_batch_and_what_becomes_of_it() -> None:
    from rich.console import Console

    report = JobReport("orders", "q", "r", 2, 3, 30, 0, Ended.STOPPED, 4.2, "c", pending=7)
    drawn = io.StringIO()
    answer = Answer("run", "c", RunReport((report,), "4.2.0"))
    draw_run(answer, Console(file=drawn, width=120))
    words = "orders: batch 7 is pending (planned, not committed); the next start runs it again"
    assert words in drawn.getvalue()
    result: Any = answer.document("0.1.0")["result"]
    assert result["jobs"][0]["pending"] == 7


def test_the_table_shows_restarts_where_there_were_some() -> None:
    from rich.console import Console

    report = JobReport("orders", "q", "r", 2, 3, 30, 0, Ended.STOPPED, 4.2, "c", restarts=4)
    calm = JobReport("clicks", "q", "r", 2, 3, 30, 0, Ended.STOPPED, 4.2, "c")
    for jobs, shown in (((report, calm), True), ((calm,), False)):
        drawn = io.StringIO()
        draw_run(Answer("run", "c", RunReport(jobs, "4.2.0")), Console(file=drawn, width=80))
        assert ("restarts" in drawn.getvalue()) == shown


def test_a_job_that_failed_for_good_calls_its_hook(project: Path) -> None:
    """With the document of `run --json` for that job, on standard input; the status stays."""
    remember_secret("hunter2-hunter2")
    (project / "notify.py").write_text("import sys; open('told.json', 'w').write(sys.stdin.read())")
    hook = f'    on_failure: {{command: "{sys.executable} notify.py hunter2-hunter2"}}\n'
    (project / "holdfast.yaml").write_text(PROJECT + hook)
    shown = holdfast("run", "--json")
    assert shown.status == 22 and [one["code"] for one in shown.document["findings"]] == ["HF2601"]
    told = json.loads((project / "told.json").read_text())
    assert told == shown.document


def test_a_hook_that_fails_is_a_warning_and_changes_nothing_else(project: Path) -> None:
    """The job's own error decides; the URL of a webhook is not shown, whoever wrote it."""
    url = "http://127.0.0.1:9/services/T0-very-private"
    hook = f'    on_failure: {{webhook: "{url}"}}\n'
    (project / "holdfast.yaml").write_text(PROJECT + hook)
    shown = holdfast("run", "--json")
    assert shown.status == 22 and "very-private" not in shown.out
    found = {one["code"]: one["severity"] for one in shown.document["findings"]}
    assert found == {"HF2601": "error", "HF5314": "warning"}
    assert shown.document["result"]["jobs"][0]["failure"]["code"] == "HF2601"


def test_fail_fast_starts_no_other_job(project: Path) -> None:
    """Spark is not even opened: this test would wait for it."""
    other = PROJECT.partition("jobs:\n")[2].replace("orders", "clicks").replace("./in", "./in2")
    (project / "holdfast.yaml").write_text(PROJECT + other)
    shown = holdfast("run", "--fail-fast", "--json")
    assert shown.status == 22 and shown.document["result"]["spark"] is None
    ended = {one["job"]: one["ended"] for one in shown.document["result"]["jobs"]}
    assert ended == {"orders": "refused", "clicks": "stopped"}


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


def test_a_first_start_without_java_shows_in_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is no checkpoints/ yet, and no JVM is started."""
    (tmp_path / "holdfast.yaml").write_text(PROJECT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    assert holdfast("run", "orders").status == 52
    (job,) = holdfast("status", "--json").document["result"]["jobs"]
    assert (job["state"], job["last_attempt"]["code"]) == ("failed", "HF5201")


def test_a_first_start_with_another_spark_shows_in_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "holdfast.yaml").write_text(PROJECT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    assert holdfast("run", "orders").status == 52
    (job,) = holdfast("status", "--json").document["result"]["jobs"]
    assert (job["state"], job["last_attempt"]["code"]) == ("failed", "HF5204")
