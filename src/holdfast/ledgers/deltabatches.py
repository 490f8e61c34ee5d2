"""Reads what a version of a Delta table says of the batch that it committed, without a JVM.

The batch is told by the `txn` action of the version: the query id and the batch id. The commit's
own `userMetadata` holds what Holdfast adds, as JSON; Spark's native sink writes none.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from holdfast.errors import DecodeError
from holdfast.format.strictjson import decode_object
from holdfast.ledgers.identity import BatchIdentity

FORMAT = 1
"""The version of what stands in `userMetadata`."""

_LINES = ('{"txn"', '{"commitInfo"')
_ROW_COUNTS = (("numOutputRows",), ("numTargetRowsInserted", "numTargetRowsUpdated"))


@dataclass(frozen=True)
class DeltaBatch:
    """One batch as a version of the table holds it."""

    table_version: int
    batch_id: int
    offsets_digest: str | None = None
    """None where Holdfast did not write it."""
    generation: int | None = None
    rows: int | None = None
    """How many rows it wrote, where the writer noted it."""


def user_metadata(identity: BatchIdentity) -> str:
    """Give the text that is committed together with a batch."""
    return json.dumps({"holdfast": FORMAT, **asdict(identity)})


def decode_batch(table_version: int, data: bytes, query_id: str) -> DeltaBatch | None:
    """Give the batch of this query in the bytes of one version; None where it has none.

    Raises DecodeError.
    """
    batch_id: int | None = None
    information: Mapping[str, object] = {}
    for action in _actions(data.decode("utf-8", "replace").split("\n")):
        transaction, told = action.get("txn"), action.get("commitInfo")
        if isinstance(transaction, dict) and transaction.get("appId") == query_id:
            version = transaction.get("version")
            batch_id = version if isinstance(version, int) else None
        if isinstance(told, dict):
            information = told
    if batch_id is None:
        return None
    digest, generation = _noted(information, query_id, batch_id)
    return DeltaBatch(table_version, batch_id, digest, generation, _rows(information))


def _actions(lines: Iterable[str]) -> Iterable[Mapping[str, object]]:
    for line in lines:
        if line.startswith(_LINES):
            yield decode_object(line, what="an action of a Delta log")


def _noted(
    information: Mapping[str, object], query_id: str, batch_id: int
) -> tuple[str | None, int | None]:
    """Take digest and generation from Holdfast's note; a note of anybody else says nothing."""
    text = information.get("userMetadata")
    if not isinstance(text, str):
        return None, None
    try:
        note = decode_object(text, what="the user metadata of a Delta commit")
    except DecodeError:
        return None, None
    if "holdfast" not in note or (note.get("query_id"), note.get("batch_id")) != (
        query_id,
        batch_id,
    ):
        return None, None
    digest, generation = note.get("offsets_digest"), note.get("generation")
    return (
        digest if isinstance(digest, str) else None,
        generation if isinstance(generation, int) else None,
    )


def _rows(information: Mapping[str, object]) -> int | None:
    """Count what was written; a merge also copies rows, which are not the batch's."""
    metrics = information.get("operationMetrics")
    if not isinstance(metrics, dict):
        return None
    names = _ROW_COUNTS[information.get("operation") == "MERGE"]
    counts = [metrics.get(name) for name in names]
    texts = [count for count in counts if isinstance(count, str) and count.isdecimal()]
    return sum(map(int, texts)) if len(texts) == len(names) else None
