"""Finds out everything about a start before it happens: rows, sink, plan, and what forbids it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.diagnosis.inspecting import inspect_checkpoint
from holdfast.diagnosis.inspection import Inspection
from holdfast.errors import StorageError
from holdfast.findings import Finding, Place, Severity
from holdfast.jobs.ready import ReadyJob
from holdfast.jobs.registry import remember_checkpoint
from holdfast.ledgers.lastcommitted import LastCommitted
from holdfast.records.folder import RecordsFolder
from holdfast.records.run import PlanFacts
from holdfast.records.statements import Statement
from holdfast.spark.adopting import statement_about_pending
from holdfast.spark.guard import Start, refuse_or_tell
from holdfast.spark.jobsession import session_for
from holdfast.spark.planfacts import plan_facts
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


@dataclass(frozen=True)
class Prepared:
    """A start that nothing forbids."""

    frame: DataFrame
    sink: BatchSink
    facts: PlanFacts
    inspection: Inspection
    checkpoint: Reader
    statement: Statement | None
    """What the user said of a pending batch that was adopted."""
    findings: tuple[Finding, ...]


def prepare(
    job: ReadyJob, around: Surroundings, records: RecordsFolder, given: DataFrame | None
) -> Prepared:
    """Prepare a start, or raise HoldfastError; the checkpoint and the sink are left as they are.

    `given` is a program's own query; without it, sources and transform are the job's.
    """
    reader = open_reader(job.checkpoint, job.settings)
    formats = {source.name: source.format for source in job.sources}
    inspection = inspect_checkpoint(_begun(reader), formats=formats, may_be_missing=True).result
    frame = _frame(job, around) if given is None else given
    sink = open_sink(frame.sparkSession, job)
    sink.prepare(frame.schema, begun=inspection.batches.last_planned is not None)
    facts = plan_facts(frame, code_digests(job), job.output_mode)
    findings = _guarded(job, around, inspection, sink, facts)
    statement = statement_about_pending(job, inspection, sink, records, reader, around.wishes)
    findings += tuple(_remembered(job))
    return Prepared(frame, sink, facts, inspection, reader, statement, findings)


def _frame(job: ReadyJob, around: Surroundings) -> DataFrame:
    session = session_for(job, around.session)
    return apply_transform(session, job, load_sources(session, job))


def _guarded(
    job: ReadyJob,
    around: Surroundings,
    inspection: Inspection,
    sink: BatchSink,
    facts: PlanFacts,
) -> tuple[Finding, ...]:
    known = inspection.query_id
    held = LastCommitted(None, "the checkpoint has no query id yet")
    if known is not None:
        held = sink.last_committed(known)
    others = sink.queries() - {known or ""}
    start = Start(inspection, facts, held, others, {**around.wishes.settings, **job.conf})
    return refuse_or_tell(start, around.wishes.accepted)


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
