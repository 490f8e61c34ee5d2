"""Plans queries and starts none: to judge a restart or record a query; opens sinks between runs."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.progress import Formats
from holdfast.checkpoint.reading import SHOWN_BATCHES
from holdfast.checkpoint.verification import Progress
from holdfast.diagnosis.checks.picture import picture_of
from holdfast.diagnosis.inspection.result import Inspection, inspection_of
from holdfast.errors import (
    HoldfastError,
    RefusedError,
    SinkError,
    SourceError,
    StorageError,
    UsageError,
)
from holdfast.findings import Finding, Place, Severity
from holdfast.jobs.built import caller_line
from holdfast.jobs.ready import ReadyJob, ReadySink
from holdfast.ledgers.database.connection import postgres_address, refuse_silent
from holdfast.ledgers.reading import ASKED_SECONDS
from holdfast.records.folder import RecordsFolder, records_of
from holdfast.records.recordings import Origin, QueryPart
from holdfast.records.run import PlanFacts, SinkFacts
from holdfast.records.statements import Statement
from holdfast.restart.bundles import BUNDLE_RULES, BundledRun
from holdfast.restart.recorded import Described, RecordedQuery, record_query
from holdfast.restart.result import CheckedJob, checked_start
from holdfast.restart.start import StartFacts, last_run, owned_by_other
from holdfast.running.admission import (
    fatal_before_program,
    fatal_before_start,
)
from holdfast.running.lostfiles import lost_before_program, lost_before_start
from holdfast.running.options import RunContext, RunOptions
from holdfast.running.recordkeeping import facts_of_sink
from holdfast.running.settings import SessionOptions
from holdfast.running.stopping import Stopping
from holdfast.spark.facts import plan_facts
from holdfast.spark.preflight import (
    build_frame,
    checked_sink,
    missing_files_setting,
    read_checkpoint,
    refuse_changed_offsets,
    refuse_lost_files,
    refuse_other_offsets,
    start_facts,
    statement_about_pending,
)
from holdfast.spark.query.dataframe import code_digests, job_functions
from holdfast.spark.query.usercode import digests_of, is_installed
from holdfast.spark.session.installation import refuse_connect_session, refuse_stopped_session
from holdfast.spark.session.jvm import Jvm, quiet_disconnections
from holdfast.spark.session.opening import (
    Step,
    end_session,
    has_session,
    open_session,
    session_for,
    stop_session,
    versions_of,
)
from holdfast.spark.sinks.native import NativeSink
from holdfast.spark.sinks.opening import open_sink
from holdfast.spark.sinks.sink import JobSink
from holdfast.spark.startedquery import look_into
from holdfast.storage.location import Location, canonical, parse_location
from holdfast.storage.opening import open_reader
from holdfast.storage.options import StorageOptions, StorageSettings, settings_given
from holdfast.storage.reading import Reader

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@contextmanager
def planning(
    session_options: SessionOptions, step: Step | None = None, progress: Progress | None = None
) -> Iterator[RunContext]:
    """Open a session, or use the one that is there, which is left as it was found.

    `step` is called with a line about what takes long, `progress` with the bytes that are fetched.
    """
    with quiet_disconnections(), _planning(session_options, step, progress) as context:
        yield context


@contextmanager
def _planning(
    session_options: SessionOptions, step: Step | None, progress: Progress | None
) -> Iterator[RunContext]:
    found = has_session()
    session, leave = open_session(session_options, progress, step), stop_session
    try:
        options = RunOptions(settings=session_options.conf)
        yield RunContext(
            session, Jvm.of(session), versions_of(session), options, Stopping(), lambda _: None
        )
    except (KeyboardInterrupt, SystemExit):
        # The answer to the call that was interrupted is still to come: the next call, such as the
        # one that stops the session, would take it for its own.
        leave = end_session
        raise
    finally:
        if not found:
            leave(session)


_HERE = Place("")
_NOTEBOOK = "<notebook>"


def check_jobs(
    jobs: Sequence[ReadyJob],
    session_options: SessionOptions,
    *,
    release: str | None,
    accepted: Collection[str],
    against: BundledRun | None = None,
    step: Step | None = None,
) -> list[CheckedJob]:
    """Judge the restart of each job in one Spark, which is left as it was found.

    With `against` nothing but the last run that a bundle holds is compared. `step` is called with
    a line about what takes long.
    """
    with planning(session_options, step) as context:
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
        _refuse_silent(job.sink)
        sink = checked_sink(frame, job, inspection)
        start = start_facts(
            job=job,
            context=context,
            records=records,
            picture=picture,
            inspection=inspection,
            sink=sink,
            plan=plan,
        )
        refused = (
            *_refused_later(job, start, picture, checkpoint, records, sink, context.options, frame),
        )
    except (SinkError, StorageError) as error:
        settings = {**context.options.settings, **job.conf}
        spark = context.versions.spark
        start = StartFacts.without_sink(inspection, plan, last, spark=spark, settings=settings)
        fatal = fatal_before_start(job, picture, spark)
        start = replace(start, fatal=fatal, unasked=_unasked(error))
        lost = lost_before_start(job, picture, missing_files_setting(frame))
        refused = () if lost is None else (lost,)
    if release is not None:
        start = replace(start, spark=release, fatal=fatal_before_start(job, picture, release))
    start = replace(start, fatal=(*owned_by_other(job, records), *start.fatal, *refused))
    return checked_start(start, job=job.name, compared_with=last, accepted=accepted)


def _refuse_silent(sink: ReadySink) -> None:
    """Raise HF5041 where a database does not answer: a start waits for one, a check does not."""
    if sink.format == "postgres" and sink.url is not None and sink.table is not None:
        address = postgres_address(sink.url, sink.table, sink.options, sink.at)
        refuse_silent(address, ASKED_SECONDS)


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
    job: ReadyJob,
    start: StartFacts,
    picture: Picture,
    checkpoint: Reader,
    records: RecordsFolder,
    sink: JobSink,
    options: RunOptions,
    frame: DataFrame,
) -> Iterator[Finding]:
    """Yield what a start asks after the rules: offsets that differ, a batch that is pending."""
    inspection, sight = start.inspection, start.sight
    stated: list[Statement | None] = [None]

    def ask_statement() -> None:
        stated[0] = statement_about_pending(inspection, sink, sight, records, checkpoint, options)

    for ask in (
        partial(refuse_changed_offsets, inspection, checkpoint, records, sink),
        partial(refuse_other_offsets, inspection, checkpoint, sink, sight.held),
        ask_statement,
        lambda: refuse_lost_files(picture, sight, stated[0], job, frame),
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
    settings_here = missing_files_setting(frame)
    lost = lost_before_program(sources, checkpoint, settings, picture, settings_here)
    start = replace(start, fatal=(*fatal, lost) if lost is not None else fatal)
    return checked_start(start, job=None, compared_with=last, accepted=accepted)


Recorded = tuple[RecordedQuery, tuple[Finding, ...]]


def program_code() -> dict[str, str]:
    """Return the SHA-256 of the program's file, of the one that calls Holdfast, and of what these
    import from next to them; nothing for a notebook."""
    digests: dict[str, str] = {}
    for file in _program_files():
        digests |= digests_of(file.parent, file)
    return digests


def _program_files() -> list[Path]:
    main = getattr(sys.modules.get("__main__"), "__file__", None)
    paths = [Path(one).resolve() for one in (main, caller_line().file) if one is not None]
    return [one for one in dict.fromkeys(paths) if one.is_file() and not is_installed(one)]


def record_frame(
    frame: DataFrame,
    checkpoint: Location,
    settings: StorageSettings,
    *,
    output_mode: str,
    sink: str | None,
) -> Recorded:
    """Record the query that a program is about to start on a checkpoint."""
    require_streaming(frame, "record")
    session = frame.sparkSession
    described = Described(
        origin=Origin.PROGRAM,
        program=_program(),
        plan=plan_facts(frame, program_code(), output_mode),
        spark=session.version,
        output_mode=output_mode,
        destination=sink,
    )
    return record_query(described, checkpoint, settings)


def record_started(query: object, given: Location | None, options: StorageOptions) -> Recorded:
    """Record a query that the program has started: what it reads, keeps and where is its own."""
    found = look_into(query)
    checkpoint = parse_location(found.checkpoint, relative_to=Path.cwd())
    if given is not None and canonical(given) != canonical(checkpoint):
        message = f"the query runs on {checkpoint.shown}, not on {given.shown}"
        raise UsageError("HF1001", message, next_steps=("record(query) without checkpoint",))
    described = Described(
        origin=Origin.PROGRAM,
        program=_program(),
        plan=plan_facts(found.frame, program_code(), found.output_mode),
        spark=found.frame.sparkSession.version,
        output_mode=found.output_mode,
        destination=found.sink,
        passed=found.made,
    )
    return record_query(described, checkpoint, settings_given(checkpoint.scheme, options))


def require_streaming(frame: DataFrame, command: str) -> None:
    """Raise HoldfastError for what is no streaming DataFrame of a session that can be asked."""
    if not hasattr(frame, "sparkSession") or not frame.isStreaming:
        kind = type(frame).__name__ if not hasattr(frame, "sparkSession") else "a batch DataFrame"
        raise SourceError("HF5118", f"{command} was given {kind}, not a streaming DataFrame")
    refuse_connect_session(frame.sparkSession)
    refuse_stopped_session(frame.sparkSession)


def _program() -> str:
    files = _program_files()
    return str(files[0]) if files else caller_line().file


def record_declared(
    jobs: Sequence[ReadyJob], session_options: SessionOptions, step: Step | None = None
) -> list[Recorded]:
    """Record declared jobs that run elsewhere, in one Spark, which is left as it was found."""
    with planning(session_options, step) as context:
        return [_record_job(job, context) for job in jobs]


def _record_job(job: ReadyJob, context: RunContext) -> Recorded:
    _, picture, inspection = read_checkpoint(job)
    frame = build_frame(job, context)
    plan = plan_facts(frame, code_digests(job), job.output_mode, job_functions(job))
    sink = _sink_facts(frame, job, inspection)
    described = Described(
        origin=Origin.JOB,
        program=job.name,
        plan=plan,
        spark=context.versions.spark,
        output_mode=job.output_mode,
        job=job.name,
        project=job.project,
        sink=sink,
        missing=() if sink is not None else (QueryPart.SINK,),
    )
    return record_query(described, job.checkpoint, job.settings, picture)


def _sink_facts(frame: DataFrame, job: ReadyJob, inspection: Inspection) -> SinkFacts | None:
    """Ask the sink what it is; None where it cannot be reached from here."""
    try:
        sink = checked_sink(frame, job, inspection)
        return facts_of_sink(sink, sink.sight(inspection.query_id), job.sink, 0)
    except (SinkError, StorageError):
        return None


@contextmanager
def opened_sink(
    job: ReadyJob, session_options: SessionOptions, step: Step | None = None
) -> Iterator[JobSink]:
    """Open the sink of a job, to take batches back from it; the session is left as it was found."""
    with planning(session_options, step) as context:
        session = session_for(job, context.session, context.options.settings)
        yield NativeSink(session, job) if job.sink.native else open_sink(session, job)
