"""Runs the batches of a prepared checkpoint next to the running stream, and plans none.

Each batch is planned in the checkpoint before Spark starts: Spark runs it again with the offsets
that are there, and a trigger that allows one batch ends the query after it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from holdfast.crashpoints import reach
from holdfast.errors import PlanError, RunError
from holdfast.jobs.ready import ReadyJob, ReadySource, spark_path
from holdfast.records.folder import records_of
from holdfast.records.offsetcopies import OffsetCopies
from holdfast.running.bounded import ActLease, BoundedBatches
from holdfast.running.options import RunContext
from holdfast.running.settings import SessionOptions
from holdfast.running.stopping import Stopping
from holdfast.spark.facts import plan_facts
from holdfast.spark.failures import job_error
from holdfast.spark.planning import planning
from holdfast.spark.preflight import build_frame
from holdfast.spark.query.dataframe import code_digests, job_functions
from holdfast.spark.query.gate import Gate
from holdfast.spark.session.opening import Step, active
from holdfast.spark.sinks.opening import open_sink
from holdfast.spark.sinks.sink import BatchSink, Delivery
from holdfast.storage.location import Location
from holdfast.storage.opening import open_reader

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_CLEANING = "cleansource"
"""An option with which a source removes the files that it has read."""


def run_bounded(
    job: ReadyJob,
    checkpoint: Location,
    batches: BoundedBatches,
    session: SessionOptions,
    step: Step | None = None,
) -> int:
    """Run every batch that is not committed yet, and return how many rows were written.

    `step` is called with a line about what takes long. Raise HoldfastError where one fails; the
    batches before it are committed.
    """
    batches.fits(job.sink)
    with planning(session, step) as context:
        return _run(beside_the_stream(job, batches), checkpoint, batches, context)


def beside_the_stream(job: ReadyJob, batches: BoundedBatches) -> ReadyJob:
    """Return the job as it writes next to its stream."""
    return replace(
        job,
        sources=tuple(map(_leaving_files, job.sources)),
        sink=replace(job.sink, keeps_newer=batches.keeps_newer),
    )


def _leaving_files(source: ReadySource) -> ReadySource:
    options = {name: value for name, value in source.options.items() if name.lower() != _CLEANING}
    return replace(source, options=options)


def _run(job: ReadyJob, checkpoint: Location, batches: BoundedBatches, context: RunContext) -> int:
    frame = build_frame(job, context)
    plan = plan_facts(frame, code_digests(job), job.output_mode, job_functions(job))
    if plan.operators is None or plan.operators:
        named = "unknown operators" if plan.operators is None else ", ".join(plan.operators)
        message = f"the query keeps state ({named}): a range alone does not give its results"
        raise PlanError("HF4601", message, at=job.at)
    sink = open_sink(frame.sparkSession, job)
    sink.prepare(frame.schema, begun=True)
    rows = 0
    for batch in range(1, batches.last + 1):
        batches.fits_table(sink.sight(None))
        if not batches.committed(batch):
            rows += _run_batch(job, frame, sink, checkpoint, batches, batch)
            reach("plan.backfill-batch-committed")
    return rows


def _run_batch(
    job: ReadyJob,
    frame: DataFrame,
    sink: BatchSink,
    checkpoint: Location,
    batches: BoundedBatches,
    batch: int,
) -> int:
    reader = open_reader(checkpoint, job.settings)
    gate = _OneBatch(
        sink,
        lease=ActLease(batches.generation, batches.confirm),
        stopping=Stopping(),
        checkpoint=reader,
        copies=OffsetCopies(records_of(checkpoint, job.settings)),
    )
    _refuse_gone(sink, batches, batch)
    gate.batch, gate.entry = batch, batches.offered(batch)
    gate.refuse_gone = partial(_refuse_gone, sink, batches, batch)
    gate.open_for(batches.name)
    writer = (
        frame.writeStream.queryName(f"{job.name}-backfill")
        .outputMode(job.output_mode)
        .option("checkpointLocation", spark_path(checkpoint, job.settings))
        .trigger(once=True)
    )
    try:
        with active(frame.sparkSession):
            query = gate.begin(writer)
        try:
            query.awaitTermination()
        finally:
            if query.isActive:
                query.stop()
    except Exception as error:
        raise job_error(error, job, raised_in_batch=gate.raised) from error
    if not batches.committed(batch):
        message = f"Spark ended without a commit of batch {batch}"
        raise RunError("HF4646", message, at=checkpoint.shown)
    return gate.rows


def _refuse_gone(sink: BatchSink, batches: BoundedBatches, batch: int) -> None:
    """Raise PlanError where the source lacks what the batch reads, unless the sink has its rows."""
    held = sink.last_committed(batches.name).value
    if held is None or held < batch:
        batches.is_there(batch)


class _OneBatch(Gate):
    """Lets one batch through, with the offsets that were written down, and counts its rows."""

    batch = 0
    entry = b""
    rows = 0
    refuse_gone: Callable[[], None]

    def _deliver(self, batch: DataFrame, batch_id: int) -> Delivery:
        found = self._checkpoint.read(f"offsets/{batch_id}")
        if batch_id != self.batch or found != self.entry:
            message = f"Spark planned batch {batch_id}; only batch {self.batch} is to run"
            raise RunError("HF4646", message, at=self._checkpoint.location)
        # Spark has listed what the batch reads by now: what is there still was there then.
        self.refuse_gone()
        delivery = super()._deliver(batch, batch_id)
        self.rows += delivery.rows or 0
        return delivery
