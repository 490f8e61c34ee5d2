"""Asks, before an adopted checkpoint's pending batch is run again, whether the sink has it."""

from __future__ import annotations

from holdfast.diagnosis.inspection.result import Inspection
from holdfast.errors import RefusedError
from holdfast.ledgers.sinksight import SinkSight
from holdfast.records.folder import RecordsFolder
from holdfast.records.history import History
from holdfast.records.holder import user_here
from holdfast.records.moments import moment_now
from holdfast.records.offsetcopies import OffsetCopies
from holdfast.records.run import Ended
from holdfast.records.statements import Statement, Statements
from holdfast.spark.offsetrange import read_range
from holdfast.spark.sinks.native import NativeSink
from holdfast.spark.sinks.sink import Sink
from holdfast.spark.surroundings import Wishes
from holdfast.storage.reading import Reader


def statement_about_pending(
    inspection: Inspection,
    sink: Sink,
    sight: SinkSight,
    records: RecordsFolder,
    checkpoint: Reader,
    wishes: Wishes,
) -> Statement | None:
    """Give what the user stated of the pending batch; raise RefusedError where it has to be said.

    Nothing has to be said where our last run left the batch and the sink forgets none, where the
    sink itself knows batches of this query, or where Spark's own sink runs it again as it would
    without us.
    """
    if isinstance(sink, NativeSink):
        if wishes.pending:
            raise _unfitting("Spark's own sink cannot be told to skip it", inspection.location)
        return None
    pending, query_id = inspection.batches.pending, inspection.query_id
    if pending is None or query_id is None:
        if wishes.pending is not None:
            raise _unfitting("no batch is pending", inspection.location)
        return None
    offsets = read_range(checkpoint, OffsetCopies(records), query_id, pending)
    held = sight.held.value
    if wishes.pending is not None and held is not None and wishes.pending is not (held >= pending):
        why = f"the {sink.kind} sink says itself that it holds the query up to batch {held}"
        raise _unfitting(why, inspection.location)
    if wishes.pending is not None:
        digest, *older = offsets.digests
        stated = Statement(query_id, pending, digest, wishes.pending, moment_now(), user_here())
        Statements(records).write(stated, *older)
        return stated
    said_before = Statements(records).statement_about(query_id, pending, *offsets.digests)
    if said_before or held is not None:
        return said_before
    if sight.may_have_forgotten:
        message = f"batch {pending} is pending; {sight.place} forgets a query after "
        message += f"{sight.forgets_after}, so that it cannot tell whether it holds the batch"
        raise RefusedError("HF3009", message, at=inspection.location)
    if _is_ours(records, query_id, pending, offsets.entry):
        return None
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


def _unfitting(why: str, at: str) -> RefusedError:
    message = f"a pending batch was stated as delivered or not, but {why}"
    return RefusedError("HF3010", message, at=at)
