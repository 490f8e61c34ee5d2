"""Asks, before an adopted checkpoint's pending batch is run again, whether the sink has it."""

from __future__ import annotations

import getpass

from holdfast.diagnosis.inspection import Inspection
from holdfast.errors import RefusedError
from holdfast.jobs.ready import ReadyJob
from holdfast.ledgers.identity import digest_of_offsets
from holdfast.records.folder import RecordsFolder
from holdfast.records.history import History
from holdfast.records.moments import moment_now
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

    Nothing has to be said where a run of ours planned the batch, or where the sink itself knows
    batches of this query.
    """
    pending, query_id = inspection.batches.pending, inspection.query_id
    if pending is None or query_id is None:
        if wishes.pending is not None:
            raise _unfitting(job, "no batch is pending", inspection.location)
        return None
    statements = Statements(records)
    digest = digest_of_offsets(checkpoint.read(f"offsets/{pending}"))
    if wishes.pending is not None:
        said_by = getpass.getuser()
        stated = Statement(query_id, pending, digest, wishes.pending, moment_now(), said_by)
        statements.write(stated)
        return stated
    said_before = statements.statement_about(query_id, pending, digest)
    if said_before is not None:
        return said_before
    if _is_ours(records, query_id) or sink.last_committed(query_id).value is not None:
        return None
    message = f"batch {pending} of the adopted checkpoint is pending, and the {sink.kind} sink "
    message += "can't tell whether it holds it"
    raise RefusedError("HF3009", message, at=inspection.location)


def _is_ours(records: RecordsFolder, query_id: str) -> bool:
    """Whether a run of ours planned its batches; one that began without an id made this one."""
    return any(run.query_id in (query_id, None) for run in History(records).runs())


def _unfitting(job: ReadyJob, why: str, at: str) -> RefusedError:
    message = f"{job.name}: a pending batch was stated as delivered or not, but {why}"
    return RefusedError("HF3010", message, at=at)
