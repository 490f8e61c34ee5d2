"""Steps of a backfill: a checkpoint of its own is prepared, and Spark runs its batches.

Every batch lies in `offsets/` before Spark starts, without a commit: Spark runs it again, with
these offsets, and plans none. The live checkpoint and its lease are not touched.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from holdfast.backup.access import Records
from holdfast.crashpoints import reach
from holdfast.errors import NotFoundError, PlanError
from holdfast.format.logs.offsets import OffsetsEntry
from holdfast.jobs.ready import ReadySink
from holdfast.ledgers.identity import backfill_name
from holdfast.ledgers.sinkstate import SinkAnswer
from holdfast.remedy.outputs import refuse_other_output, refuse_other_table, table_seen
from holdfast.remedy.plan import Step
from holdfast.remedy.steps.work import Result, Work
from holdfast.running.bounded import BoundedBatches
from holdfast.storage.reading import FileKind
from holdfast.storage.writing import Writer

PREPARE, RUN = "prepare-backfill", "run-backfill"
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


def run_arguments(key: Sequence[str], order_by: str | None) -> dict[str, str]:
    """Return how the rows get into the sink, whatever is declared when the plan is finished."""
    return {"key": json.dumps(list(key)), "order": order_by or ""}


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
        last = len(json.loads(prepared.arguments["ends"])) - 1
        batches = BoundedBatches(
            name=_name_of(prepared, work),
            last=last,
            generation=work.generation,
            confirm=work.confirm,
            keeps_newer=bool(step.arguments["order"]),
            fits=lambda sink: _refuse_other_sink(step, sink, work.records.location),
            fits_table=lambda sight: refuse_other_table(
                step.arguments, table_seen(sight), work.records.location
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
        return PlanError("HF4609", message, at=work.records.location, why=_WHY)

    def undo(self, step: Step, result: Result | None, work: Work) -> None:
        """Do nothing where no row reached the sink; raise PlanError where one did."""
        refusal = self.lasting(step, result, work)
        if refusal is not None:
            raise refusal


_WHY = (
    "the stream writes to the same table, so that no older version of it can be restored. Finish "
    "the plan, or compute the range again with the code of before"
)


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
