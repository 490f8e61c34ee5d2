"""Plans a query that another program runs, and records it; nothing is started."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.diagnosis.inspection.result import Inspection
from holdfast.errors import SinkError, SourceError, StorageError, UsageError
from holdfast.findings import Finding
from holdfast.jobs.built import caller_line
from holdfast.jobs.ready import ReadyJob
from holdfast.records.recordings import Origin, QueryPart
from holdfast.records.run import SinkFacts
from holdfast.restart.recorded import Described, RecordedQuery, record_query
from holdfast.running.options import RunContext
from holdfast.running.recordkeeping import facts_of_sink
from holdfast.running.settings import SessionOptions
from holdfast.spark.dataframe import code_digests, job_functions
from holdfast.spark.facts import plan_facts
from holdfast.spark.installation import refuse_connect_session, refuse_stopped_session
from holdfast.spark.planning import planning
from holdfast.spark.preflight import build_frame, checked_sink, read_checkpoint
from holdfast.spark.startedquery import look_into
from holdfast.spark.usercode import digests_of, is_installed
from holdfast.storage.location import Location, canonical, parse_location
from holdfast.storage.options import StorageOptions, StorageSettings, settings_given

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

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


def record_declared(jobs: Sequence[ReadyJob], wish: SessionOptions) -> list[Recorded]:
    """Record declared jobs that run elsewhere, in one Spark, which is left as it was found."""
    with planning(wish) as context:
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
