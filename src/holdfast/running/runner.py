"""Runs several jobs in one Spark: those that end by themselves in order, others side by side.

A job starts when what it reads is there: after a job that ends by itself has ended, after the first
commit of one that goes on. The main thread alone decides; each life of a job has a thread of its
own, which only reports what happened. Nothing here knows Spark: one life is a function that is
given (`run_once`), and so is the clock.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from holdfast.errors import HoldfastError, JvmDiedError, StorageError
from holdfast.jobs.lineage import Lineage
from holdfast.jobs.ready import ReadyJob
from holdfast.records.run import Ended
from holdfast.running.admission import DID_NOT_RETURN, refused_outcome, unstarted_outcome
from holdfast.running.hooks import CallHook, HookCalls
from holdfast.running.options import Abandon, RunContext, RunOptions
from holdfast.running.report import (
    BatchDone,
    Event,
    JobOutcome,
    JobRestarting,
    JobsFailed,
    JobWaitingForUpstream,
    Watcher,
)
from holdfast.running.restarts import JobRestarts, backoff_seconds, passes
from holdfast.running.stopping import Stopping
from holdfast.storage.opening import open_reader

WELL = frozenset({Ended.FINISHED, Ended.STOPPED})
FAILED_FOR_GOOD = frozenset({Ended.FAILED, Ended.REFUSED, Ended.LOST_LEASE})
_LAST_SECONDS = 1.2
"""How long jobs may take to report when somebody insists on a stop."""
_LOOK_SECONDS = 0.2
"""How often a request to stop is looked for."""

RunOnce = Callable[[ReadyJob, RunContext], JobOutcome]
"""Runs one life of a job, from its start to its end."""


@dataclass(frozen=True)
class Happened:
    """What a thread reports of a job: its first commit, or how its life ended."""

    job: str
    outcome: JobOutcome | None = None
    broke: BaseException | None = None


class Clock:
    """Time as a run sees it."""

    def now(self) -> float:
        """Return seconds that only grow."""
        return time.monotonic()

    def next_of(self, reports: queue.Queue[Happened], seconds: float) -> Happened | None:
        """Return the next report, None where none comes within this time."""
        try:
            return reports.get(timeout=max(seconds, 0.0))
        except queue.Empty:
            return None


class _Stage(Enum):
    WAITING = "waiting"
    RUNNING = "running"
    PAUSED = "paused"
    """It failed for a reason that passes, and is started again when its pause is over."""
    DONE = "done"


@dataclass
class _Member:
    """One job of the run, and where it stands."""

    job: ReadyJob
    upstream: tuple[str, ...]
    ends_first: bool
    """It ends by itself, and so does everything that it reads from."""
    lives: JobRestarts
    stage: _Stage = _Stage.WAITING
    has_output: bool = False
    due: float = 0.0
    announced: bool = False
    outcome: JobOutcome | None = None
    abandon: Abandon | None = None
    """Ends the life that runs from outside; None before its query runs."""

    def abandonable(self, abandon: Abandon) -> None:
        """Take how the life that runs can be ended from outside."""
        self.abandon = abandon

    @property
    def goes_on(self) -> bool:
        """Whether it runs until it is stopped."""
        return self.job.processing_time is not None


def output_exists(job: ReadyJob) -> bool:
    """Whether a job has written something that others can read; False where nobody can say."""
    try:
        if job.sink.location is None:
            return bool(open_reader(job.checkpoint, job.settings).names("commits"))
        output = open_reader(job.sink.location, job.sink.settings)
        if job.sink.format == "delta":
            return any(name.endswith(".json") for name in output.names("_delta_log"))
        return any(not name.startswith((".", "_")) for name in output.names(""))
    except StorageError:
        return False


class Runner:
    """Runs jobs; one that fails takes down only those that read what it writes."""

    def __init__(
        self,
        jobs: Sequence[ReadyJob],
        lineage: Lineage,
        *,
        run_once: RunOnce,
        options: RunOptions,
        stopping: Stopping,
        watch: Watcher,
        call_hook: CallHook = lambda _job, _outcome: None,
        has_output: Callable[[ReadyJob], bool] = output_exists,
        clock: Clock | None = None,
    ) -> None:
        self._members = _members(jobs, lineage)
        self._lineage = lineage
        self._run_once = run_once
        self._options = options
        self._stopping = stopping
        self._watch = watch
        self._has_output = has_output
        self._clock = clock or Clock()
        self._reports: queue.Queue[Happened] = queue.Queue()
        self._hooks = HookCalls(call_hook)
        self._side_by_side = False
        self._own_session = True
        self._needs_session = False
        self._broke: BaseException | None = None
        self._why_stopped = "stopped before it began"

    @property
    def unfinished(self) -> bool:
        """Whether a job is left that has to run, in this session or in a new one."""
        return any(one.stage is not _Stage.DONE for one in self._members.values())

    @property
    def left(self) -> tuple[ReadyJob, ...]:
        """The jobs that have to run yet."""
        return tuple(one.job for one in self._members.values() if one.stage is not _Stage.DONE)

    @property
    def running(self) -> tuple[str, ...]:
        """The jobs that run now."""
        return tuple(one.job.name for one in self._in(_Stage.RUNNING))

    def refuse(self, outcomes: Mapping[str, JobOutcome]) -> None:
        """Take how jobs ended that could not even be begun."""
        for name, outcome in outcomes.items():
            self._ended(self._members[name], outcome)

    def run(self, context: RunContext, *, own_session: bool = True) -> None:
        """Run until every job is over, or until the JVM is gone and a new session is needed.

        A session that is not ours cannot be opened again: then a dead JVM ends every job for good.
        """
        self._begin_session(own_session)
        while self.unfinished and not self._is_over_in_session():
            self._leave_out()
            if self._stopping.at_once:
                self._await_last_reports()
                break
            if not self._needs_session:
                self._start_what_can(context)
            self._take(self._clock.next_of(self._reports, self._patience()))
        if self._broke is not None:
            raise self._broke

    def _await_last_reports(self) -> None:
        """Wait a moment for the running jobs to report; the user's code may never return."""
        until = self._clock.now() + _LAST_SECONDS
        while self.running and (left := until - self._clock.now()) > 0:
            self._take(self._clock.next_of(self._reports, left))
        for one in [*self._in(_Stage.RUNNING)]:
            self._settle(one, self._abandoned(one))
        self._leave_out()

    def _abandoned(self, one: _Member) -> JobOutcome:
        if one.abandon is not None:
            return one.lives.end(one.abandon())
        return self._left_out(one, Ended.STOPPED, DID_NOT_RETURN)

    def wait_until_due(self) -> None:
        """Wait until a job may start again, or somebody asks to stop."""
        self._leave_out()
        while self.unfinished and not any(map(self._can_start, self._members.values())):
            self._take(self._clock.next_of(self._reports, self._patience()))
            self._leave_out()

    def no_session(self, error: HoldfastError) -> None:
        """Let every job that is left fail once more: Spark could not be started for them."""
        for one in self._members.values():
            if one.stage is not _Stage.DONE:
                self._ended(one, refused_outcome(one.job, error, self._watch))

    def outcomes(self) -> Mapping[str, JobOutcome]:
        """Return how every job ended, when the hooks that were called have answered."""
        for name, findings in self._hooks.answers(lambda: self._stopping.at_once):
            one = self._members[name]
            assert one.outcome is not None
            one.outcome = replace(one.outcome, findings=(*one.outcome.findings, *findings))
        return {name: one.outcome for name, one in self._members.items() if one.outcome}

    # -- deciding

    @property
    def _reopens(self) -> bool:
        return self._options.keep_running and self._own_session

    def _is_over_in_session(self) -> bool:
        return (self._needs_session or self._broke is not None) and not self.running

    def _in(self, stage: _Stage) -> Iterator[_Member]:
        return (one for one in self._members.values() if one.stage is stage)

    def _begin_session(self, own_session: bool) -> None:
        self._own_session, self._needs_session = own_session, False
        read = {name for one in self._members.values() for name in one.upstream}
        for one in self._members.values():
            if one.goes_on and one.job.name in read and not one.has_output:
                one.has_output = self._has_output(one.job)

    def _leave_out(self) -> None:
        """Settle the jobs that will not start: asked to stop, or nothing to read from."""
        if self._stopping.asked:
            for one in [*self._in(_Stage.PAUSED)]:
                self._finish(one, self._noted(one, one.outcome))
            for one in [*self._in(_Stage.WAITING)]:
                self._settle(one, self._left_out(one, Ended.STOPPED, self._why_stopped))
        for one in [*self._in(_Stage.WAITING)]:
            if failed := self._failed_above(one):
                jobs = "jobs" if len(failed) > 1 else "job"
                why = f"upstream {jobs} {', '.join(failed)} failed"
                self._settle(one, self._left_out(one, Ended.SKIPPED, why))

    def _left_out(self, one: _Member, ended: Ended, why: str) -> JobOutcome:
        return one.lives.end(unstarted_outcome(one.job, self._watch, ended, why))

    def _failed_above(self, one: _Member) -> list[str]:
        above = self._lineage.upstream_of(one.job.name)
        return [
            name
            for name, other in self._members.items()
            if name in above
            and other.stage is _Stage.DONE
            and other.outcome is not None
            and other.outcome.report.ended not in WELL
        ]

    def _start_what_can(self, context: RunContext) -> None:
        for one in self._startable():
            self._start(one, context)
        if self._side_by_side:
            self._announce_waiting()

    def _startable(self) -> list[_Member]:
        """Choose what starts now: one that ends by itself, or else all of the others.

        Only once nothing of the first kind can start do the others begin; from then on, both do.
        """
        ready = [one for one in self._members.values() if self._can_start(one)]
        first = [one for one in ready if one.ends_first]
        busy = any(one.ends_first for one in self._in(_Stage.RUNNING))
        chosen = [] if busy else first[:1]
        self._side_by_side = self._side_by_side or not (busy or first)
        if self._side_by_side:
            chosen += [one for one in ready if not one.ends_first]
        return chosen

    def _can_start(self, one: _Member) -> bool:
        over = one.stage is _Stage.PAUSED and self._clock.now() >= one.due
        return (over or one.stage is _Stage.WAITING) and not self._awaited(one)

    def _awaited(self, one: _Member) -> tuple[str, ...]:
        """Name the jobs whose output a job still waits for."""
        above = (self._members[name] for name in one.upstream)
        return tuple(
            other.job.name
            for other in above
            if other.stage is not _Stage.DONE and not (other.goes_on and other.has_output)
        )

    def _announce_waiting(self) -> None:
        for one in self._in(_Stage.WAITING):
            awaited = self._awaited(one)
            if awaited and not one.announced:
                one.announced = True
                self._watch(JobWaitingForUpstream(one.job.name, awaited))

    def _patience(self) -> float:
        """Return how long to wait for a report: until a pause is over, or a request may come."""
        now = self._clock.now()
        # One whose pause is over may wait for more than time: it must not keep us awake.
        pauses = (one.due - now for one in self._in(_Stage.PAUSED) if one.due > now)
        return min([_LOOK_SECONDS, *pauses])

    # -- a life

    def _start(self, one: _Member, context: RunContext) -> None:
        options = context.options.for_restart() if one.lives.tries else context.options
        one.stage, one.abandon = _Stage.RUNNING, None
        mine = replace(
            context,
            options=options,
            watch=self._reporting(one.job.name, context.watch),
            abandonable=one.abandonable,
        )
        name = f"holdfast-job-{one.job.name}"
        threading.Thread(target=self._live, args=(one.job, mine), name=name, daemon=True).start()

    def _reporting(self, job: str, watch: Watcher) -> Watcher:
        def reported(event: Event) -> None:
            if isinstance(event, BatchDone):
                self._reports.put(Happened(job))
            watch(event)

        return reported

    def _live(self, job: ReadyJob, context: RunContext) -> None:
        try:
            outcome = self._run_once(job, context)
        except BaseException as error:  # noqa: BLE001 - `run` raises it where it can be seen
            self._reports.put(Happened(job.name, broke=error))
        else:
            self._reports.put(Happened(job.name, outcome))

    def _take(self, happened: Happened | None) -> None:
        if happened is None:
            return
        one = self._members[happened.job]
        if happened.broke is not None:
            one.stage = _Stage.DONE
            self._broke = self._broke or happened.broke
            self._stop_all(f"stopped because {one.job.name} failed with an internal error")
        elif happened.outcome is not None:
            self._ended(one, happened.outcome)
        else:
            one.has_output = True

    def _ended(self, one: _Member, outcome: JobOutcome) -> None:
        """Start a job again where that may help, else take how it ended for its end."""
        error, lives = outcome.error, one.lives
        if isinstance(error, JvmDiedError) and self._reopens:
            self._needs_session = True
            if outcome.report.ended is Ended.SKIPPED:
                # Its turn came when the JVM was gone already: this was no start.
                one.stage = _Stage.PAUSED if lives.tries else _Stage.WAITING
                return
        so_far = lives.end(outcome)
        if error is None or not self._may_pass(error):
            self._finish(one, self._noted(one, so_far))
        elif lives.may_restart and not self._stopping.asked:
            self._pause(one, so_far, error)
        else:
            self._finish(one, self._noted(one, so_far, limited=not lives.may_restart))

    def _may_pass(self, error: HoldfastError) -> bool:
        if isinstance(error, JvmDiedError) and not self._reopens:
            return False
        return self._options.keep_running and passes(error)

    def _pause(self, one: _Member, so_far: JobOutcome, error: HoldfastError) -> None:
        seconds = backoff_seconds(one.job.restart, one.lives.in_a_row)
        one.stage, one.outcome, one.due = _Stage.PAUSED, so_far, self._clock.now() + seconds
        self._watch(
            JobRestarting(
                one.job.name, one.lives.in_a_row, one.job.restart.limit, seconds,
                error.code.number, error.message,
            )
        )  # fmt: skip

    # -- an end

    def _noted(
        self, one: _Member, outcome: JobOutcome | None, *, limited: bool = False
    ) -> JobOutcome:
        assert outcome is not None
        notes = one.lives.final(limited=limited)
        return replace(outcome, findings=(*outcome.findings, *notes))

    def _settle(self, one: _Member, outcome: JobOutcome) -> None:
        one.stage, one.outcome = _Stage.DONE, outcome

    def _finish(self, one: _Member, outcome: JobOutcome) -> None:
        """Take an outcome as the last one; a failure is shown, notified, and may stop the rest."""
        self._settle(one, outcome)
        if outcome.report.ended not in FAILED_FOR_GOOD:
            return
        if self.unfinished:
            self._watch(JobsFailed(one.job.name, self._failed(), len(self._members)))
        if one.job.on_failure is not None:
            self._hooks.begin(one.job, outcome)
        if self._options.fail_fast:
            self._stop_all(f"stopped because {one.job.name} failed (fail fast)")

    def _failed(self) -> tuple[str, ...]:
        done = [one.outcome for one in self._in(_Stage.DONE) if one.outcome is not None]
        return tuple(
            f"{one.report.job} ({one.error.code.number})" if one.error else one.report.job
            for one in done
            if one.report.ended in FAILED_FOR_GOOD
        )

    def _stop_all(self, why: str) -> None:
        if not self._stopping.asked:
            self._why_stopped = why
            self._stopping.ask()


def _members(jobs: Sequence[ReadyJob], lineage: Lineage) -> dict[str, _Member]:
    goes_on = {job.name for job in jobs if job.processing_time is not None}
    return {
        job.name: _Member(
            job=job,
            upstream=lineage.reads_from(job.name),
            ends_first=not goes_on & {job.name, *lineage.upstream_of(job.name)},
            lives=JobRestarts(job),
        )
        for job in jobs
    }
