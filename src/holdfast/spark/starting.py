"""Starts a job: takes the lease, has everything compared, and only then calls Spark."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from holdfast.checkpoint.recovery.outcome import Action
from holdfast.errors import HoldfastError, JvmDiedError
from holdfast.findings import Finding, Place, Severity
from holdfast.jobs.ownership import check_owner
from holdfast.jobs.ready import ReadyJob
from holdfast.jobs.source import starting_options
from holdfast.jobs.sparkpath import spark_path
from holdfast.ledgers.sinksight import SinkSight
from holdfast.records.folder import RecordsFolder, records_of
from holdfast.records.history import History
from holdfast.records.holder import this_holder
from holdfast.records.lease import Lease, take_lease
from holdfast.records.moments import moment_now
from holdfast.records.offsetcopies import OffsetCopies
from holdfast.records.run import Ended, PlanFacts, Run, SourceProgress
from holdfast.spark.admission import refuse_half_changed
from holdfast.spark.ending import halt
from holdfast.spark.events import JobWaiting
from holdfast.spark.failures import failure_of, jvm_deaths_told, told
from holdfast.spark.gate import Gate, StoppedBeforeSinkError
from holdfast.spark.jobsession import active
from holdfast.spark.listening import Listening
from holdfast.spark.preparing import Prepared, prepare
from holdfast.spark.progress import Notes
from holdfast.spark.refusal import attempt_recorded
from holdfast.spark.sinkrecord import facts_of_sink
from holdfast.spark.sinks.native import NativeSink
from holdfast.spark.sinks.sink import Sink
from holdfast.spark.surroundings import Surroundings
from holdfast.spark.writing import NativeWriting, Writing
from holdfast.storage.canonical import canonical
from holdfast.storage.reading import Reader

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

_LEAVE_SECONDS = 10.0
"""How long a batch that waits before a closed gate may take to notice."""
_PROVIDER = "spark.sql.streaming.stateStore.providerClass"


@dataclass(frozen=True)
class Started:
    """A query that Spark runs, with everything that watches over it."""

    query: StreamingQuery
    gate: Writing
    """What batches pass on their way to the sink."""
    notes: Notes
    listening: Listening
    lease: Lease
    history: History
    record: Run
    sink: Sink
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
            if not self.gate.at_work:
                self.lease.release()

    def release_when_left(self) -> None:
        """Let the lease go when the user's function returns: Spark is gone, it alone goes on."""

        def release() -> None:
            self.gate.wait_until_left(threading.Event().wait, math.inf)
            self.lease.release()

        threading.Thread(target=release, name="holdfast-release", daemon=True).start()


def start_job(job: ReadyJob, around: Surroundings, frame: DataFrame | None = None) -> Started:
    """Start a job, or raise HoldfastError; only a record of the run or of the attempt is left.

    `frame` is a program's own query; without it, sources and transform are the job's.
    """
    records = records_of(job.checkpoint, job.settings)
    recorded = partial(attempt_recorded, job, spark=around.versions.spark)
    with recorded():
        check_owner(job, next(iter(History(records).runs(newest=1)), None))
        lease = _taken_lease(job, around, records)
    lease.start_beating()
    try:
        with recorded(), jvm_deaths_told(around.jvm, job):
            refuse_half_changed(job, records)
            prepared = prepare(job, around, records, frame)
            lease, findings = _above_the_sink(lease, prepared.sight)
        if findings:
            prepared = replace(prepared, findings=prepared.findings + findings)
        with jvm_deaths_told(around.jvm, job):
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
        holder=this_holder(around.jvm.number),
        sleep=pause,
        waiting=lambda state: around.watch(JobWaiting(job.name, state.words)),
    )


def _above_the_sink(lease: Lease, sight: SinkSight) -> tuple[Lease, tuple[Finding, ...]]:
    """Return a lease that the sink does not take for an older one; raise HF2602 where it is lost.

    Only a start may do this, under the lease and before its first batch: a driver that is late
    finds a newer claim, and keeps its generation.
    """
    if lease.generation > sight.generation:
        return lease, ()
    raised = lease.raised(sight.generation)
    raised.start_beating()
    message = (
        f"the sink knows generation {sight.generation}; this run continues as generation "
        f"{raised.generation} instead of {lease.generation}"
    )
    evidence = {"before": lease.generation, "now": raised.generation}
    return raised, (Finding("HF2614", Severity.INFO, message, Place(""), evidence),)


def _start_prepared(
    job: ReadyJob, around: Surroundings, prepared: Prepared, records: RecordsFolder, lease: Lease
) -> Started:
    sources = _sources(job, prepared.facts)
    notes = Notes(sources, lambda batch_id: writing.has_skipped(batch_id))  # noqa: PLW0108 - below
    writing = _writing(job, around, prepared, records, lease, notes)
    history, listening = History(records), Listening()
    record = _record(job, around, prepared, lease)
    history.write(record)
    query = _recorded_call(job, around, prepared, writing, listening, history, record)
    record = replace(record, query_id=str(query.id), run_id=str(query.runId))
    try:
        history.write(record)
    except BaseException:
        # Nobody watches over the query yet: it must be over before the lease is given back.
        writing.close()
        halt(query)
        writing.wait_until_left(threading.Event().wait, _LEAVE_SECONDS)
        listening.end(prepared.frame.sparkSession)
        raise
    return Started(
        query, writing, notes, listening, lease, history, record, prepared.sink,
        prepared.checkpoint, prepared.findings, dict(enumerate(prepared.facts.sources)),
        _rerun(prepared),
    )  # fmt: skip


def _writing(
    job: ReadyJob,
    around: Surroundings,
    prepared: Prepared,
    records: RecordsFolder,
    lease: Lease,
    notes: Notes,
) -> Writing:
    """Choose how rows reach the sink; Spark's own sink takes no batches from anybody."""
    if isinstance(prepared.sink, NativeSink):
        return NativeWriting(
            job.sink,
            checkpoint=prepared.checkpoint,
            held=prepared.sight.held.value,
            newest=lambda: notes.last_batch,
        )
    return Gate(
        prepared.sink,
        lease=lease,
        stopping=around.stopping,
        checkpoint=prepared.checkpoint,
        copies=OffsetCopies(records),
        statement=prepared.statement,
    )


def _recorded_call(
    job: ReadyJob,
    around: Surroundings,
    prepared: Prepared,
    writing: Writing,
    listening: Listening,
    history: History,
    record: Run,
) -> StreamingQuery:
    """Call Spark; a call that fails is recorded as a run that failed."""
    session = prepared.frame.sparkSession
    try:
        with jvm_deaths_told(around.jvm, job):
            listening.begin(session)
            return _call_spark(job, prepared.frame, writing)
    except HoldfastError as error:
        if not isinstance(error, JvmDiedError):
            listening.end(session)
        failure = failure_of(error, error)
        history.write(replace(record, ended_at=moment_now(), ended=Ended.FAILED, failure=failure))
        raise


def _call_spark(job: ReadyJob, frame: DataFrame, writing: Writing) -> StreamingQuery:
    writer = (
        frame.writeStream.queryName(job.name)
        .outputMode(job.output_mode)
        .option("checkpointLocation", spark_path(job.checkpoint, job.settings))
    )
    if job.processing_time is None:
        writer = writer.trigger(availableNow=True)
    else:
        writer = writer.trigger(processingTime=job.processing_time)
    try:
        with active(frame.sparkSession):
            return writing.begin(writer)
    except Exception as error:
        raise told(error, job) from error


def _rerun(prepared: Prepared) -> int | None:
    next_start = prepared.inspection.next_start
    return next_start.batch_id if next_start.action is Action.RERUN else None


def _sources(job: ReadyJob, facts: PlanFacts) -> tuple[SourceProgress, ...]:
    names = [source.name for source in job.sources]
    same = len(names) == len(facts.sources)
    starting = [starting_options(source.options) for source in job.sources]
    return tuple(
        SourceProgress(
            names[place] if same else str(place), kind, starting=starting[place] if same else None
        )
        for place, kind in enumerate(facts.sources)
    )


def _record(job: ReadyJob, around: Surroundings, prepared: Prepared, lease: Lease) -> Run:
    facts = prepared.facts
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
        sink=facts_of_sink(prepared, job.sink.mode),
        output_mode=job.output_mode,
        trigger=job.processing_time or "available-now",
        state_store_provider=_provider(prepared),
        plan=facts,
        delivered_before=prepared.delivered_before,
        taken_over=lease.taken_over,
        accepted=prepared.accepted,
    )


def _provider(prepared: Prepared) -> str | None:
    if not prepared.facts.operators:
        return None
    return prepared.frame.sparkSession.conf.get(_PROVIDER)
