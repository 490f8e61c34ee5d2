"""Refuses a start on offsets that are not those kept before a delivery, or those of the sink."""

from __future__ import annotations

import hashlib
from functools import partial

from holdfast.diagnosis.inspection.keptoffsets import advice, judge_copies, read_entries
from holdfast.diagnosis.inspection.otheroffsets import other_offsets
from holdfast.diagnosis.inspection.result import Inspection
from holdfast.errors import CheckpointError, RefusedError
from holdfast.ledgers.lastcommitted import LastCommitted
from holdfast.records.folder import RecordsFolder
from holdfast.records.offsetcopies import OffsetCopies, copy_path
from holdfast.spark.sinks.sink import Sink, offsets_told_by
from holdfast.storage.reading import Reader

_KEEP = "holdfast backup TARGET keeps what is there now"


def refuse_changed_offsets(
    inspection: Inspection, checkpoint: Reader, records: RecordsFolder, sink: Sink
) -> None:
    """Raise HF2604 where one of the two newest entries differs from its kept copy.

    The next batch, new or run again, begins where one of these ends. Digests are compared by the
    names of the copies; only a difference has the copies read and the sink asked.
    """
    newest, query_id = inspection.batches.last_planned, inspection.query_id
    if newest is None or query_id is None:
        return
    copies = OffsetCopies(records)
    kept = copies.digests(query_id)
    present = read_entries(checkpoint, [one for one in (newest - 1, newest) if one in kept])
    changed = {one: data for one, data in present.items() if kept[one] != {_digest(data)}}
    if changed:
        raise _refusal(changed, copies, query_id, checkpoint, sink)


def refuse_other_offsets(
    inspection: Inspection, checkpoint: Reader, sink: Sink, held: LastCommitted
) -> None:
    """Raise HF3027 where the sink holds its newest batch with other offsets than the checkpoint."""
    found = other_offsets(
        checkpoint, inspection.query_id, held.value, partial(offsets_told_by, sink)
    )
    if found is not None:
        at = found.place.within(checkpoint.location)
        raise RefusedError(found.code, found.message, at=at)


def _refusal(
    changed: dict[int, bytes],
    copies: OffsetCopies,
    query_id: str,
    checkpoint: Reader,
    sink: Sink,
) -> RefusedError:
    at = f"{checkpoint.location}/offsets/{max(changed)}"
    told = " and ".join(f"offsets/{one}" for one in changed)
    told += f" {'is' if len(changed) == 1 else 'are'} not what a run kept before it delivered"
    try:
        found = {one: copies.copy_of(query_id, one) for one in changed}
    except CheckpointError as error:
        return RefusedError("HF2604", f"{told}; {error.message} ({error.at})", at=at)
    contents = {one: copy for one, copy in found.items() if copy is not None}
    paths = {
        one: f"{copies.location}/{copy_path(query_id, one, _digest(copy))}"
        for one, copy in contents.items()
    }
    if len(contents) < len(changed):
        return RefusedError("HF2604", f"{told}; a kept copy is gone", at=at)
    held = partial(offsets_told_by, sink, query_id)
    verdicts = judge_copies(checkpoint, changed, contents, held)
    steps = (*advice(verdicts[max(verdicts)], paths), _KEEP)
    return RefusedError(
        "HF2604", f"{told}: {' and '.join(paths.values())}", at=at, next_steps=steps
    )


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
