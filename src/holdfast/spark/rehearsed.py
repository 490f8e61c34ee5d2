"""Runs a job on copies of its checkpoint and its sink: judged first, then some batches of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial

from holdfast.checkpoint.verification import Progress
from holdfast.errors import HoldfastError
from holdfast.findings import Finding
from holdfast.jobs.ready import ReadyJob, ReadySource, nobody
from holdfast.running.options import RunOptions
from holdfast.running.report import BatchDone, Event, JobReport, Watcher
from holdfast.running.settings import SessionOptions
from holdfast.running.stopping import Stopping, handlers_kept
from holdfast.spark.planning import check_jobs, planning
from holdfast.spark.run import run_jobs
from holdfast.spark.session.opening import Step
from holdfast.spark.sinks.files import FILE_FORMATS

_COUNTED = frozenset((*FILE_FORMATS, "delta"))
_CLEANS = frozenset({"cleansource", "sourcearchivedir"})
"""Options of file sources that make Spark move or delete what it has read."""


@dataclass(frozen=True)
class RunOnCopies:
    """What a run on copies showed."""

    verdict: str | None
    """Of the check before it; None where nothing could be judged."""
    report: JobReport
    error: HoldfastError | None
    findings: tuple[Finding, ...]
    rows_before: int | None
    """What a reader of the sink saw before; None where its rows are not counted."""
    rows_after: int | None


def for_copies(job: ReadyJob) -> ReadyJob:
    """Return a job that changes nothing but its checkpoint and its sink, and that ends by itself.

    It belongs to no project, so that no list of places is written; its files stay in the source.
    """
    return replace(
        job,
        project=None,
        processing_time=None,
        on_failure=None,
        backup=None,
        downstream=nobody,
        sources=tuple(map(_left_alone, job.sources)),
    )


def _left_alone(source: ReadySource) -> ReadySource:
    kept = {name: text for name, text in source.options.items() if name.lower() not in _CLEANS}
    return replace(source, options=kept)


@dataclass(frozen=True)
class SparkOnCopies:
    """An open Spark in which everything of a rehearsal is done."""

    session: SessionOptions
    stopping: Stopping

    def run(
        self,
        job: ReadyJob,
        batches: int,
        watch: Watcher | None = None,
        progress: Progress | None = None,
        count: Callable[[], int] | None = None,
    ) -> RunOnCopies:
        """Judge the restart, then run at most so many batches; what fails is in the result.

        `count` counts the rows of the sink where Spark need not.
        """
        counted = count or partial(self._rows, job)
        verdict, before = self._verdict(job), counted()
        told = watch or (lambda _event: None)
        if job.sink.native:
            # Nothing stands between Spark and its own sink: the stop comes after the batch.
            told = self._stopping_after(batches, told)
        options = RunOptions(settings=self.session.conf, most_batches=batches)
        answer, error = run_jobs(
            [job], self.session, options, stopping=self.stopping, watch=told, progress=progress
        )
        after = counted()
        return RunOnCopies(verdict, answer.result.jobs[0], error, answer.findings, before, after)

    def _stopping_after(self, batches: int, watch: Watcher) -> Watcher:
        def heard(event: Event) -> None:
            watch(event)
            if isinstance(event, BatchDone) and event.total_batches >= batches:
                self.stopping.ask()

        return heard

    def _verdict(self, job: ReadyJob) -> str | None:
        try:
            (checked,) = check_jobs([job], self.session, release=None, accepted=frozenset())
        except HoldfastError:
            return None
        return checked.verdict.value

    def _rows(self, job: ReadyJob) -> int | None:
        """Count what a plain reader sees; 0 where there is nothing to read yet."""
        sink = job.sink
        if sink.format not in _COUNTED or sink.path is None or self.stopping.asked:
            return None
        from pyspark.errors import PySparkException

        with planning(self.session) as context:
            try:
                read = context.session.read.format(sink.format).options(**sink.options)
                return read.load(sink.path).count()
            except PySparkException:
                return None


@contextmanager
def spark_for(
    session: SessionOptions, stopping: Stopping, step: Step | None = None
) -> Iterator[SparkOnCopies]:
    """Open one Spark for a whole rehearsal, or use the one that is open.

    `step` is called with a line about what takes long.
    """
    with ExitStack() as opened:
        with handlers_kept():
            opened.enter_context(planning(session, step))
        yield SparkOnCopies(session, stopping)
