"""Starts a job: takes the lease, compares plan, checkpoint and sink, and only then calls Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.checkpoint.outcome import Action
from holdfast.diagnosis.inspecting import inspect_checkpoint
from holdfast.diagnosis.inspection import Inspection
from holdfast.errors import StorageError
from holdfast.findings import Finding, Place, Severity
from holdfast.jobs.ownership import check_owner
from holdfast.jobs.ready import ReadyJob
from holdfast.jobs.registry import remember_checkpoint
from holdfast.jobs.sparkpath import spark_path
from holdfast.ledgers.lastcommitted import LastCommitted
from holdfast.records.folder import RecordsFolder, records_of
from holdfast.records.history import History
from holdfast.records.holder import this_holder
from holdfast.records.lease import Lease, take_lease
from holdfast.records.moments import moment_now
from holdfast.records.offsetcopies import OffsetCopies
from holdfast.records.run import PlanFacts, Run, SinkFacts, SourceProgress
from holdfast.spark.adopting import statement_about_pending
from holdfast.spark.failures import told
from holdfast.spark.gate import Gate
from holdfast.spark.guard import Start, refuse_or_tell
from holdfast.spark.jobsession import session_for
from holdfast.spark.planfacts import plan_facts
from holdfast.spark.progress import Listening, Notes
from holdfast.spark.sinks.opening import open_sink
from holdfast.spark.sinks.sink import BatchSink
from holdfast.spark.sources import load_sources
from holdfast.spark.surroundings import Surroundings
from holdfast.spark.transforms import apply_transform, code_digests
from holdfast.storage.canonical import canonical
from holdfast.storage.memory import MemoryReader
from holdfast.storage.opening import open_reader
from holdfast.storage.reading import Reader

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

_PROVIDER = "spark.sql.streaming.stateStore.providerClass"


@dataclass(frozen=True)
class Started:
    """A query that Spark runs, with everything that watches over it."""

    query: StreamingQuery
    gate: Gate
    notes: Notes
    listening: Listening
    lease: Lease
    history: History
    record: Run
    sink: BatchSink
    checkpoint: Reader
    findings: tuple[Finding, ...]
    kinds: Mapping[int, str]
    """The kind of each source, by its place."""
    rerun: int | None
    """The pending batch that Spark runs again first."""

    @contextmanager
    def lease_held(self) -> Iterator[None]:
        """Let the lease go when the query is over; not while a delivery still goes on."""
        try:
            yield
        finally:
            if self.gate.in_sink is None:
                self.lease.release()


@dataclass(frozen=True)
class Query:
    """What is going to be started: rows, their sink, and what Spark makes of them."""

    frame: DataFrame
    sink: BatchSink
    facts: PlanFacts


def start_job(job: ReadyJob, around: Surroundings, frame: DataFrame | None = None) -> Started:
    """Start a job, or raise HoldfastError and leave everything as it was.

    `frame` is a program's own query; without it, sources and transform are the job's.
    """
    records = records_of(job.checkpoint, job.settings)
    history = History(records)
    check_owner(job, _owner(history))
    lease = take_lease(records, job=job.name, project=job.project, holder=this_holder(around.jvm))
    lease.start_beating()
    try:
        return _start_holding(job, around, frame, records, history, lease)
    except BaseException:
        lease.release()
        raise


def _start_holding(
    job: ReadyJob,
    around: Surroundings,
    frame: DataFrame | None,
    records: RecordsFolder,
    history: History,
    lease: Lease,
) -> Started:
    reader = open_reader(job.checkpoint, job.settings)
    formats = {source.name: source.format for source in job.sources}
    inspection = inspect_checkpoint(_begun(reader), formats=formats, may_be_missing=True).result
    begun = inspection.batches.last_planned is not None
    query = _query(job, around, frame, begun=begun)
    findings = _guarded(job, around, inspection, query)
    statement = statement_about_pending(job, inspection, query.sink, records, reader, around.wishes)
    gate = Gate(
        query.sink, lease=lease, stopping=around.stopping, checkpoint=reader,
        copies=OffsetCopies(records), statement=statement,
    )  # fmt: skip
    notes = Notes(_sources(job, query.facts), lambda batch_id: batch_id in gate.skipped)
    listening = Listening()
    record = replace(_record(job, around, query, lease), query_id=inspection.query_id)
    history.write(record)
    findings += tuple(_remembered(job))
    query.frame.sparkSession.streams.addListener(listening)
    running = _call_spark(job, query, gate)
    record = replace(record, query_id=str(running.id), run_id=str(running.runId))
    history.write(record)
    next_start = inspection.next_start
    return Started(
        running, gate, notes, listening, lease, history, record, query.sink, reader, findings,
        dict(enumerate(query.facts.sources)),
        next_start.batch_id if next_start.action is Action.RERUN else None,
    )  # fmt: skip


def _query(job: ReadyJob, around: Surroundings, given: DataFrame | None, *, begun: bool) -> Query:
    session = session_for(job, around.session) if given is None else given.sparkSession
    frame = given
    if frame is None:
        frame = apply_transform(session, job, load_sources(session, job))
    sink = open_sink(session, job)
    sink.prepare(frame.schema, begun=begun)
    return Query(frame, sink, plan_facts(frame, code_digests(job), job.output_mode))


def _guarded(
    job: ReadyJob, around: Surroundings, inspection: Inspection, query: Query
) -> tuple[Finding, ...]:
    known = inspection.query_id
    held = LastCommitted(None, "the checkpoint has no query id yet")
    if known is not None:
        held = query.sink.last_committed(known)
    start = Start(
        inspection,
        query.facts,
        held,
        query.sink.queries() - {known or ""},
        {**around.wishes.settings, **job.conf},
    )
    return refuse_or_tell(start, around.wishes.accepted)


def _call_spark(job: ReadyJob, query: Query, gate: Gate) -> StreamingQuery:
    writer = (
        query.frame.writeStream.queryName(job.name)
        .outputMode(job.output_mode)
        .option("checkpointLocation", spark_path(job.checkpoint, job.settings))
        .foreachBatch(gate)
    )
    if job.processing_time is None:
        writer = writer.trigger(availableNow=True)
    else:
        writer = writer.trigger(processingTime=job.processing_time)
    try:
        return writer.start()
    except Exception as error:
        raise told(error, job) from error


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
        remember_checkpoint(job.folder, job.name, canonical(job.checkpoint))
    except StorageError as error:
        message = f"the place of the checkpoint can't be remembered: {error.message}"
        yield Finding("HF3012", Severity.INFO, message, Place("", root=error.at))


def _owner(history: History) -> Run | None:
    return next(iter(history.runs(newest=1)), None)


def _sources(job: ReadyJob, facts: PlanFacts) -> tuple[SourceProgress, ...]:
    names = [source.name for source in job.sources]
    same = len(names) == len(facts.sources)
    return tuple(
        SourceProgress(names[place] if same else str(place), kind)
        for place, kind in enumerate(facts.sources)
    )


def _record(job: ReadyJob, around: Surroundings, query: Query, lease: Lease) -> Run:
    session = query.frame.sparkSession
    return Run(
        job=job.name,
        project=job.project,
        checkpoint=canonical(job.checkpoint),
        generation=lease.generation,
        versions=around.versions,
        started_at=moment_now(),
        settings={**around.wishes.settings, **job.conf},
        sources=_sources(job, query.facts),
        sink=SinkFacts(query.sink.kind, query.sink.identity, job.sink.mode, query.sink.promise),
        output_mode=job.output_mode,
        trigger=job.processing_time or "available-now",
        state_store_provider=session.conf.get(_PROVIDER) if query.facts.operators else None,
        plan=query.facts,
        taken_over=lease.taken_over,
    )
