"""Steps of a backfill: a checkpoint of its own is prepared, and Spark runs its batches.

Every batch lies in `offsets/` before Spark starts, without a commit: Spark runs it again, with
these offsets, and plans none. The live checkpoint and its lease are not touched.
"""

from __future__ import annotations

import hashlib
import json
import time
import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from holdfast.backup.access import Records
from holdfast.crashpoints import reach
from holdfast.errors import NotFoundError, PlanError
from holdfast.format.logs.filelog import DEFAULT_INTERVAL, log_name
from holdfast.format.logs.offsets import OffsetsEntry
from holdfast.jobs.ready import ReadySink
from holdfast.ledgers.identity import backfill_name
from holdfast.ledgers.sinkstate import LastCommitted, SinkAnswer, SinkState
from holdfast.remedy.outputs import (
    TABLE_ID,
    refuse_other_output,
    refuse_other_table,
    table_seen,
)
from holdfast.remedy.plan import Step
from holdfast.remedy.sourcedata import GIVE_UP, refuse_gone_batch
from holdfast.remedy.steps.work import GIVEN_UP_AFTER, Result, Work
from holdfast.running.bounded import BoundedBatches
from holdfast.storage.reading import FileKind
from holdfast.storage.writing import Writer

if TYPE_CHECKING:
    from holdfast.jobs.projectfile.job import Job

PREPARE, RUN = "prepare-backfill", "run-backfill"
_READS = "reads"
_OF_ROWS = {"source", "sources", "transform", "sql", "output_mode"}
_COMMITTED = b'v1\n{"nextBatchWatermarkMs":0}'
_IDS = uuid.UUID("6f2f1c0e-2b1c-5d0a-9a53-0b0c5a7d8f21")
"""Under which the ids of backfills are made from their names."""


def prepare_arguments(
    query_id: str,
    entry: OffsetsEntry,
    ends: Sequence[str],
    folder: str,
    logs: Mapping[str, str],
) -> dict[str, str]:
    """Return what the checkpoint of a backfill is written from."""
    settings = entry.metadata.settings if entry.metadata is not None else {}
    return {
        "query_id": query_id,
        "ends": json.dumps(list(ends)),
        "settings": json.dumps(dict(settings), sort_keys=True),
        "folder": folder,
        "logs": json.dumps(dict(logs), sort_keys=True),
    }


def run_arguments(key: Sequence[str], order_by: str | None, reads: str | None) -> dict[str, str]:
    """Return how the rows get into the sink, whatever is declared when the plan is finished."""
    given = {} if reads is None else {_READS: reads}
    return {"key": json.dumps(list(key)), "order": order_by or "", **given}


def reads_digest(job: Job) -> str:
    """Return a digest of what is declared of the rows that a batch computes, without secrets."""
    declared = job.model_dump(mode="json", include=_OF_ROWS)
    return hashlib.sha256(json.dumps(declared, sort_keys=True).encode()).hexdigest()


class PrepareBackfill:
    """Writes the checkpoint of the backfill: its id, where the range begins, what is in it."""

    name: ClassVar[str] = PREPARE

    def apply(self, step: Step, work: Work) -> Result:
        """Write every file but the offsets of batches, which are written one by one."""
        writer, name = work.records.writer(), _name_of(step, work)
        moment_ms = int(time.time() * 1000)
        folder, logs = step.arguments["folder"], json.loads(step.arguments["logs"])
        for file, content in sorted(logs.items()):
            writer.replace(f"sources/{folder}/{file}", (content.encode(),))
        writer.replace("offsets/0", (_offsets(step, 0, moment_ms),))
        writer.replace("commits/0", (_COMMITTED,))
        # Without it no Spark takes the folder for a checkpoint that is whole.
        writer.replace("metadata", (json.dumps({"id": str(uuid.uuid5(_IDS, name))}).encode(),))
        writer.settle()
        reach("plan.backfill-prepared")
        return {"moment_ms": moment_ms, "name": name}

    def undo(self, step: Step, result: Result | None, work: Work) -> None:
        """Remove the checkpoint of the backfill."""
        writer = work.records.writer()
        try:
            items = work.records.checkpoint.list().whole()
        except NotFoundError:
            return
        for item in sorted(items, key=lambda one: one.path, reverse=True):
            if item.kind is FileKind.FILE:
                writer.remove(item.path)
            else:
                writer.remove_folder(item.path)
        writer.settle()


class RunBackfill:
    """Lets Spark run every batch of the prepared checkpoint, and no other."""

    name: ClassVar[str] = RUN

    def apply(self, step: Step, work: Work) -> Result:
        """Run what is left; a batch that the sink has is skipped there."""
        prepared = next(one for one in work.plan.steps if one.act == PREPARE)
        noted = dict(work.result_of(PREPARE) or {})
        ends = json.loads(prepared.arguments["ends"])
        last, at = len(ends) - 1, work.records.location
        batches = BoundedBatches(
            name=_name_of(prepared, work),
            last=last,
            generation=work.generation,
            confirm=work.confirm,
            keeps_newer=bool(step.arguments["order"]),
            fits=lambda sink: _refuse_other_sink(step, sink, at),
            fits_table=lambda sight: _refuse_other_table(step, sight, at),
            fits_job=lambda job: _refuse_other_rows(step, job, at),
            is_there=lambda batch: refuse_gone_batch(
                ends, _files_of(prepared, batch), batch, work.source, at=at
            ),
            offered=lambda batch: _offered(prepared, noted, work.records, batch),
            committed=lambda batch: _committed(work.records, batch),
        )
        rows = work.run_bounded(batches)
        return {"batches": last, "rows": rows}

    def lasting(self, step: Step, result: Result | None, work: Work) -> PlanError | None:
        """Return why rows cannot be brought back; None where none reached the sink."""
        prepared = next(one for one in work.plan.steps if one.act == PREPARE)
        with work.open_sink(step.arguments) as sink:
            held = sink.last_committed(_name_of(prepared, work))
        if held.answer is SinkAnswer.NOTHING:
            return None
        message = f"the rows that the backfill replaced cannot be brought back: {held.basis}"
        steps = (_FINISH, GIVE_UP)
        return PlanError("HF4609", message, at=work.records.location, why=_WHY, next_steps=steps)

    def undo(self, step: Step, result: Result | None, work: Work) -> None:
        """Lock whoever sleeps in a batch out; raise PlanError where a row has reached the sink."""
        self._fence(step, work)
        refusal = self.lasting(step, result, work)
        if refusal is not None:
            raise refusal

    def give_up(self, step: Step, work: Work) -> Result:
        """Lock whoever sleeps in a batch out; return the newest batch in the sink."""
        held = self._fence(step, work)
        if held is None:
            return {GIVEN_UP_AFTER: None, "table": "replaced"}
        if held.answer is SinkAnswer.UNKNOWN:
            message = f"what the sink holds of the backfill is unknown: {held.basis}"
            raise PlanError("HF4603", message, at=work.records.location)
        return {GIVEN_UP_AFTER: held.value}

    def _fence(self, step: Step, work: Work) -> LastCommitted | None:
        """Let no older driver bring a batch; return what is there, None in a replaced table.

        The sink refuses a batch for a table that is not there any more.
        """
        from holdfast.spark.sinks.sink import Fences

        name = _name_of(next(one for one in work.plan.steps if one.act == PREPARE), work)
        try:
            with work.open_sink(step.arguments) as sink:
                work.confirm()
                if isinstance(sink, Fences):
                    sink.fence(name, generation=work.generation)
                reach("plan.backfill-fenced")
                return sink.last_committed(name)
        except PlanError as error:
            if error.code.number != _REPLACED:
                raise
            return None


_REPLACED = "HF4648"
_WHY = (
    "the stream writes to the same table, so that no older version of it can be restored. Finish "
    "the plan, or compute the range again with the code of before"
)
_FINISH = "holdfast apply --finish TARGET"
_DECLARED = "declare them as they were in the plan, then holdfast apply --finish TARGET"


def _refuse_other_sink(step: Step, sink: ReadySink, at: str) -> None:
    """Raise PlanError (HF4647) where the sink is declared as another one than it was."""
    refuse_other_output(step.arguments, sink, at)
    key, order = json.loads(step.arguments["key"]), step.arguments["order"]
    if sink.mode != "upsert" or list(sink.key) != key or (order and sink.order_by != order):
        ordered = f" with order_by {order}" if order else ""
        message = (
            f"the plan upserts by {', '.join(key)}{ordered}; the job declares mode {sink.mode}, "
            f"key {', '.join(sink.key) or 'none'}, order_by {sink.order_by or 'none'}"
        )
        raise PlanError("HF4647", message, at=at)


def _refuse_other_table(step: Step, sight: SinkState, at: str) -> None:
    """Raise PlanError (HF4647, HF4648) where another table is there, or none any more."""
    seen = table_seen(sight)
    refuse_other_table(step.arguments, seen, at)
    if TABLE_ID in step.arguments and TABLE_ID not in seen:
        message = f"the plan is about the table {step.arguments[TABLE_ID]}, which was removed"
        raise PlanError("HF4648", message, at=at, next_steps=(GIVE_UP,))


def _refuse_other_rows(step: Step, job: Job, at: str) -> None:
    """Raise PlanError (HF4605) where a batch would compute other rows than the plan says."""
    if _READS in step.arguments and reads_digest(job) != step.arguments[_READS]:
        message = "source or transform of the job are declared otherwise than when it was made"
        why = "some batches would be computed by one declaration, and the others by another"
        raise PlanError("HF4605", message, at=at, why=why, next_steps=(_DECLARED, GIVE_UP))


def _files_of(prepared: Step, batch: int) -> list[str]:
    """Return the paths of the files that a batch reads; none of a source that is no files."""
    logs = json.loads(prepared.arguments["logs"])
    content = logs.get(log_name(batch, DEFAULT_INTERVAL))
    lines = () if content is None else content.splitlines()[1:]
    entries = [json.loads(line) for line in lines]
    return [str(one["path"]) for one in entries if one["batchId"] == batch]


def _name_of(prepared: Step, work: Work) -> str:
    return backfill_name(prepared.arguments["query_id"], work.plan.id)


def _offsets(prepared: Step, batch: int, moment_ms: int) -> bytes:
    """Return the offsets entry of a batch: the same bytes however often it is asked for."""
    metadata = {
        "batchWatermarkMs": 0,
        "batchTimestampMs": moment_ms,
        "conf": json.loads(prepared.arguments["settings"]),
    }
    end = json.loads(prepared.arguments["ends"])[batch]
    return f"v1\n{json.dumps(metadata, separators=(',', ':'))}\n{end}".encode()


def _offered(prepared: Step, noted: Mapping[str, Any], records: Records, batch: int) -> bytes:
    """Write the offsets of a batch, leave none after it, and return them."""
    writer: Writer = records.writer()
    for name in records.checkpoint.names("offsets"):
        is_later = name.lstrip(".").removesuffix(".crc").isdecimal() and (
            int(name.lstrip(".").removesuffix(".crc")) >= batch
        )
        if is_later:
            writer.remove(f"offsets/{name}")
    entry = _offsets(prepared, batch, int(noted["moment_ms"]))
    writer.replace(f"offsets/{batch}", (entry,))
    writer.settle()
    return entry


def _committed(records: Records, batch: int) -> bool:
    return str(batch) in records.checkpoint.names("commits")
