"""Runs jobs from beginning to end: first what needs no Spark, then one Spark for all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from holdfast.answers import Answer
from holdfast.checkpoint.verification import Progress
from holdfast.errors import HoldfastError
from holdfast.findings import Finding, Place, Severity
from holdfast.jobs.lineage import Lineage
from holdfast.jobs.paths import check_paths
from holdfast.jobs.ready import ReadyJob
from holdfast.spark.admission import admit
from holdfast.spark.events import Watcher
from holdfast.spark.quietpython import quiet_python
from holdfast.spark.refusal import refusal
from holdfast.spark.report import Outcome, RunReport
from holdfast.spark.runner import WELL, Runner
from holdfast.spark.session import (
    SessionWish,
    has_session,
    jvm_process,
    open_session,
    stop_session,
)
from holdfast.spark.stopping import Stopping, heeding_signals
from holdfast.spark.surroundings import Surroundings, Wishes, versions_of

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
) -> Answer[RunReport]:
    """Run jobs and give how each ended; raises only what concerns all of them."""
    check_paths(jobs)
    lineage = Lineage.from_jobs(jobs)
    by_name = {job.name: job for job in jobs}
    ordered = [by_name[name] for name in lineage.order()]
    outcomes: Mapping[str, Outcome] = dict(_refused_before_spark(ordered, watch))
    release = None
    if len(outcomes) < len(ordered):
        runner = Runner(ordered, lineage, outcomes)
        with _surroundings(wish, wishes, stopping, watch, progress) as around:
            outcomes, release = runner.run(around), around.versions.spark
    return _answer([outcomes[job.name] for job in ordered], release, stopping)


@contextmanager
def _surroundings(
    wish: SessionWish,
    wishes: Wishes,
    stopping: Stopping,
    watch: Watcher,
    progress: Progress | None,
) -> Iterator[Surroundings]:
    """Open the one Spark, or use the one that is open; a signal asks to stop from here on."""
    with heeding_signals(stopping):
        found = has_session()
        session = open_session(wish, progress)
        try:
            # pyspark takes Ctrl-C for itself when it starts: take it back.
            with heeding_signals(stopping), quiet_python(verbose=wish.verbose):
                yield Surroundings(
                    session, jvm_process(session), versions_of(session), wishes, stopping, watch
                )
        finally:
            if not found:
                stop_session(session)


def _answer(
    outcomes: Sequence[Outcome], release: str | None, stopping: Stopping
) -> Answer[RunReport]:
    report = RunReport(tuple(one.report for one in outcomes), release)
    findings = tuple(finding for one in outcomes for finding in _findings(one))
    location = outcomes[0].report.checkpoint
    status = _exit_status(outcomes, stopping)
    return Answer("run", location, report, findings, ending=status)


def _refused_before_spark(
    jobs: Sequence[ReadyJob], watch: Watcher
) -> Iterator[tuple[str, Outcome]]:
    """Find jobs that can't start whatever Spark says."""
    for job in jobs:
        try:
            admit(job)
        except HoldfastError as error:
            yield job.name, refusal(job, error, watch)


def _findings(outcome: Outcome) -> Iterator[Finding]:
    """Give what was told before the start, and what ended the job."""
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
    for outcome in outcomes:
        if outcome.report.ended not in WELL and outcome.error is not None:
            return outcome.error.exit_status
    return None if stopping.signal is None else _SIGNALLED + stopping.signal
