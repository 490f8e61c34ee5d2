"""Asks, before an adopted checkpoint's pending batch is run again, whether the sink has it."""

from __future__ import annotations

from holdfast.diagnosis.inspection import Inspection
from holdfast.errors import RefusedError
from holdfast.jobs.ready import ReadyJob
from holdfast.ledgers.identity import digest_of_offsets
from holdfast.records.folder import RecordsFolder
from holdfast.records.history import History
from holdfast.records.holder import user_here
from holdfast.records.moments import moment_now
from holdfast.records.offsetcopies import OffsetCopies
from holdfast.records.run import Ended
from holdfast.records.statements import Statement, Statements
from holdfast.spark.sinks.sink import BatchSink
from holdfast.spark.surroundings import Wishes
from holdfast.storage.reading import Reader


def statement_about_pending(
    job: ReadyJob,
    inspection: Inspection,
    sink: BatchSink,
    records: RecordsFolder,
    checkpoint: Reader,
    wishes: Wishes,
) -> Statement | None:
    """Give what the user stated of the pending batch; raise RefusedError where it has to be said.

    Nothing has to be said where our last run left the batch, or where the sink itself knows
    batches of this query.
    """
    pending, query_id = inspection.batches.pending, inspection.query_id
    if pending is None or query_id is None:
        if wishes.pending is not None:
            raise _unfitting(job, "no batch is pending", inspection.location)
        return None
    entry = checkpoint.read(f"offsets/{pending}")
    digest = digest_of_offsets(entry)
    held = sink.last_committed(query_id).value
    if wishes.pending is not None and held is not None and wishes.pending is not (held >= pending):
        why = f"the {sink.kind} sink says itself that it holds the query up to batch {held}"
        raise _unfitting(job, why, inspection.location)
    if wishes.pending is not None:
        stated = Statement(query_id, pending, digest, wishes.pending, moment_now(), user_here())
        Statements(records).write(stated)
        return stated
    said_before = Statements(records).statement_about(query_id, pending, digest)
    if said_before or held is not None or _is_ours(records, query_id, pending, entry):
        return said_before
    message = f"batch {pending} of the adopted checkpoint is pending, and the {sink.kind} sink "
    message += "can't tell whether it holds it"
    raise RefusedError("HF3009", message, at=inspection.location)


def _is_ours(records: RecordsFolder, query_id: str, pending: int, entry: bytes) -> bool:
    """Whether our last run planned the batch; one that began without an id made this query.

    After a run that finished nothing was pending: then somebody else planned it, unless we saw it.
    """
    for run in History(records).runs(newest=1):
        if run.query_id in (query_id, None) and run.ended is not Ended.FINISHED:
            return True
    return OffsetCopies(records).copy_of(query_id, pending) == entry


def _unfitting(job: ReadyJob, why: str, at: str) -> RefusedError:
    message = f"{job.name}: a pending batch was stated as delivered or not, but {why}"
    return RefusedError("HF3010", message, at=at)
