"""Reads what a version of a Delta table says of the batch that it committed, without a JVM.

The batch is told by the `txn` action of the version: a name of the query and the batch id. The
commit's own `userMetadata` holds what Holdfast adds, as JSON; Spark's native sink writes none.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from holdfast.errors import DecodeError
from holdfast.format.strictjson import decode_object
from holdfast.ledgers.deltaidentity import Application, decode_identifier
from holdfast.ledgers.identity import BatchIdentity

FORMAT = 1
"""The version of what stands in `userMetadata`."""

_LINES = ('{"txn"', '{"commitInfo"')
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
    return json.dumps({"holdfast": FORMAT, **asdict(identity)})


def decode_batch(table_version: int, data: bytes, query_id: str) -> DeltaBatch | None:
    """Give the batch of this query in the bytes of one version; None where it has none.

    Raises DecodeError.
    """
    found: tuple[Application, bool, int] | None = None
    information: Mapping[str, object] = {}
    for action in _actions(data.decode("utf-8", "replace").split("\n")):
        transaction, told = action.get("txn"), action.get("commitInfo")
        if isinstance(transaction, dict):
            found = _of_query(transaction, query_id) or found
        if isinstance(told, dict):
            information = told
    if found is None:
        return None
    application, opens, batch_id = found
    note = note_of(information)
    act = note.get("act")
    digest, generation = _noted(note, query_id, batch_id)
    return DeltaBatch(
        table_version,
        batch_id,
        digest,
        generation,
        _rows(information),
        application.number,
        opens,
        act if isinstance(act, str) else None,
    )


def decode_table_schema(data: bytes) -> str | None:
    """Give the columns that one version gave the table, as JSON; None where it left them alone.

    Raises DecodeError.
    """
    if b'{"metaData"' not in data:
        return None
    schema: str | None = None
    for line in data.decode("utf-8", "replace").split("\n"):
        if line.startswith('{"metaData"'):
            told = decode_object(line, what="an action of a Delta log").get("metaData")
            text = told.get("schemaString") if isinstance(told, dict) else None
            schema = text if isinstance(text, str) else schema
    return schema


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


def _of_query(
    transaction: Mapping[str, object], query_id: str
) -> tuple[Application, bool, int] | None:
    app_id, version = transaction.get("appId"), transaction.get("version")
    if not isinstance(app_id, str) or not isinstance(version, int):
        return None
    identifier = decode_identifier(app_id)
    if identifier.application.query_id != query_id:
        return None
    return identifier.application, identifier.opens, version


def _actions(lines: Iterable[str]) -> Iterable[Mapping[str, object]]:
    for line in lines:
        if line.startswith(_LINES):
            yield decode_object(line, what="an action of a Delta log")


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
