"""Starts a job: takes the lease, has everything compared, then calls Spark; and stops it.

`start_job` is the whole start, top to bottom. Its order is the promise.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from holdfast.errors import HoldfastError, JvmDiedError
from holdfast.findings import Finding, Place, Severity
from holdfast.jobs.options import starting_options
from holdfast.jobs.ownership import check_owner
from holdfast.jobs.ready import ReadyJob, spark_path
from holdfast.ledgers.sinkstate import SinkState
from holdfast.records.folder import RecordsFolder, records_of
from holdfast.records.history import History
from holdfast.records.leases.taking import Lease, take_lease
from holdfast.records.moments import moment_now
from holdfast.records.offsetcopies import OffsetCopies
from holdfast.records.processes import this_holder
from holdfast.records.run import Ended, PlanFacts, Run, SourceProgress
from holdfast.records.statements import Statement
from holdfast.restart.judging import admit_start
from holdfast.restart.start import StartFacts
from holdfast.running.admission import (
    affected_jobs,
    attempt_recorded,
    refuse_given_up,
    refuse_half_changed,
)
from holdfast.running.freshstart import begun_as_reset
from holdfast.running.options import RunContext
from holdfast.running.recordkeeping import QueryProgress, facts_of_sink
from holdfast.running.report import JobWaiting
from holdfast.running.stopping import Stopping
from holdfast.spark.facts import plan_facts
from holdfast.spark.failures import failure_of, job_error, jvm_deaths_raised
from holdfast.spark.preflight import (
    accepted_names,
    build_frame,
    checked_sink,
    first_batch,
    read_checkpoint,
    refuse_changed_offsets,
    refuse_lost_files,
    refuse_other_offsets,
    remember_place,
    start_facts,
    statement_about_pending,
)
from holdfast.spark.query.dataframe import code_digests, job_functions
from holdfast.spark.query.gate import Gate, NativeWriter, SinkWriter, StoppedBeforeSinkError
from holdfast.spark.query.listening import ProgressListener
from holdfast.spark.query.upsertkey import guard_upsert_key
from holdfast.spark.session.jvm import Jvm, lost_connection
from holdfast.spark.session.opening import active
from holdfast.spark.sinks.native import NativeSink
from holdfast.spark.sinks.sink import BatchSink, JobSink
from holdfast.storage.location import canonical
from holdfast.storage.reading import Reader

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery


_LOOK_SECONDS = 0.05
_STOPPED = "stopped SparkContext"
_COMMIT_SECONDS = 60.0
"""How long Spark's commit of a delivered batch is waited for."""
_STOP_SECONDS = 10.0
"""How long Spark may take to stop; it waits for a delivery that does not listen without end."""
_LEAVE_SECONDS = 10.0
"""How long a batch that waits before a closed gate may take to notice."""
_PROVIDER = "spark.sql.streaming.stateStore.providerClass"


def start_job(job: ReadyJob, context: RunContext, frame: DataFrame | None = None) -> RunningQuery:
    """Start a job, or raise HoldfastError; only a record of the run or of the attempt is left.

    `frame` is a program's own query; without it, sources and transform are the job's.
    """
    records, options = records_of(job.checkpoint, job.settings), context.options
    recorded = partial(attempt_recorded, job, spark=context.versions.spark)
    with recorded():
        _check_owner(job, records)
        lease = _taken_lease(job, context, records)
    lease.start_beating()
    try:
        with recorded(), jvm_deaths_raised(context.jvm, job):
            # Another job may have begun and ended here while the lease was waited for.
            _check_owner(job, records)
            refuse_half_changed(job, records)
            refuse_given_up(job, records)
            checkpoint, picture, inspection = read_checkpoint(job)
            job = begun_as_reset(job, records, inspection, is_declared=frame is None)
            frame = build_frame(job, context) if frame is None else frame
            sink = checked_sink(frame, job, inspection)
            plan = plan_facts(frame, code_digests(job), job.output_mode, job_functions(job))
            facts = start_facts(
                job=job,
                context=context,
                records=records,
                picture=picture,
                inspection=inspection,
                sink=sink,
                plan=plan,
            )
            if facts.fatal:
                # What was kept of the offsets, and what the sink has, say more than their looks.
                refuse_changed_offsets(inspection, checkpoint, records, sink)
                refuse_other_offsets(inspection, checkpoint, sink, facts.sight.held)
            findings = admit_start(facts, options.accepted)
            findings += (*guard_upsert_key(frame, job), *affected_jobs(job, findings))
            accepted = accepted_names(findings, options.accepted, records, inspection.query_id)
            refuse_changed_offsets(inspection, checkpoint, records, sink)
            refuse_other_offsets(inspection, checkpoint, sink, facts.sight.held)
            statement = statement_about_pending(
                inspection, sink, facts.sight, records, checkpoint, options
            )
            refuse_lost_files(picture, facts.sight, statement, job, frame)
            findings += (*remember_place(job), *options.noted)
            lease, renumbered = _above_the_sink(lease, facts.sight)
        # What fails from here on is in the record of the run, and no attempt any more.
        with jvm_deaths_raised(context.jvm, job):
            record = _record(job, context, frame, sink, facts, statement, lease, accepted)
            progress = QueryProgress(record.sources, lambda one: writer.has_skipped(one))  # noqa: PLW0108 - below
            writer = _sink_writer(
                job=job,
                context=context,
                records=records,
                checkpoint=checkpoint,
                sink=sink,
                facts=facts,
                statement=statement,
                lease=lease,
                progress=progress,
            )
            query = RunningQuery(
                frame=frame,
                sink=sink,
                writer=writer,
                progress=progress,
                listener=ProgressListener(),
                checkpoint=checkpoint,
                lease=lease,
                history=History(records),
                record=record,
                findings=findings + renumbered,
                rerun=facts.rerun,
            )
            query.start(job, context.jvm)
            return query
    except BaseException:
        lease.release()
        raise


def _check_owner(job: ReadyJob, records: RecordsFolder) -> None:
    """Raise HF1118 where the newest run on the checkpoint is another job's."""
    check_owner(job, next(iter(History(records).runs(newest=1)), None))


def _taken_lease(job: ReadyJob, context: RunContext, records: RecordsFolder) -> Lease:
    def pause(seconds: float) -> None:
        if context.stopping.wait(seconds):
            raise StoppedBeforeSinkError("stopped while watching another holder")

    return take_lease(
        records,
        job=job.name,
        project=job.project,
        holder=this_holder(context.jvm.number),
        sleep=pause,
        waiting=lambda state: context.watch(JobWaiting(job.name, state.words)),
    )


def _above_the_sink(lease: Lease, sight: SinkState) -> tuple[Lease, tuple[Finding, ...]]:
    """Return a lease that the sink does not take for an older one; raise HF2602 where it is lost.

    Only a start may do this, under the lease and before its first batch: a driver that is late
    finds a newer claim, and keeps its generation.
    """
    if lease.generation > sight.generation:
        return lease, ()
    raised = lease.raised(sight.generation)
    raised.start_beating()
    message = (
        f"the sink has generation {sight.generation}; this run continues as generation "
        f"{raised.generation} instead of {lease.generation}"
    )
    evidence = {"before": lease.generation, "now": raised.generation}
    return raised, (Finding("HF2614", Severity.INFO, message, Place(""), evidence),)


def _sink_writer(
    job: ReadyJob,
    context: RunContext,
    records: RecordsFolder,
    checkpoint: Reader,
    sink: BatchSink | NativeSink,
    facts: StartFacts,
    statement: Statement | None,
    lease: Lease,
    progress: QueryProgress,
) -> SinkWriter:
    """Choose how rows reach the sink; Spark's own sink takes no batches from anybody."""
    if isinstance(sink, NativeSink):
        return NativeWriter(
            job.sink,
            checkpoint=checkpoint,
            held=facts.sight.held.value,
            newest=lambda: progress.last_batch,
        )
    return Gate(
        sink,
        lease=lease,
        stopping=context.stopping,
        checkpoint=checkpoint,
        copies=OffsetCopies(records),
        statement=statement,
        most_batches=context.options.most_batches,
    )


def _record(
    job: ReadyJob,
    context: RunContext,
    frame: DataFrame,
    sink: JobSink,
    facts: StartFacts,
    statement: Statement | None,
    lease: Lease,
    accepted: tuple[str, ...],
) -> Run:
    since = first_batch(facts.inspection, statement)
    return Run(
        job=job.name,
        project=job.project,
        checkpoint=canonical(job.checkpoint),
        generation=lease.generation,
        versions=context.versions,
        started_at=moment_now(),
        settings=facts.settings,
        query_id=facts.inspection.query_id,
        sources=_sources(job, facts.plan),
        sink=facts_of_sink(sink, facts.sight, job.sink, since),
        output_mode=job.output_mode,
        trigger=job.processing_time or "available-now",
        state_store_provider=_provider(frame, facts.plan),
        plan=facts.plan,
        delivered_before=facts.delivered_before,
        taken_over=lease.taken_over,
        accepted=accepted,
    )


def _sources(job: ReadyJob, plan: PlanFacts) -> tuple[SourceProgress, ...]:
    names = [source.name for source in job.sources]
    same = len(names) == len(plan.sources)
    starting = [starting_options(source.options) for source in job.sources]
    return tuple(
        SourceProgress(
            names[place] if same else str(place), kind, starting=starting[place] if same else None
        )
        for place, kind in enumerate(plan.sources)
    )


def _provider(frame: DataFrame, plan: PlanFacts) -> str | None:
    if not plan.operators:
        return None
    return frame.sparkSession.conf.get(_PROVIDER)


@dataclass
class RunningQuery:
    """A query with everything that watches over it; made before Spark is called."""

    frame: DataFrame
    sink: JobSink
    writer: SinkWriter
    """What batches pass on their way to the sink."""
    progress: QueryProgress
    listener: ProgressListener
    checkpoint: Reader
    lease: Lease
    history: History
    record: Run
    findings: tuple[Finding, ...]
    rerun: int | None
    """The pending batch that Spark runs again first."""
    _query: StreamingQuery | None = field(default=None, init=False)

    @property
    def query(self) -> StreamingQuery:
        """Spark's own object; there is none before `start`."""
        if self._query is None:
            raise RuntimeError("Spark has not been called yet")
        return self._query

    @property
    def kinds(self) -> Mapping[int, str]:
        """The kind of each source, by its place."""
        return {place: source.format for place, source in enumerate(self.record.sources)}

    def start(self, job: ReadyJob, jvm: Jvm) -> None:
        """Record the run, hear Spark, call it, and record the ids that it gave."""
        self.history.write(self.record)
        query = self._query = self._recorded_call(job, jvm)
        self.record = replace(self.record, query_id=str(query.id), run_id=str(query.runId))
        try:
            self.history.write(self.record)
        except BaseException:
            # Nobody watches over the query yet: it must be over before the lease is given back.
            self.writer.close()
            halt(query)
            self.writer.wait_until_left(threading.Event().wait, _LEAVE_SECONDS)
            self.listener.end(self.frame.sparkSession)
            raise

    def stop(self, stopping: Stopping, grace_seconds: float) -> None:
        """Stop, and let the running delivery finish first, as far as the user lets us."""
        if not self.lease.lost and self.writer.wait_until_left(
            stopping.wait_at_once, grace_seconds
        ):
            self._await_commit(stopping)
        halt(self.query)

    @contextmanager
    def lease_held(self) -> Iterator[None]:
        """Let the lease go when the query is over; not while a delivery still goes on."""
        try:
            yield
        finally:
            if not self.writer.at_work:
                self.lease.release()

    def release_when_left(self) -> None:
        """Let the lease go when the user's function returns: Spark is gone, it alone goes on."""

        def release() -> None:
            self.writer.wait_until_left(threading.Event().wait, math.inf)
            self.lease.release()

        threading.Thread(target=release, name="holdfast-release", daemon=True).start()

    def _recorded_call(self, job: ReadyJob, jvm: Jvm) -> StreamingQuery:
        """Call Spark; a call that fails is recorded as a run that failed."""
        session = self.frame.sparkSession
        try:
            with jvm_deaths_raised(jvm, job):
                self.listener.begin(session)
                return _call_spark(job, self.frame, self.writer)
        except HoldfastError as error:
            if not isinstance(error, JvmDiedError):
                self.listener.end(session)
            failure = failure_of(error, error)
            ended = replace(self.record, ended_at=moment_now(), ended=Ended.FAILED, failure=failure)
            self.history.write(ended)
            raise

    def _await_commit(self, stopping: Stopping) -> None:
        batch = self.writer.delivered
        until = time.monotonic() + _COMMIT_SECONDS
        while batch is not None and self.query.isActive and time.monotonic() < until:
            if str(batch) in self.checkpoint.names("commits"):
                return
            if stopping.wait_at_once(_LOOK_SECONDS):
                return


def _call_spark(job: ReadyJob, frame: DataFrame, sink_writer: SinkWriter) -> StreamingQuery:
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
            return sink_writer.begin(writer)
    except Exception as error:
        raise job_error(error, job) from error


def halt(query: StreamingQuery) -> None:
    """Stop without waiting for a delivery; return although one goes on in the user's function."""
    # Spark's call returns only when the delivery does: it is waited for elsewhere.
    thread = threading.Thread(target=_stop, args=(query,), name="holdfast-halt", daemon=True)
    thread.start()
    thread.join(_STOP_SECONDS)


def _stop(query: StreamingQuery) -> None:
    try:
        query.stop()
    except Exception as error:
        # With its JVM the query is over, and so it is when a signal to both stopped Spark first.
        if not lost_connection(error) and _STOPPED not in str(error):
            raise
