"""Chains, restarts and stops of several jobs, with lives and a clock that the test decides."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from holdfast.errors import HoldfastError, JvmDiedError, RefusedError, RunError, SinkError
from holdfast.findings import Finding, Place, Severity
from holdfast.jobs.lineage import Edge, Lineage
from holdfast.jobs.ready import FailureHook, ReadyJob, RestartPolicy
from holdfast.records.run import BatchNote, Ended
from holdfast.running.admission import refused_outcome, unstarted_outcome
from holdfast.running.options import RunContext, RunOptions
from holdfast.running.report import (
    BatchDone,
    Event,
    JobEnded,
    JobOutcome,
    JobReport,
    JobRestarting,
    JobsFailed,
    JobStarting,
    JobWaitingForUpstream,
)
from holdfast.running.runner import Clock, Happened, Runner, output_exists
from holdfast.running.stopping import Stopping
from holdfast.spark.session.jvm import Jvm
from holdfast.storage.location import parse_location
from tests.spark.readyjobs import job as ready_job

NOTE = BatchNote(0, 5, "2026-11-16T05:00:00.000Z", 0.1)
UNREACHABLE = SinkError("HF5041", "the database is unreachable: connection refused")
DIED = JvmDiedError("HF5304", "Spark's JVM (process 7) was killed by signal 9 (SIGKILL)")
USER_CODE = RunError("HF5301", "orders failed in your code: ZeroDivisionError")


class Act:
    """What one life does: commit some batches, and then end, fail, or go on until asked."""

    def __init__(
        self,
        *,
        batches: int = 1,
        error: HoldfastError | None = None,
        until: Callable[[], bool] | None = None,
        after: Callable[[], bool] = lambda: True,
        begun: bool = True,
    ) -> None:
        self.begun = begun
        """False where the JVM was gone before its turn came."""
        self.batches = batches
        self.error = error
        self.until = until
        """Goes on until this is so, or somebody asks to stop."""
        self.after = after
        """Commits nothing before this is so."""


class FakeClock(Clock):
    """Time that passes only while nobody runs."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self.time = 0.0

    def now(self) -> float:
        return self.time

    def next_of(self, reports: queue.Queue[Happened], seconds: float) -> Happened | None:
        if self._stage.running():
            return super().next_of(reports, 0.01)
        assert seconds > 0, "a run that waits for nothing keeps a core busy"
        self.time += seconds + 1e-9
        return super().next_of(reports, 0.0)


class Stage:
    """Jobs with the lives that they will have, and everything that was seen of them."""

    def __init__(self, tmp_path: Path, jobs: Mapping[str, str | None], *edges: str) -> None:
        self.jobs = [
            replace(ready_job(tmp_path / name), name=name, processing_time=interval)
            for name, interval in jobs.items()
        ]
        pairs = (edge.split(">") for edge in edges)
        self.lineage = Lineage(tuple(jobs), tuple(Edge(one, two, "source") for one, two in pairs))
        self.acts: dict[str, list[Act]] = {name: [Act()] for name in jobs}
        self.seen: list[Event] = []
        self.options: dict[str, list[RunOptions]] = {name: [] for name in jobs}
        self.running: Callable[[], tuple[str, ...]] = tuple
        self.hooked: list[tuple[str, JobOutcome]] = []
        self.stopping = Stopping()
        self.clock = FakeClock(self)
        self._lock = threading.Lock()

    def runner(self, *, outputs: Sequence[str] = (), **wished: Any) -> Runner:
        made = Runner(
            self.jobs,
            self.lineage,
            run_once=self.run_once,
            options=RunOptions(**wished),
            stopping=self.stopping,
            watch=self.watch,
            call_hook=self.hook,
            has_output=lambda job: job.name in outputs,
            clock=self.clock,
        )
        self.running = lambda: made.running
        return made

    def context(self, **wished: Any) -> RunContext:
        return RunContext(
            cast(Any, None),
            Jvm(os.getpid()),
            cast(Any, None),
            RunOptions(**wished),
            self.stopping,
            self.watch,
        )

    def run(self, **wished: Any) -> Mapping[str, JobOutcome]:
        """Run all jobs in one session."""
        outputs = wished.pop("outputs", ())
        runner = self.runner(outputs=outputs, **wished)
        runner.run(self.context(**wished))
        assert not left(runner)
        return runner.outcomes()

    def watch(self, event: Event) -> None:
        with self._lock:
            self.seen.append(event)

    def hook(self, job: ReadyJob, outcome: JobOutcome) -> Finding | None:
        self.hooked.append((job.name, outcome))
        return Finding("HF5314", Severity.WARNING, "nobody answers", Place(""))

    def run_once(self, job: ReadyJob, context: RunContext) -> JobOutcome:
        with self._lock:
            self.options[job.name].append(context.options)
            act = self.acts[job.name].pop(0)
        if not act.begun:
            why = "not started: Spark's JVM ended"
            return replace(
                unstarted_outcome(job, context.watch, Ended.SKIPPED, why), error=act.error
            )
        context.watch(JobStarting(job.name))
        if isinstance(act.error, RefusedError):
            return refused_outcome(job, act.error, context.watch)
        self._wait(act.after)
        for _ in range(act.batches):
            context.watch(BatchDone(job.name, NOTE, 1, 5, 1.0, None))
        if act.until is not None:
            self._wait(act.until)
        ended = Ended.STOPPED if self.stopping.asked else Ended.FINISHED
        ended = Ended.FAILED if act.error is not None else ended
        context.watch(JobEnded(job.name, ended, act.batches, 5, 1.0, None))
        report = JobReport(
            job.name, "query", "run", 1, act.batches, 5 * act.batches, 0, ended, 1.0, "here",
            0 if act.batches else None, act.batches - 1 if act.batches else None,
        )  # fmt: skip
        return JobOutcome(report, act.error)

    def _wait(self, condition: Callable[[], bool]) -> None:
        pause = threading.Event()
        for _ in range(20_000):
            if condition() or self.stopping.asked:
                return
            pause.wait(0.001)
        raise AssertionError("waited in vain")

    def saw(self, kind: type[Event], job: str) -> bool:
        """Whether such an event of a job came already."""
        with self._lock:
            return any(isinstance(one, kind) and one.job == job for one in self.seen)

    def waits(self, job: str) -> Callable[[], bool]:
        """Give a question: does this job wait for its upstream?"""
        return lambda: self.saw(JobWaitingForUpstream, job)

    def order(self, *kinds: type[Event]) -> list[tuple[str, str | None]]:
        """Give the events of some kinds, in the order in which they came."""
        return [(type(one).__name__, one.job) for one in self.seen if isinstance(one, kinds)]

    def stop(self) -> bool:
        """Ask to stop, once; true, for a life that waits for it."""
        if not self.stopping.asked:
            self.stopping.ask()
        return True


def ended(outcomes: Mapping[str, JobOutcome]) -> dict[str, str]:
    return {name: one.report.ended.value for name, one in outcomes.items()}


def left(runner: Runner) -> bool:
    """Whether jobs are left to run."""
    return runner.unfinished


def codes(outcome: JobOutcome) -> list[str]:
    return [one.code for one in outcome.findings]


# -- chains


def test_a_chain_of_jobs_that_go_on_waits_for_each_first_commit(tmp_path: Path) -> None:
    """And says so; nobody starts before what it reads is there."""
    stage = Stage(tmp_path, {"raw": "1 second", "clean": "1 second", "gold": "1 second"},
                  "raw>clean", "clean>gold")  # fmt: skip
    stage.acts["raw"] = [Act(after=stage.waits("clean"), until=lambda: False)]
    stage.acts["clean"] = [Act(after=stage.waits("gold"), until=lambda: False)]
    stage.acts["gold"] = [Act(until=stage.stop)]
    outcomes = stage.run()
    assert ended(outcomes) == {"raw": "stopped", "clean": "stopped", "gold": "stopped"}
    commits_and_starts = stage.order(JobStarting, BatchDone)
    assert commits_and_starts == [
        (kind, job) for job in ("raw", "clean", "gold") for kind in ("JobStarting", "BatchDone")
    ]
    waiting = [one for one in stage.seen if isinstance(one, JobWaitingForUpstream)]
    assert [(one.job, one.upstream) for one in waiting] == [
        ("clean", ("raw",)), ("gold", ("clean",)),
    ]  # fmt: skip


def test_nobody_waits_for_output_that_is_there(tmp_path: Path) -> None:
    stage = Stage(tmp_path, {"raw": "1 second", "clean": "1 second"}, "raw>clean")
    stage.acts["raw"] = [Act(after=lambda: stage.saw(BatchDone, "clean"), until=lambda: False)]
    stage.acts["clean"] = [Act(until=stage.stop)]
    assert ended(stage.run(outputs=["raw"])) == {"raw": "stopped", "clean": "stopped"}
    assert not stage.saw(JobWaitingForUpstream, "clean")


def test_a_job_that_ends_by_itself_runs_beside_the_one_that_feeds_it(tmp_path: Path) -> None:
    """After its first commit; those that need no such job run before all others, one by one."""
    stage = Stage(tmp_path, {"other": None, "raw": "1 second", "report": None, "sums": None},
                  "raw>report", "report>sums")  # fmt: skip
    stage.acts["raw"] = [Act(until=lambda: stage.saw(JobEnded, "sums"))]
    assert set(ended(stage.run()).values()) == {"finished"}
    assert stage.order(JobStarting, JobEnded) == [
        ("JobStarting", "other"), ("JobEnded", "other"), ("JobStarting", "raw"),
        ("JobStarting", "report"), ("JobEnded", "report"),
        ("JobStarting", "sums"), ("JobEnded", "sums"), ("JobEnded", "raw"),
    ]  # fmt: skip


def test_jobs_that_end_by_themselves_run_one_at_a_time(tmp_path: Path) -> None:
    """The second has a while to come too early."""
    stage = Stage(tmp_path, {"first": None, "second": None})
    looks = iter(range(100))
    stage.acts["first"] = [
        Act(after=lambda: stage.saw(JobStarting, "second") or next(looks, None) is None)
    ]
    stage.run()
    assert [job for _, job in stage.order(JobStarting, JobEnded)] == [
        "first", "first", "second", "second",
    ]  # fmt: skip


@pytest.mark.parametrize("error", [USER_CODE, None], ids=["failed", "finished"])
def test_the_wait_ends_with_the_upstream_job(tmp_path: Path, error: HoldfastError | None) -> None:
    """One that failed has nothing to read; one that ended well is read, whatever it wrote."""
    stage = Stage(tmp_path, {"raw": "1 second", "clean": "1 second"}, "raw>clean")
    stage.acts["raw"] = [Act(batches=0, error=error)]
    outcomes = stage.run()
    assert outcomes["clean"].report.ended.value == ("skipped" if error else "finished")
    assert stage.saw(JobStarting, "clean") == (error is None)


def test_the_wait_ends_when_somebody_asks_to_stop(tmp_path: Path) -> None:
    stage = Stage(tmp_path, {"raw": "1 second", "clean": "1 second"}, "raw>clean")
    stage.acts["raw"] = [Act(batches=0, until=lambda: stage.saw(JobWaitingForUpstream, "clean")
                             and stage.stop())]  # fmt: skip
    assert ended(stage.run()) == {"raw": "stopped", "clean": "stopped"}
    assert not stage.saw(JobStarting, "clean")


def test_what_a_job_has_written_is_seen_without_spark(tmp_path: Path) -> None:
    """By its output; by its commits where only Spark can look into the output."""
    job = replace(ready_job(tmp_path), name="raw")
    assert not output_exists(job)
    (tmp_path / "checkpoint/commits").mkdir(parents=True)
    assert not output_exists(job)
    (tmp_path / "checkpoint/commits/0").write_text("v1")
    assert output_exists(job)
    place = parse_location(str(tmp_path / "out"))
    delta = replace(job, sink=replace(job.sink, format="delta", location=place))
    files = replace(job, sink=replace(job.sink, format="parquet", location=place))
    (tmp_path / "out/_delta_log").mkdir(parents=True)
    assert not output_exists(delta) and not output_exists(files)
    (tmp_path / "out/_delta_log/00000000000000000000.json").write_text("{}")
    (tmp_path / "out/part-0.parquet").write_text("")
    assert output_exists(delta) and output_exists(files)


# -- failures of a group


def test_a_failure_is_shown_while_the_others_go_on(tmp_path: Path) -> None:
    stage = Stage(tmp_path, {"orders": "1 second", "clicks": "1 second", "visits": "1 second"})
    stage.acts["orders"] = [Act(error=USER_CODE)]
    stage.acts["clicks"] = [Act(until=lambda: stage.saw(JobsFailed, "orders"))]
    stage.acts["visits"] = [Act(until=lambda: stage.saw(JobEnded, "clicks"))]
    assert ended(stage.run()) == {"orders": "failed", "clicks": "finished", "visits": "finished"}
    (shown,) = (one for one in stage.seen if isinstance(one, JobsFailed))
    assert (shown.failed, shown.jobs) == (("orders (HF5301)",), 3)
    assert not stage.stopping.asked


def test_fail_fast_stops_the_others(tmp_path: Path) -> None:
    """Those that run and those that have not begun; nobody is asked twice."""
    stage = Stage(
        tmp_path, {"orders": "1 second", "clicks": "1 second", "late": None}, "clicks>late"
    )
    stage.acts["orders"] = [Act(error=USER_CODE, after=lambda: stage.saw(JobStarting, "clicks"))]
    stage.acts["clicks"] = [Act(batches=0, until=lambda: False)]
    outcomes = stage.run(fail_fast=True)
    assert ended(outcomes) == {"orders": "failed", "clicks": "stopped", "late": "stopped"}
    assert stage.stopping.asked and not stage.stopping.at_once
    (why,) = (one for one in stage.seen if isinstance(one, JobEnded) and one.job == "late")
    assert why.message == "stopped because orders failed (fail fast)"


def test_fail_fast_starts_nothing_where_a_job_is_refused(tmp_path: Path) -> None:
    stage = Stage(tmp_path, {"orders": None, "clicks": None})
    runner = stage.runner(fail_fast=True)
    held = HoldfastError("HF2601", "held")
    runner.refuse({"orders": refused_outcome(stage.jobs[0], held, stage.watch)})
    runner.wait_until_due()
    assert not left(runner), "no session is opened for nothing"
    assert ended(runner.outcomes())["clicks"] == "stopped"


# -- staying up


def test_a_passing_failure_is_restarted_with_a_growing_pause(tmp_path: Path) -> None:
    """Others go on; what was accepted is not accepted again; the report sums all lives up."""
    stage = Stage(tmp_path, {"orders": "1 second", "clicks": "1 second"})
    down = Act(batches=0, error=UNREACHABLE)
    stage.acts["orders"] = [Act(batches=2, error=UNREACHABLE), down, down, Act(batches=3)]
    wished = {"keep_running": True, "accepted": frozenset({"empty-sink"}), "pending": True}
    outcomes = stage.run(**wished)
    report = outcomes["orders"].report
    assert (report.ended, report.restarts, report.batches) == (Ended.FINISHED, 3, 5)
    assert (report.first_batch, report.rows, report.seconds) == (0, 25, 4.0)
    pauses = [one for one in stage.seen if isinstance(one, JobRestarting)]
    assert [(one.restart, one.limit, one.seconds) for one in pauses] == [
        (1, 10, 5.0), (2, 10, 10.0), (3, 10, 20.0),
    ]  # fmt: skip
    assert stage.clock.time >= 35.0
    first, *later = stage.options["orders"]
    assert (first.accepted, first.pending) == (frozenset({"empty-sink"}), True)
    assert [(one.accepted, one.pending, one.again) for one in later] == [
        (frozenset(), None, True)
    ] * 3
    assert codes(outcomes["orders"]) == ["HF5312"] and codes(outcomes["clicks"]) == []
    (note,) = outcomes["orders"].findings
    assert note.severity is Severity.INFO and "orders was restarted 3 times" in note.message
    assert note.message.endswith(", last after HF5041: the database is unreachable: connection "
                                 "refused")  # fmt: skip
    failures = cast(Any, note.evidence["failures"])
    assert [one["code"] for one in failures] == ["HF5041"] * 3


def test_the_limit_counts_failures_without_a_committed_batch(tmp_path: Path) -> None:
    """A batch in between starts the count, and the pause, again."""
    stage = Stage(tmp_path, {"orders": "1 second"})
    stage.jobs = [replace(stage.jobs[0], restart=RestartPolicy(2, 1.0))]
    down, up = Act(batches=0, error=UNREACHABLE), Act(batches=1, error=UNREACHABLE)
    stage.acts["orders"] = [down, down, up, down, down]
    outcome = stage.run(keep_running=True)["orders"]
    assert outcome.report.ended is Ended.FAILED and outcome.error is UNREACHABLE
    assert outcome.report.restarts == 4 and not stage.acts["orders"]
    assert [one.seconds for one in stage.seen if isinstance(one, JobRestarting)] == [
        1.0, 2.0, 1.0, 2.0,
    ]  # fmt: skip
    assert codes(outcome) == ["HF5312", "HF5313"]
    assert "2 restarts in a row committed no batch" in outcome.findings[-1].message


def test_a_restart_names_its_own_cause_and_not_how_the_job_ended(tmp_path: Path) -> None:
    stage = Stage(tmp_path, {"orders": "1 second"})
    stage.acts["orders"] = [Act(error=UNREACHABLE), Act(error=USER_CODE)]
    (note,) = stage.run(keep_running=True)["orders"].findings
    assert note.message == f"orders was restarted once, after HF5041: {UNREACHABLE.message}"


@pytest.mark.parametrize("limit", [0, 1])
def test_a_small_limit(tmp_path: Path, limit: int) -> None:
    stage = Stage(tmp_path, {"orders": None})
    stage.jobs = [replace(stage.jobs[0], restart=RestartPolicy(limit, 1.0))]
    stage.acts["orders"] = [Act(batches=0, error=UNREACHABLE)] * 2
    outcome = stage.run(keep_running=True)["orders"]
    assert outcome.report.restarts == limit and codes(outcome)[-1] == "HF5313"


@pytest.mark.parametrize("keep_running", [True, False])
def test_what_stays_is_not_restarted(tmp_path: Path, keep_running: bool) -> None:
    """User code never; what passes only where it was asked for."""
    stage = Stage(tmp_path, {"orders": None, "clicks": None})
    stage.acts["orders"] = [Act(error=USER_CODE if keep_running else UNREACHABLE)]
    outcomes = stage.run(keep_running=keep_running)
    assert ended(outcomes) == {"orders": "failed", "clicks": "finished"}
    assert codes(outcomes["orders"]) == [] and not stage.saw(JobRestarting, "orders")


def test_a_refusal_at_a_restart_ends_the_job(tmp_path: Path) -> None:
    """A restart passes the guards like any start."""
    stage = Stage(tmp_path, {"orders": "1 second"})
    refused = RefusedError("HF3013", "the output is gone")
    stage.acts["orders"] = [Act(batches=2, error=UNREACHABLE), Act(error=refused)]
    outcome = stage.run(keep_running=True)["orders"]
    assert (outcome.report.ended, outcome.error) == (Ended.REFUSED, refused)
    assert (outcome.report.batches, outcome.report.generation) == (2, 1), "of the life before"


def test_a_pause_of_a_job_that_ends_by_itself_holds_only_its_readers_up(tmp_path: Path) -> None:
    stage = Stage(tmp_path, {"raw": None, "other": None, "clean": None, "live": "1 second"},
                  "raw>clean")  # fmt: skip
    stage.acts["raw"] = [Act(error=UNREACHABLE), Act()]
    stage.acts["live"] = [Act(until=lambda: stage.saw(JobWaitingForUpstream, "clean"))]
    assert set(ended(stage.run(keep_running=True)).values()) == {"finished"}
    starts = [job for _, job in stage.order(JobStarting)]
    assert starts == ["raw", "other", "live", "raw", "clean"]


def test_a_stop_ends_a_pause_with_the_last_failure(tmp_path: Path) -> None:
    """Its hook is called: nobody will start it again."""
    stage = Stage(tmp_path, {"orders": "1 second", "clicks": "1 second"})
    hook = FailureHook("holdfast.yaml:9", ("true",))
    stage.jobs = [replace(one, on_failure=hook) for one in stage.jobs]
    stage.acts["orders"] = [Act(error=UNREACHABLE)]
    stage.acts["clicks"] = [Act(until=lambda: stage.saw(JobRestarting, "orders") and stage.stop())]
    outcomes = stage.run(keep_running=True)
    assert ended(outcomes) == {"orders": "failed", "clicks": "stopped"}
    assert [job for job, _ in stage.hooked] == ["orders"]
    assert outcomes["orders"].error is UNREACHABLE


# -- a JVM that ends


def test_a_dead_jvm_starts_every_job_again_in_a_new_session(tmp_path: Path) -> None:
    """Those that ran, after their pause, and those that had not begun; one that ended stays so."""
    stage = Stage(tmp_path, {"done": None, "raw": "1 second", "other": "1 second",
                             "gold": "1 second"}, "raw>gold")  # fmt: skip
    both = lambda: stage.saw(JobStarting, "raw") and stage.saw(JobStarting, "other")  # noqa: E731
    stage.acts["raw"] = [Act(batches=0, after=both, error=DIED), Act(until=lambda: False)]
    stage.acts["other"] = [Act(after=both, error=DIED), Act(until=lambda: False)]
    stage.acts["gold"] = [Act(until=stage.stop)]
    runner = stage.runner(keep_running=True)
    runner.run(stage.context(keep_running=True))
    assert left(runner) and not runner.running
    assert [job for _, job in stage.order(JobStarting)] == ["done", "raw", "other"]
    runner.wait_until_due()
    assert stage.clock.time >= 5.0
    runner.run(stage.context(keep_running=True))
    outcomes = runner.outcomes()
    assert not left(runner)
    assert {name: one.report.restarts for name, one in outcomes.items()} == {
        "done": 0, "raw": 1, "other": 1, "gold": 0,
    }  # fmt: skip
    assert ended(outcomes)["gold"] == "stopped"


def test_a_dead_jvm_ends_all_jobs_where_nobody_keeps_them_running(tmp_path: Path) -> None:
    """Also where the session is not ours: it cannot be opened again. A life says so at once."""
    for wished, own in (({}, True), ({"keep_running": True}, False)):
        stage = Stage(tmp_path, {"raw": None, "other": None, "clean": None}, "raw>clean")
        stage.acts["raw"] = [Act(error=DIED)]
        stage.acts["other"] = [Act(error=DIED, begun=False)]
        runner = stage.runner(**cast(Any, wished))
        runner.run(stage.context(), own_session=own)
        outcomes = runner.outcomes()
        assert not left(runner)
        assert ended(outcomes) == {"raw": "failed", "other": "skipped", "clean": "skipped"}
        assert outcomes["other"].error is DIED and not stage.saw(JobRestarting, "raw")


def test_a_turn_that_came_too_late_is_no_try(tmp_path: Path) -> None:
    """A job that found the JVM gone begins in the new session with all that was wished."""
    stage = Stage(tmp_path, {"raw": "1 second", "late": "1 second"})
    stage.acts["raw"] = [Act(error=DIED), Act()]
    stage.acts["late"] = [Act(error=DIED, begun=False), Act()]
    runner = stage.runner(keep_running=True)
    for _ in range(2):
        runner.run(stage.context(keep_running=True, pending=True))
        runner.wait_until_due()
    assert not left(runner)
    assert [one.again for one in stage.options["late"]] == [False, False]
    assert {name: one.report.restarts for name, one in runner.outcomes().items()} == {
        "raw": 1, "late": 0,
    }  # fmt: skip


def test_a_session_that_does_not_open_again_counts_as_a_failure(tmp_path: Path) -> None:
    """Of every job that is left, up to its limit."""
    stage = Stage(tmp_path, {"orders": "1 second", "done": None})
    stage.jobs = [replace(one, restart=RestartPolicy(1, 1.0)) for one in stage.jobs]
    stage.acts["orders"] = [Act(error=UNREACHABLE), Act(error=UNREACHABLE)]
    runner = stage.runner(keep_running=True)
    error = HoldfastError("HF5213", "Spark did not start")
    runner.no_session(error)
    assert left(runner)
    runner.wait_until_due()
    runner.no_session(error)
    assert not left(runner)
    assert {one.error for one in runner.outcomes().values()} == {error}


# -- hooks


def test_the_hook_is_called_once_when_a_job_failed_for_good(tmp_path: Path) -> None:
    """Not for a failure that passed; what is wrong with it is a finding beside the job's error."""
    stage = Stage(tmp_path, {"orders": "1 second", "clicks": None, "below": None}, "orders>below")
    hook = FailureHook("holdfast.yaml:9", ("true",))
    stage.jobs = [replace(one, on_failure=hook) for one in stage.jobs]
    stage.acts["orders"] = [Act(batches=0, error=UNREACHABLE), Act(batches=0, error=USER_CODE)]
    outcomes = stage.run(keep_running=True)
    assert [(job, one.error) for job, one in stage.hooked] == [("orders", USER_CODE)]
    assert codes(outcomes["orders"]) == ["HF5312", "HF5314"]
    assert outcomes["orders"].error is USER_CODE
    assert ended(outcomes) == {"orders": "failed", "clicks": "finished", "below": "skipped"}


def test_a_refused_job_calls_its_hook_too(tmp_path: Path) -> None:
    stage = Stage(tmp_path, {"orders": None})
    stage.jobs = [replace(stage.jobs[0], on_failure=FailureHook("here", ("true",)))]
    runner = stage.runner()
    runner.refuse(
        {"orders": refused_outcome(stage.jobs[0], HoldfastError("HF2601", "held"), stage.watch)}
    )
    assert codes(runner.outcomes()["orders"]) == ["HF5314"]
    assert [job for job, _ in stage.hooked] == ["orders"]


# -- at once


class Hurrying(FakeClock):
    """Time that passes although jobs run."""

    def next_of(self, reports: queue.Queue[Happened], seconds: float) -> Happened | None:
        self.time += seconds
        return Clock.next_of(self, reports, 0.001)


def test_a_second_wish_to_stop_waits_for_no_code_of_the_users(tmp_path: Path) -> None:
    """Jobs that report are believed, one that never returns is left; the rest never begins."""
    stage = Stage(tmp_path, {"deaf": "1 second", "hears": "1 second", "below": None}, "deaf>below")
    stage.clock = Hurrying(stage)
    never, lives = threading.Event(), stage.run_once

    def run_once(job: ReadyJob, context: RunContext) -> JobOutcome:
        if job.name != "deaf":
            return lives(job, context)
        stage.stopping.ask()
        stage.stopping.ask()
        never.wait()
        return unstarted_outcome(job, context.watch, Ended.FAILED, "too late")

    stage.run_once = run_once  # type: ignore[method-assign]
    outcomes = stage.run()
    assert ended(outcomes) == dict.fromkeys(("deaf", "hears", "below"), "stopped")
    (why,) = [one.message for one in stage.seen if isinstance(one, JobEnded) and one.job == "deaf"]
    assert why == "stopped at once; its code did not return"
    never.set()


def test_a_job_that_is_given_up_is_reported_with_what_it_did(tmp_path: Path) -> None:
    """Its life can say that although its code does not return."""
    stage = Stage(tmp_path, {"deaf": "1 second"})
    stage.clock = Hurrying(stage)
    never = threading.Event()

    def run_once(job: ReadyJob, context: RunContext) -> JobOutcome:
        done = unstarted_outcome(job, lambda _event: None, Ended.STOPPED, "")
        done = replace(done, report=replace(done.report, batches=3, rows=7, seconds=4.5))
        context.abandonable(lambda: done)
        stage.stopping.ask()
        stage.stopping.ask()
        never.wait()
        return unstarted_outcome(job, context.watch, Ended.FAILED, "too late")

    stage.run_once = run_once  # type: ignore[method-assign]
    report = stage.run()["deaf"].report
    assert (report.batches, report.rows, report.seconds) == (3, 7, 4.5)
    assert not stage.saw(JobEnded, "deaf")
    never.set()


# -- what nobody foresaw


def test_what_breaks_a_life_stops_the_others_and_is_raised(tmp_path: Path) -> None:
    stage = Stage(tmp_path, {"orders": "1 second", "clicks": "1 second"})
    stage.acts["orders"] = []
    stage.acts["clicks"] = [Act(until=lambda: False)]
    with pytest.raises(IndexError):
        stage.run()
    assert stage.stopping.asked and stage.running() == ()
