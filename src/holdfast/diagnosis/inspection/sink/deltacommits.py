"""What writers note in a Delta log beside the data: modes, releases, amounts, times."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from holdfast.checkpoint.picture import Picture
from holdfast.errors import DecodeError, StorageError
from holdfast.ledgers.delta.batches import CLOSED, decode_identifier, note_of
from holdfast.ledgers.delta.log import Commit, list_log
from holdfast.ledgers.delta.transactions import LOG_FOLDER, READ_VERSIONS
from holdfast.ledgers.reading import SinkMemory, SinkPlace
from holdfast.storage.reading import Reader

RECENT_VERSIONS = 50
"""How many are read of a table that one query alone writes to."""

LOOKED_AT = 20
"""How many of the newest versions are looked at: other writers may have come after the query."""

_ENGINE = re.compile(r"Apache-Spark/([0-9]+(?:\.[0-9]+)*)")


@dataclass(frozen=True)
class DeltaCommit:
    """The newest version of a table that a query's own sink wrote."""

    version: str
    """The file below the log's folder."""
    output_mode: str | None
    spark: str | None
    """The full version of the Spark that wrote it."""


def newest_commit_of(reader: Reader, query_id: str) -> DeltaCommit | None:
    """Find the newest version that this query wrote; None where none of the newest is its own."""
    versions = list_log(reader).versions
    newest = [versions[number] for number in sorted(versions)[-LOOKED_AT:]]
    read = reader.read_many(newest)
    for name in reversed(newest):
        data = read[name]
        found = None if isinstance(data, StorageError) else _commit(name, data, query_id)
        if found is not None:
            return found
    return None


def _commit(name: str, data: bytes, query_id: str) -> DeltaCommit | None:
    try:
        return _noted(name, Commit(data).information, query_id)
    except DecodeError:
        # The ledger tells of a log that can't be read; here one note less is known.
        return None


def _noted(name: str, info: Mapping[str, object], query_id: str) -> DeltaCommit | None:
    parameters = info.get("operationParameters")
    if not isinstance(parameters, dict) or parameters.get("queryId") != query_id:
        return None
    engine = _ENGINE.match(str(info.get("engineInfo", "")))
    mode = parameters.get("outputMode")
    spark = engine[1] if engine else None
    return DeltaCommit(name, mode.lower() if isinstance(mode, str) else None, spark)


@dataclass(frozen=True)
class WrittenBatch:
    """A batch as one version of a table holds it."""

    table_version: int
    query_id: str
    """The query, or the application id of people's own making."""
    batch_id: int
    written_ms: int | None
    """By the writer's clock."""
    appends: bool
    """Its rows were added to what was there; a merge and a replacement double nothing."""
    amount: tuple[str, str] | None
    """Rows and bytes that it wrote, as noted; None where they were not."""
    offsets_digest: str | None = None
    """What it was read from, where Holdfast wrote it."""


@dataclass(frozen=True)
class TableHistory:
    """What the versions of a table that are still there say of batches."""

    batches: tuple[WrittenBatch, ...] = ()
    """Oldest first."""
    emptied_at: int = -1
    """The newest version that left no row of any before it; -1 where none did."""

    def of(self, query_id: str) -> dict[int, WrittenBatch]:
        """Return the newest commit of each batch of a query."""
        return {one.batch_id: one for one in self.batches if one.query_id == query_id}


NO_HISTORY = TableHistory()


def read_history(reader: Reader, most: int = READ_VERSIONS) -> TableHistory:
    """Read the newest versions of a log; what can't be read is left out. Raises StorageError."""
    versions = list_log(reader).versions
    newest = {number: versions[number] for number in sorted(versions)[-most:]}
    read = reader.read_many(list(newest.values()))
    found: list[WrittenBatch] = []
    emptied_at = -1
    for number, name in newest.items():
        data = read[name]
        if isinstance(data, StorageError):
            continue
        try:
            commit = Commit(data)
            found += _written(number, commit)
            emptied_at = number if _empties(commit.information) else emptied_at
        except DecodeError:
            # The ledger tells of a log that can't be read.
            continue
    return TableHistory(tuple(found), emptied_at)


def _written(number: int, commit: Commit) -> list[WrittenBatch]:
    found: list[WrittenBatch] = []
    for transaction in commit.transactions:
        identifier = decode_identifier(transaction.app_id)
        if identifier.opens or identifier.fences or transaction.version == CLOSED:
            continue
        information = commit.information
        moment = transaction.last_updated_ms
        if moment is None and isinstance(noted := information.get("timestamp"), int):
            moment = noted
        digest = note_of(information).get("offsets_digest")
        found.append(
            WrittenBatch(
                table_version=number,
                query_id=identifier.application.query_id,
                batch_id=transaction.version,
                written_ms=moment,
                appends=_appends(information),
                amount=_amount(information),
                offsets_digest=digest if isinstance(digest, str) else None,
            )
        )
    return found


def _parameters(information: Mapping[str, object]) -> Mapping[str, object]:
    found = information.get("operationParameters")
    return found if isinstance(found, dict) else {}


def _appends(information: Mapping[str, object]) -> bool:
    parameters = _parameters(information)
    mode = parameters.get("outputMode", parameters.get("mode"))
    return information.get("operation") != "MERGE" and str(mode).lower() == "append"


def _empties(information: Mapping[str, object]) -> bool:
    """Return whether nothing of before is left: overwritten, replaced, or deleted as a whole."""
    operation, parameters = str(information.get("operation")), _parameters(information)
    predicate = parameters.get("predicate")
    if operation in ("WRITE", "STREAMING UPDATE"):
        mode = str(parameters.get("outputMode", parameters.get("mode"))).lower()
        return mode in ("overwrite", "complete") and predicate is None
    if operation == "DELETE":
        return predicate in (None, "", "[]", '["true"]') or (
            note_of(information).get("act") == "taken-back"
        )
    replaces = ("CREATE OR REPLACE TABLE", "REPLACE TABLE", "TRUNCATE", "RESTORE")
    return operation.startswith(replaces)


def _amount(information: Mapping[str, object]) -> tuple[str, str] | None:
    metrics = information.get("operationMetrics")
    if not isinstance(metrics, dict):
        return None
    rows, size = metrics.get("numOutputRows"), metrics.get("numOutputBytes")
    return (rows, size) if isinstance(rows, str) and isinstance(size, str) else None


def look_at_history(
    place: SinkPlace | None, memory: SinkMemory | None, picture: Picture, *, verified: bool
) -> TableHistory:
    """Return what the versions of the table say of batches; empty where it does not matter."""
    ledger = memory.delta if memory is not None else None
    if ledger is None or place is None or place.open_below is None:
        return NO_HISTORY
    if picture.newest_commit_id is None or not ledger.transactions:
        return NO_HISTORY
    alone = len(ledger.transactions) == 1
    most = RECENT_VERSIONS if alone and not verified else READ_VERSIONS
    try:
        return read_history(place.open_below(LOG_FOLDER), most)
    except StorageError:
        # The ledger was read a moment ago; without the history the past is not judged.
        return NO_HISTORY
