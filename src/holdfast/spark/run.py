"""Runs jobs from beginning to end in one Spark, or a program's own query in its session."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast import __version__
from holdfast.answers import Answer
from holdfast.checkpoint.verification import Progress
from holdfast.errors import HoldfastError, JvmDiedError, SourceError, SparkStartError
from holdfast.findings import Finding, Place, Severity, named
from holdfast.jobs.built import caller_line
from holdfast.jobs.lineage import Lineage
from holdfast.jobs.ownership import check_paths
from holdfast.jobs.ready import ReadyJob
from holdfast.records.run import Ended
from holdfast.redaction import redact
from holdfast.running.admission import admit, attempt_recorded, refused_outcome
from holdfast.running.hooks import call_hook
from holdfast.running.options import RunContext, RunOptions
from holdfast.running.report import JobOutcome, JobStopping, RunReport, RunStep, Watcher
from holdfast.running.restarts import RestartNotes
from holdfast.running.runner import WELL, Runner
from holdfast.running.settings import SessionOptions, features_of
from holdfast.running.stopping import Stopping, handlers_kept, heeding_signals
from holdfast.spark.failures import job_error, jvm_died, pending_batch
from holdfast.spark.heldquery import HeldQuery
from holdfast.spark.jobrun import JobRun
from holdfast.spark.session.existing import kept_findings, kept_settings, refuse_lacking, with_kept
from holdfast.spark.session.installation import refuse_connect_session, refuse_stopped_session
from holdfast.spark.session.jvm import Jvm, quiet_python
from holdfast.spark.session.opening import has_session, open_session, stop_session, versions_of
from holdfast.spark.sinks.opening import check_function
from holdfast.spark.start import start_job
from holdfast.steps import named_steps

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


_HEARD_SECONDS = 5.0
_SIGNALLED = 128
"""What a shell adds to the number of the signal that ended a program."""


def run_jobs(
    jobs: Sequence[ReadyJob],
    session_options: SessionOptions,
    options: RunOptions,
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
            ordered=ordered,
            lineage=lineage,
            session_options=session_options,
            options=options,
            stopping=stopping,
            watch=notes.watching(watch),
            progress=progress,
        )


def _run_ordered(
    ordered: Sequence[ReadyJob],
    lineage: Lineage,
    session_options: SessionOptions,
    options: RunOptions,
    stopping: Stopping,
    watch: Watcher,
    progress: Progress | None,
) -> tuple[Answer[RunReport], HoldfastError | None]:
    runner = Runner(
        ordered,
        lineage,
        run_once=run_once,
        options=options,
        stopping=stopping,
        watch=watch,
        call_hook=lambda job, outcome: call_hook(
            job, _document(_named(with_pending(job, outcome), job), stopping)
        ),
    )
    runner.refuse(dict(_refused_before_spark(ordered, options.accepted, session_options, watch)))
    with _acknowledging(stopping, watch), heeding_signals(stopping):
        release = _run_in_sessions(
            runner,
            lambda: _open_context(runner.left, session_options, options, stopping, watch, progress),
        )
        outcomes = runner.outcomes()
    ended = [_named(with_pending(job, outcomes[job.name]), job) for job in ordered]
    answer, deciding = _answer(ended, release, stopping), _deciding(ended)
    if deciding is None or deciding.error is None:
        return answer, None
    deciding.error.answer, deciding.error.job = answer, deciding.report.job
    return answer, deciding.error


def run_once(job: ReadyJob, context: RunContext) -> JobOutcome:
    """Run one life of a job; whatever happens to it becomes its outcome."""
    try:
        if context.options.again:
            admit(job)
        return JobRun(job, context).run()
    except HoldfastError as error:
        return refused_outcome(job, error, context.watch)
    except Exception as error:  # noqa: BLE001 - a job that fails takes down no other one
        return refused_outcome(job, job_error(error, job), context.watch)


def with_pending(job: ReadyJob, outcome: JobOutcome) -> JobOutcome:
    """Add the batch that is pending after a job stopped or failed, as far as that can be seen."""
    if outcome.report.ended not in (Ended.STOPPED, Ended.FAILED):
        return outcome
    try:
        pending = pending_batch(job)
    except HoldfastError:
        return outcome
    return replace(outcome, report=replace(outcome.report, pending=pending))


def _run_in_sessions(
    runner: Runner, opened: Callable[[], AbstractContextManager[RunContext | None]]
) -> str | None:
    """Open Spark for the jobs that are left, and again where its JVM ended; return its release."""
    release = None
    runner.wait_until_due()
    while runner.unfinished:
        own = not has_session()
        try:
            with opened() as context:
                if context is not None:
                    release = context.versions.spark
                    runner.run(context, own_session=own)
        except SparkStartError as error:
            if release is None:
                raise
            runner.no_session(error)
        runner.wait_until_due()
    return release


@contextmanager
def _open_context(
    jobs: Sequence[ReadyJob],
    session_options: SessionOptions,
    options: RunOptions,
    stopping: Stopping,
    watch: Watcher,
    progress: Progress | None,
) -> Iterator[RunContext | None]:
    """Open the one Spark, or use the one that is open; None where a signal came before."""
    opened = _open_unless_stopped(jobs, session_options, stopping, watch, progress)
    if opened is None:
        yield None
        return
    session, found = opened
    try:
        with quiet_python(verbose=session_options.verbose):
            jvm = Jvm.of(session)
            if found:
                kept = kept_settings(session, session_options)
                settings = with_kept(options.settings, kept)
                options = replace(options, settings=settings, noted=kept_findings(kept))
            else:
                # Nobody else uses it, and dead it delivers nothing any more.
                stopping.when_insisted(jvm.kill)
            yield RunContext(session, jvm, versions_of(session), options, stopping, watch)
    finally:
        if not found:
            stop_session(session)


def _open_unless_stopped(
    jobs: Sequence[ReadyJob],
    session_options: SessionOptions,
    stopping: Stopping,
    watch: Watcher,
    progress: Progress | None,
) -> tuple[SparkSession, bool] | None:
    """Return the session and whether it was open already; None where a signal came first."""
    if has_session():
        # Not interrupted: an answer of the JVM that nobody waits for would be taken for the next.
        with handlers_kept(), attempt_recorded(*jobs):
            session = open_session(session_options)
        return None if stopping.asked else (session, True)
    try:
        with handlers_kept(), stopping.interruptible(), attempt_recorded(*jobs):
            return open_session(session_options, progress, lambda step: watch(RunStep(step))), False
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
    outcomes: Sequence[JobOutcome], release: str | None, stopping: Stopping
) -> Answer[RunReport]:
    report = RunReport(tuple(one.report for one in outcomes), release)
    reported = _each_death_once(outcomes)
    findings = tuple(finding for one in reported for finding in _findings(one))
    location = outcomes[0].report.checkpoint
    status = _exit_status(outcomes, stopping)
    return Answer("run", location, report, findings, ending=status)


def _document(outcome: JobOutcome, stopping: Stopping) -> dict[str, object]:
    """Return the document of one job, as `run --json` would print it for that job alone."""
    return _answer([outcome], None, stopping).document(__version__)


def _each_death_once(outcomes: Sequence[JobOutcome]) -> list[JobOutcome]:
    """Leave the end of the JVM to the jobs that it stopped; those not begun only say so."""
    stopped = [one for one in outcomes if one.report.ended is not Ended.SKIPPED]
    if not any(isinstance(one.error, JvmDiedError) for one in stopped):
        return list(outcomes)
    skipped = [one for one in outcomes if one.report.ended is Ended.SKIPPED]
    return [replace(one, error=None) if one in skipped else one for one in outcomes]


def _refused_before_spark(
    jobs: Sequence[ReadyJob],
    accepted: Collection[str],
    session_options: SessionOptions,
    watch: Watcher,
) -> Iterator[tuple[str, JobOutcome]]:
    """Find jobs that can't start whatever Spark says."""
    for job in jobs:
        try:
            admit(job, accepted, session_options.master)
        except HoldfastError as error:
            yield job.name, refused_outcome(job, error, watch)


def _named(outcome: JobOutcome, job: ReadyJob) -> JobOutcome:
    """Name the job in all next steps; one that no project file has is found by its checkpoint."""
    target = job.name if job.project is not None else job.checkpoint.shown
    if outcome.error is not None:
        outcome.error.next_steps = named_steps(outcome.error.next_steps, target, job.name)
    findings = tuple(named(finding, target, job.name) for finding in outcome.findings)
    return replace(outcome, findings=findings)


def _findings(outcome: JobOutcome) -> Iterator[Finding]:
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


def _exit_status(outcomes: Sequence[JobOutcome], stopping: Stopping) -> int | None:
    """Let the first job that did not end well decide; then a signal; then the findings."""
    deciding = _deciding(outcomes)
    if deciding is not None and deciding.error is not None:
        return deciding.error.exit_status
    return None if stopping.signal is None else _SIGNALLED + stopping.signal


def _deciding(outcomes: Sequence[JobOutcome]) -> JobOutcome | None:
    """Return the first job that did not end well and has an error to say why."""
    ill = (one for one in outcomes if one.report.ended not in WELL)
    return next((one for one in ill if one.error is not None), None)


def start_query(frame: DataFrame, job: ReadyJob, options: RunOptions, watch: Watcher) -> HeldQuery:
    """Start a program's own query as a job; raises HoldfastError, and then nothing is started."""
    with attempt_recorded(job):
        if not hasattr(frame, "sparkSession"):
            message = f"{job.name} received {type(frame).__name__}, not a DataFrame"
            raise SourceError("HF5118", message, at=job.at)
        session = frame.sparkSession
        refuse_connect_session(session)
        refuse_stopped_session(session)
        jvm = Jvm.of(session)
        if (death := jvm.death()) is not None:
            raise jvm_died(death, job)
        if not frame.isStreaming:
            raise SourceError("HF5118", f"{job.name} received a batch DataFrame", at=job.at)
        check_function(job.sink)
    admit(job)
    with attempt_recorded(job):
        refuse_lacking(session, features_of([job]), job.settings, job.at)
    context = RunContext(session, jvm, versions_of(session), options, Stopping(), watch)
    run, started = JobRun(job, context), start_job(job, context, frame)
    _warn(started.findings)
    return HeldQuery(run, started, context)


def _warn(findings: tuple[Finding, ...]) -> None:
    """Warn at the program's own line; it has no other place to see what was found."""
    at = caller_line()
    for finding in findings:
        if finding.severity.rank >= Severity.WARNING.rank:
            words = f"{finding.code}: {redact(finding.message)}"
            warnings.warn_explicit(words, UserWarning, at.file, at.line)
