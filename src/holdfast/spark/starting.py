"""Starts a job: takes the lease, has everything compared, and only then calls Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.checkpoint.outcome import Action
from holdfast.errors import HoldfastError
from holdfast.findings import Finding
from holdfast.jobs.ownership import check_owner
from holdfast.jobs.ready import ReadyJob
from holdfast.jobs.sparkpath import spark_path
from holdfast.records.folder import RecordsFolder, records_of
from holdfast.records.history import History
from holdfast.records.holder import this_holder
from holdfast.records.lease import Lease, take_lease
from holdfast.records.moments import moment_now
from holdfast.records.offsetcopies import OffsetCopies
from holdfast.records.run import Ended, PlanFacts, Run, SinkFacts, SourceProgress
from holdfast.spark.events import JobWaiting
from holdfast.spark.failures import failure_of, told
from holdfast.spark.gate import Gate, StoppedBeforeSinkError
from holdfast.spark.listening import Listening
from holdfast.spark.preparing import Prepared, prepare
from holdfast.spark.progress import Notes
from holdfast.spark.sinks.sink import BatchSink
from holdfast.spark.surroundings import Surroundings
from holdfast.storage.canonical import canonical
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


def start_job(job: ReadyJob, around: Surroundings, frame: DataFrame | None = None) -> Started:
    """Start a job, or raise HoldfastError and leave everything as it was.

    `frame` is a program's own query; without it, sources and transform are the job's.
    """
    records = records_of(job.checkpoint, job.settings)
    history = History(records)
    check_owner(job, next(iter(history.runs(newest=1)), None))
    lease = _taken_lease(job, around, records)
    lease.start_beating()
    try:
        prepared = prepare(job, around, records, frame)
        return _start_prepared(job, around, prepared, records, lease)
    except BaseException:
        lease.release()
        raise


def _taken_lease(job: ReadyJob, around: Surroundings, records: RecordsFolder) -> Lease:
    def pause(seconds: float) -> None:
        if around.stopping.wait(seconds):
            raise StoppedBeforeSinkError("asked to stop while another holder was watched")

    return take_lease(
        records,
        job=job.name,
        project=job.project,
        holder=this_holder(around.jvm),
        sleep=pause,
        waiting=lambda state: around.watch(JobWaiting(job.name, state.words)),
    )


def _start_prepared(
    job: ReadyJob, around: Surroundings, prepared: Prepared, records: RecordsFolder, lease: Lease
) -> Started:
    gate = Gate(
        prepared.sink, lease=lease, stopping=around.stopping, checkpoint=prepared.checkpoint,
        copies=OffsetCopies(records), statement=prepared.statement,
    )  # fmt: skip
    notes = Notes(_sources(job, prepared.facts), lambda batch_id: batch_id in gate.skipped)
    history, listening = History(records), Listening()
    record = _record(job, around, prepared, lease)
    history.write(record)
    query = _recorded_call(job, prepared, gate, listening, history, record)
    record = replace(record, query_id=str(query.id), run_id=str(query.runId))
    history.write(record)
    return Started(
        query, gate, notes, listening, lease, history, record, prepared.sink,
        prepared.checkpoint, prepared.findings, dict(enumerate(prepared.facts.sources)),
        _rerun(prepared),
    )  # fmt: skip


def _recorded_call(
    job: ReadyJob,
    prepared: Prepared,
    gate: Gate,
    listening: Listening,
    history: History,
    record: Run,
) -> StreamingQuery:
    """Call Spark; a call that fails is recorded as a run that failed."""
    session = prepared.frame.sparkSession
    listening.begin(session)
    try:
        return _call_spark(job, prepared.frame, gate)
    except HoldfastError as error:
        listening.end(session)
        failure = failure_of(error, error)
        history.write(replace(record, ended_at=moment_now(), ended=Ended.FAILED, failure=failure))
        raise


def _call_spark(job: ReadyJob, frame: DataFrame, gate: Gate) -> StreamingQuery:
    writer = (
        frame.writeStream.queryName(job.name)
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


def _rerun(prepared: Prepared) -> int | None:
    next_start = prepared.inspection.next_start
    return next_start.batch_id if next_start.action is Action.RERUN else None


def _sources(job: ReadyJob, facts: PlanFacts) -> tuple[SourceProgress, ...]:
    names = [source.name for source in job.sources]
    same = len(names) == len(facts.sources)
    return tuple(
        SourceProgress(names[place] if same else str(place), kind)
        for place, kind in enumerate(facts.sources)
    )


def _record(job: ReadyJob, around: Surroundings, prepared: Prepared, lease: Lease) -> Run:
    sink, facts = prepared.sink, prepared.facts
    return Run(
        job=job.name,
        project=job.project,
        checkpoint=canonical(job.checkpoint),
        generation=lease.generation,
        versions=around.versions,
        started_at=moment_now(),
        settings={**around.wishes.settings, **job.conf},
        query_id=prepared.inspection.query_id,
        sources=_sources(job, facts),
        sink=SinkFacts(sink.kind, sink.identity, job.sink.mode, sink.promise),
        output_mode=job.output_mode,
        trigger=job.processing_time or "available-now",
        state_store_provider=_provider(prepared),
        plan=facts,
        taken_over=lease.taken_over,
    )


def _provider(prepared: Prepared) -> str | None:
    if not prepared.facts.operators:
        return None
    return prepared.frame.sparkSession.conf.get(_PROVIDER)
