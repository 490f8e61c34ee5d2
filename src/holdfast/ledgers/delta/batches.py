"""Reads what a version of a Delta table says of the batch that it committed, without a JVM.

The batch is told by the `txn` action of the version: a name of the query and the batch id. The
commit's own `userMetadata` holds what Holdfast adds, as JSON; Spark's native sink writes none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from holdfast.errors import DecodeError
from holdfast.format.strictjson import decode_object
from holdfast.ledgers.delta.identity import Application, decode_identifier
from holdfast.ledgers.delta.log import Commit, Transaction
from holdfast.ledgers.identity import BatchIdentity

FORMAT = 1
"""The version of what stands in `userMetadata`."""

_ROW_COUNTS = (("numOutputRows",), ("numTargetRowsInserted", "numTargetRowsUpdated"))


@dataclass(frozen=True)
class DeltaBatch:
    """One batch as a version of the table holds it; or the end or the opening of a name."""

    table_version: int
    batch_id: int
    """`CLOSED` where the version closed the name; its first batch where it opened it."""
    offsets_digest: str | None = None
    """None where Holdfast did not write it."""
    generation: int | None = None
    rows: int | None = None
    """How many rows it wrote, where the writer noted it."""
    number: int = 0
    """The number of the query's name that it was written under."""
    opens: bool = False
    """No batch: the version opened the name."""
    act: str | None = None
    """What Holdfast did, where it took batches back."""


def user_metadata(identity: BatchIdentity) -> str:
    """Give the text that is committed together with a batch."""
    told = asdict(identity)
    # Of the two digests a version stores the one that covers more.
    del told["entry_digest"]
    return json.dumps({"holdfast": FORMAT, **told})


def batch_of(table_version: int, commit: Commit, query_id: str) -> DeltaBatch | None:
    """Return the batch of this query that a version committed; None where it has none.

    Raises DecodeError.
    """
    found: tuple[Application, bool, int] | None = None
    for transaction in commit.transactions:
        found = _of_query(transaction, query_id) or found
    if found is None:
        return None
    application, opens, batch_id = found
    note = note_of(commit.information)
    act = note.get("act")
    digest, generation = _noted(note, query_id, batch_id)
    return DeltaBatch(
        table_version,
        batch_id,
        digest,
        generation,
        _rows(commit.information),
        application.number,
        opens,
        act if isinstance(act, str) else None,
    )


def note_of(information: Mapping[str, object]) -> Mapping[str, object]:
    """Give Holdfast's note in a `commitInfo`; empty where there is none."""
    text = information.get("userMetadata")
    if not isinstance(text, str):
        return {}
    try:
        note = decode_object(text, what="the user metadata of a Delta commit")
    except DecodeError:
        # A note of anybody else says nothing.
        return {}
    return note if "holdfast" in note else {}


def _of_query(transaction: Transaction, query_id: str) -> tuple[Application, bool, int] | None:
    identifier = decode_identifier(transaction.app_id)
    if identifier.application.query_id != query_id or identifier.fences:
        return None
    return identifier.application, identifier.opens, transaction.version


def _noted(
    note: Mapping[str, object], query_id: str, batch_id: int
) -> tuple[str | None, int | None]:
    """Take digest and generation from the note of this batch."""
    if (note.get("query_id"), note.get("batch_id")) != (query_id, batch_id):
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
