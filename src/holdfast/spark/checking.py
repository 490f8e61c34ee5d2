"""Judges a restart without starting it: the query is planned, and nothing is written anywhere."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.progress import Formats
from holdfast.checkpoint.reading import SHOWN_BATCHES
from holdfast.diagnosis.checks.picture import picture_of
from holdfast.diagnosis.inspection.result import Inspection, inspection_of
from holdfast.errors import HoldfastError, RefusedError, SinkError, StorageError
from holdfast.findings import Finding, Place, Severity
from holdfast.jobs.ready import ReadyJob
from holdfast.records.folder import RecordsFolder, records_of
from holdfast.records.run import PlanFacts
from holdfast.restart.bundles import BUNDLE_RULES, BundledRun
from holdfast.restart.result import CheckedJob, checked_start
from holdfast.restart.start import StartFacts, last_run
from holdfast.running.examining import fatal_before_program, fatal_before_start
from holdfast.running.options import RunContext, RunOptions
from holdfast.running.settings import SessionOptions
from holdfast.spark.dataframe import code_digests, job_functions
from holdfast.spark.facts import plan_facts
from holdfast.spark.planning import planning
from holdfast.spark.preflight import (
    build_frame,
    checked_sink,
    read_checkpoint,
    refuse_changed_offsets,
    refuse_other_offsets,
    start_facts,
    statement_about_pending,
)
from holdfast.spark.recording import program_code, require_streaming
from holdfast.spark.sinks.sink import JobSink
from holdfast.storage.location import Location
from holdfast.storage.opening import open_reader
from holdfast.storage.options import StorageSettings
from holdfast.storage.reading import Reader

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_HERE = Place("")
_NOTEBOOK = "<notebook>"


def check_jobs(
    jobs: Sequence[ReadyJob],
    wish: SessionOptions,
    *,
    release: str | None,
    accepted: Collection[str],
    against: BundledRun | None = None,
) -> list[CheckedJob]:
    """Judge the restart of each job in one Spark, which is left as it was found.

    With `against` nothing but the last run that a bundle holds is compared.
    """
    with planning(wish) as context:
        if against is None:
            return [_check_job(job, context, release, accepted) for job in jobs]
        return [_check_against(job, context, release, accepted, against) for job in jobs]


def _check_job(
    job: ReadyJob, context: RunContext, release: str | None, accepted: Collection[str]
) -> CheckedJob:
    records = records_of(job.checkpoint, job.settings)
    checkpoint, picture, inspection = _inspected(job, release)
    last = last_run(records, picture)
    frame, plan = _planned(job, context)
    refused: tuple[Finding, ...] = ()
    try:
        sink = checked_sink(frame, job, inspection)
        start = start_facts(job, context, records, picture, inspection, sink, plan)
        refused = (*_refused_later(start, checkpoint, records, sink, context.options),)
    except (SinkError, StorageError) as error:
        settings = {**context.options.settings, **job.conf}
        spark = context.versions.spark
        start = StartFacts.without_sink(inspection, plan, last, spark=spark, settings=settings)
        fatal = fatal_before_start(job, picture, spark)
        start = replace(start, fatal=fatal, unasked=_unasked(error))
    if release is not None:
        start = replace(start, spark=release, fatal=fatal_before_start(job, picture, release))
    start = replace(start, fatal=(*start.fatal, *refused))
    return checked_start(start, job=job.name, compared_with=last, accepted=accepted)


def _planned(job: ReadyJob, context: RunContext) -> tuple[DataFrame, PlanFacts]:
    frame = build_frame(job, context)
    return frame, plan_facts(frame, code_digests(job), job.output_mode, job_functions(job))


def _check_against(
    job: ReadyJob,
    context: RunContext,
    release: str | None,
    accepted: Collection[str],
    bundled: BundledRun,
) -> CheckedJob:
    _, plan = _planned(job, context)
    # The sink is not opened: what is declared of it is compared with what was.
    before, sink = bundled.last.sink, job.sink
    now = None if before is None else replace(before, mode=sink.mode, key=sink.key)
    start = bundled.start(plan, now, release or context.versions.spark)
    found = checked_start(
        start, job=job.name, compared_with=bundled.last, accepted=accepted, rules=BUNDLE_RULES
    )
    return replace(found, location=job.checkpoint.shown, next_start=None)


def _inspected(job: ReadyJob, release: str | None) -> tuple[Reader, Picture, Inspection]:
    checkpoint, picture, inspection = read_checkpoint(job)
    if release is None:
        return checkpoint, picture, inspection
    formats = {source.name: source.format for source in job.sources}
    return checkpoint, picture, _inspection(picture, release, formats)


def _inspection(picture: Picture, release: str | None, formats: Formats) -> Inspection:
    return inspection_of(
        picture, formats=formats, shown=SHOWN_BATCHES, spark=release, verified=False
    )


def _refused_later(
    start: StartFacts,
    checkpoint: Reader,
    records: RecordsFolder,
    sink: JobSink,
    options: RunOptions,
) -> Iterator[Finding]:
    """Yield what a start asks after the rules: offsets that differ, a batch that is pending."""
    inspection, sight = start.inspection, start.sight
    for ask in (
        partial(refuse_changed_offsets, inspection, checkpoint, records, sink),
        partial(refuse_other_offsets, inspection, checkpoint, sink, sight.held),
        partial(statement_about_pending, inspection, sink, sight, records, checkpoint, options),
    ):
        try:
            ask()
        except RefusedError as error:
            yield _as_finding(error)


def _as_finding(error: HoldfastError) -> Finding:
    return Finding(
        error.code.number, Severity.ERROR, error.message, _HERE, {}, error.why, error.next_steps
    )


def _unasked(error: HoldfastError) -> Finding:
    message = f"the sink was not compared: {error.message}"
    return Finding(
        error.code.number, Severity.WARNING, message, _HERE, {}, error.why, error.next_steps
    )


def check_frame(
    frame: DataFrame,
    checkpoint: Location,
    settings: StorageSettings,
    *,
    output_mode: str,
    release: str | None,
    accepted: Collection[str],
) -> CheckedJob:
    """Judge the restart of a program's own query on a checkpoint; its sink is not asked."""
    require_streaming(frame, "check")
    session = frame.sparkSession
    picture = picture_of(open_reader(checkpoint, settings), may_be_missing=True)
    inspection = _inspection(picture, release, {})
    last = last_run(records_of(checkpoint, settings), picture)
    code = program_code() if last is not None and last.is_recording else {}
    # Of a notebook there is no file that would show that nothing was changed.
    code = code or {_NOTEBOOK: ""}
    plan = plan_facts(frame, code, output_mode)
    spark = release or session.version
    start = StartFacts.without_sink(inspection, plan, last, spark=spark)
    sources = () if plan.query is None else plan.query.sources
    fatal = fatal_before_program(sources, checkpoint, settings, picture, spark)
    start = replace(start, fatal=fatal)
    return checked_start(start, job=None, compared_with=last, accepted=accepted)
