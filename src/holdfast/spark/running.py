"""Runs jobs from beginning to end: first what needs no Spark, then one Spark for all of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast import __version__
from holdfast.answers import Answer
from holdfast.checkpoint.verification import Progress
from holdfast.errors import HoldfastError, JvmDiedError, SparkStartError
from holdfast.findings import Finding, Place, Severity, named
from holdfast.jobs.lineage import Lineage
from holdfast.jobs.paths import check_paths
from holdfast.jobs.ready import ReadyJob
from holdfast.records.run import Ended
from holdfast.spark.admission import admit
from holdfast.spark.events import JobStopping, RunStep, Watcher
from holdfast.spark.failures import pending_batch, told
from holdfast.spark.hooks import call_hook
from holdfast.spark.jobrun import JobRun
from holdfast.spark.jvm import Jvm
from holdfast.spark.quietpython import quiet_python
from holdfast.spark.refusal import attempt_recorded, refusal
from holdfast.spark.report import Outcome, RunReport
from holdfast.spark.restartnotes import RestartNotes
from holdfast.spark.runner import WELL, Runner
from holdfast.spark.serving import kept_settings, noted, with_kept
from holdfast.spark.session import SessionWish, has_session, open_session, stop_session
from holdfast.spark.stopping import Stopping, handlers_kept, heeding_signals
from holdfast.spark.surroundings import Surroundings, Wishes, versions_of
from holdfast.steps import named_steps

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_HEARD_SECONDS = 5.0
_SIGNALLED = 128
"""What a shell adds to the number of the signal that ended a program."""


def run_wanted(
    jobs: Sequence[ReadyJob],
    wish: SessionWish,
    wishes: Wishes,
    *,
    stopping: Stopping,
    watch: Watcher,
    progress: Progress | None = None,
) -> tuple[Answer[RunReport], HoldfastError | None]:
    """Run jobs and return how each ended, and the error of the job that decides the exit status.

    Raises only what concerns all of them.
    """
    check_paths(jobs)
    lineage = Lineage.from_jobs(jobs)
    by_name = {job.name: job for job in jobs}
    ordered = [by_name[name] for name in lineage.order()]
    with RestartNotes(ordered) as notes:
        return _run_ordered(
            ordered, lineage, wish, wishes, stopping, notes.watching(watch), progress
        )


def _run_ordered(
    ordered: Sequence[ReadyJob],
    lineage: Lineage,
    wish: SessionWish,
    wishes: Wishes,
    stopping: Stopping,
    watch: Watcher,
    progress: Progress | None,
) -> tuple[Answer[RunReport], HoldfastError | None]:
    runner = Runner(
        ordered,
        lineage,
        run_once=run_once,
        wishes=wishes,
        stopping=stopping,
        watch=watch,
        call_hook=lambda job, outcome: call_hook(
            job, _document(_named(with_pending(job, outcome), job), stopping)
        ),
    )
    runner.refuse(dict(_refused_before_spark(ordered, wishes.accepted, wish, watch)))
    with _acknowledging(stopping, watch), heeding_signals(stopping):
        release = _run_in_sessions(
            runner,
            lambda: _surroundings(runner.left, wish, wishes, stopping, watch, progress),
        )
        outcomes = runner.outcomes()
    ended = [_named(with_pending(job, outcomes[job.name]), job) for job in ordered]
    answer, deciding = _answer(ended, release, stopping), _deciding(ended)
    if deciding is None or deciding.error is None:
        return answer, None
    deciding.error.answer, deciding.error.job = answer, deciding.report.job
    return answer, deciding.error


def run_once(job: ReadyJob, around: Surroundings) -> Outcome:
    """Run one life of a job; whatever happens to it becomes its outcome."""
    try:
        if around.wishes.again:
            admit(job)
        return JobRun(job, around).run()
    except HoldfastError as error:
        return refusal(job, error, around.watch)
    except Exception as error:  # noqa: BLE001 - a job that fails takes down no other one
        return refusal(job, told(error, job), around.watch)


def with_pending(job: ReadyJob, outcome: Outcome) -> Outcome:
    """Add the batch that is pending after a job stopped or failed, as far as that can be seen."""
    if outcome.report.ended not in (Ended.STOPPED, Ended.FAILED):
        return outcome
    try:
        pending = pending_batch(job)
    except HoldfastError:
        return outcome
    return replace(outcome, report=replace(outcome.report, pending=pending))


def _run_in_sessions(
    runner: Runner, opened: Callable[[], AbstractContextManager[Surroundings | None]]
) -> str | None:
    """Open Spark for the jobs that are left, and again where its JVM ended; return its release."""
    release = None
    runner.wait_until_due()
    while runner.unfinished:
        own = not has_session()
        try:
            with opened() as around:
                if around is not None:
                    release = around.versions.spark
                    runner.run(around, own_session=own)
        except SparkStartError as error:
            if release is None:
                raise
            runner.no_session(error)
        runner.wait_until_due()
    return release


@contextmanager
def _surroundings(
    jobs: Sequence[ReadyJob],
    wish: SessionWish,
    wishes: Wishes,
    stopping: Stopping,
    watch: Watcher,
    progress: Progress | None,
) -> Iterator[Surroundings | None]:
    """Open the one Spark, or use the one that is open; None where a signal came before."""
    opened = _open_unless_stopped(jobs, wish, stopping, watch, progress)
    if opened is None:
        yield None
        return
    session, found = opened
    try:
        with quiet_python(verbose=wish.verbose):
            jvm = Jvm.of(session)
            if found:
                kept = kept_settings(session, wish)
                settings = with_kept(wishes.settings, kept)
                wishes = replace(wishes, settings=settings, noted=noted(kept))
            else:
                # Nobody else uses it, and dead it delivers nothing any more.
                stopping.when_insisted(jvm.kill)
            yield Surroundings(session, jvm, versions_of(session), wishes, stopping, watch)
    finally:
        if not found:
            stop_session(session)


def _open_unless_stopped(
    jobs: Sequence[ReadyJob],
    wish: SessionWish,
    stopping: Stopping,
    watch: Watcher,
    progress: Progress | None,
) -> tuple[SparkSession, bool] | None:
    """Return the session and whether it was open already; None where a signal came first."""
    try:
        with handlers_kept(), stopping.interruptible(), attempt_recorded(*jobs):
            found = has_session()
            return open_session(wish, progress, lambda step: watch(RunStep(step))), found
    except KeyboardInterrupt:
        # The thread that listens to signals takes a moment longer to remember it.
        if not stopping.wait(_HEARD_SECONDS):
            raise
        return None


@contextmanager
def _acknowledging(stopping: Stopping, watch: Watcher) -> Iterator[None]:
    """Say at once that somebody asked to stop."""
    threads: list[threading.Thread] = []

    def asked() -> None:
        # A watcher may be who asks, and may hold a lock that it takes for every event.
        thread = threading.Thread(target=_acknowledge, args=(stopping, watch), daemon=True)
        threads.append(thread)
        thread.start()

    stopping.when_asked(asked)
    try:
        yield
    finally:
        for thread in threads:
            thread.join(_HEARD_SECONDS)


def _acknowledge(stopping: Stopping, watch: Watcher) -> None:
    """Say what is finished before the run stops."""
    working = stopping.working
    for job, batch in working.items():
        watch(JobStopping(job, batch, stopping.signal))
    if not working:
        watch(RunStep("stopping; no job is running"))


def _answer(
    outcomes: Sequence[Outcome], release: str | None, stopping: Stopping
) -> Answer[RunReport]:
    report = RunReport(tuple(one.report for one in outcomes), release)
    told = _each_death_once(outcomes)
    findings = tuple(finding for one in told for finding in _findings(one))
    location = outcomes[0].report.checkpoint
    status = _exit_status(outcomes, stopping)
    return Answer("run", location, report, findings, ending=status)


def _document(outcome: Outcome, stopping: Stopping) -> dict[str, object]:
    """Give the document of one job, as `run --json` would print it for that job alone."""
    return _answer([outcome], None, stopping).document(__version__)


def _each_death_once(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Leave the end of the JVM to the jobs that it stopped; those not begun only say so."""
    stopped = [one for one in outcomes if one.report.ended is not Ended.SKIPPED]
    if not any(isinstance(one.error, JvmDiedError) for one in stopped):
        return list(outcomes)
    skipped = [one for one in outcomes if one.report.ended is Ended.SKIPPED]
    return [replace(one, error=None) if one in skipped else one for one in outcomes]


def _refused_before_spark(
    jobs: Sequence[ReadyJob], accepted: Collection[str], wish: SessionWish, watch: Watcher
) -> Iterator[tuple[str, Outcome]]:
    """Find jobs that can't start whatever Spark says."""
    for job in jobs:
        try:
            admit(job, accepted, wish.master)
        except HoldfastError as error:
            yield job.name, refusal(job, error, watch)


def _named(outcome: Outcome, job: ReadyJob) -> Outcome:
    """Name the job in all next steps; one that no project file has is found by its checkpoint."""
    target = job.name if job.project is not None else job.checkpoint.shown
    if outcome.error is not None:
        outcome.error.next_steps = named_steps(outcome.error.next_steps, target, job.name)
    findings = tuple(named(finding, target, job.name) for finding in outcome.findings)
    return replace(outcome, findings=findings)


def _findings(outcome: Outcome) -> Iterator[Finding]:
    """Yield what was reported before the start, and what ended the job."""
    root = outcome.report.checkpoint
    for finding in outcome.findings:
        yield replace(finding, place=replace(finding.place, root=finding.place.root or root))
    error = outcome.error
    if error is not None:
        yield Finding(
            error.code.number,
            Severity.ERROR,
            f"{outcome.report.job}: {error.message}",
            Place("", root=error.at or root),
            {"job": outcome.report.job, "ended": outcome.report.ended.value},
            error.why,
            error.next_steps,
        )


def _exit_status(outcomes: Sequence[Outcome], stopping: Stopping) -> int | None:
    """Let the first job that did not end well decide; then a signal; then the findings."""
    deciding = _deciding(outcomes)
    if deciding is not None and deciding.error is not None:
        return deciding.error.exit_status
    return None if stopping.signal is None else _SIGNALLED + stopping.signal


def _deciding(outcomes: Sequence[Outcome]) -> Outcome | None:
    """Return the first job that did not end well and has an error to say why."""
    ill = (one for one in outcomes if one.report.ended not in WELL)
    return next((one for one in ill if one.error is not None), None)
