"""Sessions around a run, and one life of a job, as far as they need no Spark."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from holdfast.errors import HoldfastError, SparkStartError
from holdfast.findings import Finding, Place, Severity
from holdfast.jobs.registry import remember_checkpoint
from holdfast.records.run import Ended
from holdfast.running.admission import unstarted_outcome
from holdfast.running.options import RunContext
from holdfast.running.report import Event, RunStep
from holdfast.running.stopping import Stopping, heeding_signals
from holdfast.spark import run
from holdfast.spark.run import (
    _acknowledging,
    _open_unless_stopped,
    _run_in_sessions,
    _warn,
    run_once,
    with_pending,
)
from tests.running.test_runner import DIED, Act, Stage, ended, left
from tests.spark.readyjobs import job as ready_job

RELEASE = cast(Any, SimpleNamespace(spark="4.2.0"))


class Sessions:
    """Opens one session after another; some do not open."""

    def __init__(self, stage: Stage, *opens: bool) -> None:
        self._stage = stage
        self._opens = list(opens)

    def __call__(self) -> AbstractContextManager[RunContext]:
        return self._opened()

    @contextmanager
    def _opened(self) -> Iterator[RunContext]:
        if not self._opens.pop(0):
            raise SparkStartError("HF5213", "Spark did not start")
        yield replace(self._stage.context(keep_running=True), versions=RELEASE)


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """Two jobs that lose their JVM once, in a process that has no session of its own."""
    monkeypatch.setattr(run, "has_session", lambda: False)
    stage = Stage(tmp_path, {"raw": "1 second", "gold": None}, "raw>gold")
    stage.acts["raw"] = [Act(batches=0, error=DIED), Act()]
    return stage


@pytest.mark.parametrize("how", list(Ended), ids=lambda one: one.value)
def test_the_report_names_the_pending_batch(tmp_path: Path, how: Ended) -> None:
    """Of a job that stopped or failed: of any other one it is not this run's to say."""
    job = ready_job(tmp_path)
    for name in ("offsets/0", "offsets/1", "commits/0"):
        file = tmp_path / "checkpoint" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("v1")
    outcome = unstarted_outcome(job, lambda _event: None, how, "")
    named = how in (Ended.STOPPED, Ended.FAILED)
    assert with_pending(job, outcome).report.pending == (1 if named else None)
    (tmp_path / "checkpoint/commits/1").write_text("v1")
    assert with_pending(job, outcome).report.pending is None


def test_a_new_session_is_opened_after_a_jvm_ended(stage: Stage) -> None:
    """Also where it takes two tries."""
    runner = stage.runner(keep_running=True)
    assert _run_in_sessions(runner, Sessions(stage, True, False, True)) == "4.2.0"
    outcomes = runner.outcomes()
    assert ended(outcomes) == {"raw": "finished", "gold": "finished"}
    assert outcomes["raw"].report.restarts == 2


def test_a_first_session_that_does_not_open_concerns_all(stage: Stage) -> None:
    with pytest.raises(SparkStartError):
        _run_in_sessions(stage.runner(keep_running=True), Sessions(stage, False))


def test_no_session_is_opened_where_nothing_is_left(stage: Stage) -> None:
    stage.stop()
    runner = stage.runner()
    assert _run_in_sessions(runner, Sessions(stage)) is None
    assert not left(runner)


def test_a_restart_is_admitted_like_a_first_start(tmp_path: Path) -> None:
    """The place of its checkpoint is compared before Spark is asked for anything."""
    (job,) = Stage(tmp_path, {"orders": None}).jobs
    job.folder.mkdir()
    remember_checkpoint(job.folder, "orders", "file:///another/place")
    context = Stage(tmp_path, {}).context()
    outcome = run_once(job, replace(context, options=context.options.for_restart()))
    assert outcome.report.ended is Ended.REFUSED
    assert outcome.error is not None and outcome.error.code.number == "HF1114"


def test_a_watcher_may_ask_to_stop_while_it_holds_its_own_lock() -> None:
    """The event that acknowledges it comes from another thread, and before the run is over."""
    lock, seen, stopping = threading.Lock(), [], Stopping()

    def watch(event: Event) -> None:
        with lock:
            seen.append(event)

    def body() -> None:
        with _acknowledging(stopping, watch), lock:
            stopping.ask()

    thread = threading.Thread(target=body, daemon=True)
    thread.start()
    thread.join(30)
    assert not thread.is_alive()
    assert seen == [RunStep("stopping; no job is running")]


def test_a_signal_breaks_off_no_call_into_a_jvm_that_goes_on(
    monkeypatch: pytest.MonkeyPatch, stage: Stage
) -> None:
    """Its answer would be taken for that of the next call, such as the one that stops Spark."""
    stopping, calls = Stopping(), []

    def opened(*_: object) -> str:
        signal.raise_signal(signal.SIGTERM)
        assert stopping.wait(5)
        calls.append("answered")
        return "session"

    monkeypatch.setattr(run, "has_session", lambda: True)
    monkeypatch.setattr(run, "open_session", opened)
    options: Any = None
    with heeding_signals(stopping):
        found = _open_unless_stopped(stage.jobs, options, stopping, lambda _: None, None)
    assert (found, calls) == (None, ["answered"])


def test_what_nobody_foresaw_ends_one_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a code, and not the others with it."""
    stage = Stage(tmp_path, {"orders": None})
    monkeypatch.setattr(run, "JobRun", int)
    outcome = run_once(stage.jobs[0], stage.context())
    assert isinstance(outcome.error, HoldfastError)
    assert (outcome.report.ended, outcome.error.code.number) == (Ended.FAILED, "HF5303")
    assert "TypeError" in outcome.error.message and "Traceback" in (outcome.error.trace or "")


def test_a_warning_before_a_start_is_at_the_line_of_the_program() -> None:
    """Not at one of ours, whatever stands between."""
    finding = Finding("HF3023", Severity.WARNING, "the table will not hold batch 0", Place(""))
    with pytest.warns(UserWarning, match="HF3023") as caught:
        _warn((finding,))
    assert caught[0].filename == __file__
