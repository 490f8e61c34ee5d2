"""Versions of a Delta log as Holdfast and others write them, for tests without Spark."""

from __future__ import annotations

import json
from collections.abc import Mapping

from holdfast.ledgers.delta.batches import CLOSED, FORMAT, Application, user_metadata
from holdfast.ledgers.identity import BatchIdentity

QUERY = "c1a5e0f6-4a52-4f0b-9d0e-0c3b1f7f4d11"
ACT = "act"


def version(
    *,
    txn: tuple[str, int] | None = None,
    note: str | None = None,
    rows: bool | None = None,
    operation: str = "WRITE",
    mode: str = "Append",
    table: bool = False,
) -> bytes:
    """Give the bytes of a version; `rows` is what its file says of a change of data."""
    parameters = {"mode": mode}
    info: dict[str, object] = {"operation": operation, "operationParameters": parameters}
    if note is not None:
        info["userMetadata"] = note
    actions: list[dict[str, object]] = [{"commitInfo": info}]
    if txn is not None:
        actions.append({"txn": {"appId": txn[0], "version": txn[1]}})
    if table:
        actions.append({"metaData": {"id": "x", "schemaString": '{"type":"struct","fields":[]}'}})
    if rows is not None:
        actions.append({"add": {"path": "part-0", "dataChange": rows}})
    return "\n".join(json.dumps(one, separators=(",", ":")) for one in actions).encode()


def batch(batch_id: int, number: int = 0, *, query_id: str = QUERY, mode: str = "Append") -> bytes:
    """Give a version that committed a batch with rows."""
    note = user_metadata(BatchIdentity(query_id, batch_id, 1, f"d{number}-{batch_id}"))
    name = Application(query_id, number).id
    return version(txn=(name, batch_id), note=note, rows=True, mode=mode)


def closing(number: int, batch_id: int, last_batch: int, newest_version: int) -> bytes:
    """Give the first step of a taking back."""
    note = {
        "act": "closed", "act_id": ACT, "query_id": QUERY, "batch_id": batch_id,
        "last_batch": last_batch, "newest_version": newest_version,
    }  # fmt: skip
    return version(txn=(Application(QUERY, number).id, CLOSED), note=_text(note))


def taken_back(
    batch_id: int, act: str = "taken-back", operation: str = "RESTORE", **told: int
) -> bytes:
    """Give the second step, or the one that undoes it."""
    note = {"act": act, "act_id": ACT, "batches": {QUERY: batch_id}, **told}
    return version(note=_text(note), rows=True, operation=operation, table=operation == "RESTORE")


def opening(number: int, batch_id: int) -> bytes:
    """Give the third step: the query goes on after this batch."""
    note = {"act": "opened", "act_id": ACT, "query_id": QUERY, "batch_id": batch_id}
    return version(txn=(Application(QUERY, number).opening_id, batch_id + 1), note=_text(note))


def fencing(number: int, generation: int) -> bytes:
    """Give the commit that says which generation ended a name."""
    note = {"act": "fenced", "act_id": ACT, "generation": generation, "query_id": QUERY}
    return version(txn=(Application(QUERY, number).fencing_id, generation), note=_text(note))


def files(*versions: bytes) -> dict[str, bytes]:
    """Give the files of a log with these versions."""
    return {f"{number:020}.json": data for number, data in enumerate(versions)}


def _text(note: Mapping[str, object]) -> str:
    return json.dumps({"holdfast": FORMAT, **note})
