"""Finds out everything about a start before it happens: rows, sink, plan, and what forbids it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.reading import SHOWN_BATCHES
from holdfast.diagnosis.checks.declared.declarations import KINDS
from holdfast.diagnosis.checks.declared.sources import (
    changing_sources,
    misspelled,
    moved_folders,
    other_paths,
)
from holdfast.diagnosis.checks.inspecting import picture_of
from holdfast.diagnosis.inspection.result import Inspection, inspection_of
from holdfast.diagnosis.inspection.sink.before import sink_before
from holdfast.errors import StorageError
from holdfast.findings import Finding, Place, Severity
from holdfast.jobs.ready import ReadyJob
from holdfast.jobs.registry import remember_checkpoint
from holdfast.ledgers.lastcommitted import Answer
from holdfast.ledgers.sinksight import SinkSight
from holdfast.records.folder import RecordsFolder
from holdfast.records.history import History
from holdfast.records.run import SHARED_SINK, PlanFacts
from holdfast.records.statements import Statement
from holdfast.spark.admission import written_places
from holdfast.spark.adopting import statement_about_pending
from holdfast.spark.changedoffsets import refuse_changed_offsets, refuse_other_offsets
from holdfast.spark.guard import Start, accepted_by_name, refuse_or_tell
from holdfast.spark.jobsession import session_for
from holdfast.spark.planfacts import plan_facts
from holdfast.spark.serving import refuse_other_default
from holdfast.spark.sinks.native import NativeSink
from holdfast.spark.sinks.opening import open_sink
from holdfast.spark.sinks.sink import BatchSink, Sink
from holdfast.spark.sources import load_sources
from holdfast.spark.surroundings import Surroundings
from holdfast.spark.transforms import apply_transform, code_digests
from holdfast.storage.canonical import canonical
from holdfast.storage.memory import MemoryReader
from holdfast.storage.opening import open_reader
from holdfast.storage.reading import Reader

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class Prepared:
    """A start that nothing forbids."""

    frame: DataFrame
    sink: BatchSink | NativeSink
    sight: SinkSight
    """What was seen of the sink."""
    facts: PlanFacts
    inspection: Inspection
    checkpoint: Reader
    statement: Statement | None
    """What the user said of a pending batch that was adopted."""
    findings: tuple[Finding, ...]
    accepted: tuple[str, ...]
    """What was found and accepted by name."""
    delivered_before: int | None
    """The newest batch that earlier runs of this query delivered."""


def prepare(
    job: ReadyJob, around: Surroundings, records: RecordsFolder, given: DataFrame | None
) -> Prepared:
    """Prepare a start, or raise HoldfastError; the checkpoint and the sink are left as they are.

    `given` is a program's own query; without it, sources and transform are the job's.
    """
    reader = open_reader(job.checkpoint, job.settings)
    formats = {source.name: source.format for source in job.sources}
    picture = picture_of(_begun(reader), may_be_missing=True)
    inspection = inspection_of(
        picture, formats=formats, shown=SHOWN_BATCHES, spark=None, verified=False, run=None
    )
    frame = _frame(job, around) if given is None else given
    session = frame.sparkSession
    refuse_other_default(session, job)
    sink = NativeSink(session, job) if job.sink.native else open_sink(session, job)
    sink.prepare(frame.schema, begun=inspection.batches.last_planned is not None)
    facts = plan_facts(frame, code_digests(job), job.output_mode)
    start = _start(job, around, records, inspection, sink, facts)
    start = replace(start, declared=tuple(_declared_sources(job, picture, records)))
    findings = refuse_or_tell(start, around.wishes.accepted)
    accepted = accepted_by_name(findings, around.wishes.accepted)
    if _known_as_shared(History(records), inspection.query_id):
        accepted = tuple(sorted({*accepted, SHARED_SINK}))
    refuse_changed_offsets(inspection, reader, records, sink)
    refuse_other_offsets(inspection, reader, sink, start.sight.held)
    statement = statement_about_pending(
        inspection, sink, start.sight, records, reader, around.wishes
    )
    findings += (*_remembered(job), *around.wishes.noted)
    before = None if inspection.query_id is None else start.recorded
    return Prepared(
        frame, sink, start.sight, facts, inspection, reader, statement, findings, accepted, before
    )


def _known_as_shared(history: History, query_id: str | None) -> bool:
    """Whether the query began on a sink that the user said several jobs write."""
    if query_id is None:
        return False
    run = history.newest_where(lambda one: one.query_id == query_id)
    return run is not None and SHARED_SINK in run.accepted


def _frame(job: ReadyJob, around: Surroundings) -> DataFrame:
    session = session_for(job, around.session, around.wishes.settings)
    return apply_transform(session, job, load_sources(session, job))


def _start(
    job: ReadyJob,
    around: Surroundings,
    records: RecordsFolder,
    inspection: Inspection,
    sink: Sink,
    facts: PlanFacts,
) -> Start:
    known = inspection.query_id
    sight = sink.sight(known)
    history = History(records)
    before = sink_before(history, known, inspection.batches.passed_over)
    unread = tuple(f"{error.message} ({error.at})" for error in history.damages)
    others: frozenset[str] = frozenset()
    if sight.held.answer is not Answer.BATCH:
        others = sink.queries() - {known or ""}
    settings = {**around.wishes.settings, **job.conf}
    last = history.newest_delivering(known)
    return Start(
        inspection, facts, sight, others, settings, before, job.sink.mode,
        recorded=None if last is None else last.newest_delivered,
        recorded_query=None if last is None else last.query_id, unread=unread,
        master=around.session.sparkContext.master or "local", places=written_places(job),
    )  # fmt: skip


def _declared_sources(job: ReadyJob, picture: Picture, records: RecordsFolder) -> Iterator[Finding]:
    """Compare the declared sources with other jobs, with the checkpoint and with the last run."""
    yield from changing_sources(job.changed_tables)
    sources = [(one.name, one.format, one.options) for one in job.sources]
    yield from misspelled(sources, job.sink.format, job.sink.options)
    if picture.newest_offsets_id is None:
        return
    read = {one.name: one.path or one.options.get("path") for one in job.sources}
    paths = {name: path for name, path in read.items() if path is not None}
    files = {one.name for one in job.sources if KINDS.get(one.format.lower()) == "file"}
    yield from moved_folders(picture, {n: p for n, p in paths.items() if n in files}, "HF2374")
    yield from other_paths(paths, next(iter(History(records).runs(newest=1)), None))


def _begun(reader: Reader) -> Reader:
    """Take a folder with nothing but leftovers of a first write for what it is to Spark: empty."""
    names = reader.names("")
    if names and all(name.startswith(".") for name in names):
        return MemoryReader({}, location=reader.location)
    return reader


def _remembered(job: ReadyJob) -> Iterator[Finding]:
    """Remember where the job's checkpoint is; a project that can't be written is told."""
    if job.project is None:
        return
    try:
        remember_checkpoint(job.folder, job.name, canonical(job.checkpoint), job.profile)
    except StorageError as error:
        message = f"the place of the checkpoint can't be remembered: {error.message}"
        yield Finding("HF3012", Severity.INFO, message, Place("", root=error.at))
