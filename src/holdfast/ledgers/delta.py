"""Reads the transaction identifiers in a Delta table's own log, without a JVM.

Every version is a JSON file of actions; a `txn` action says that an application, which for Spark's
own sink is the query id, has written this version, which is the batch id. Beside it lies a summary
(`<version>.crc`) that newer writers fill with every identifier that still counts. Versions that
were cleaned away stand in a checkpoint of the log, mostly Parquet; without pyarrow it is not read,
and said to be unread.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from holdfast.errors import DecodeError, NotFoundError, StorageError
from holdfast.format.strictjson import decode_object
from holdfast.ledgers.deltacheckpoint import (
    LogCheckpoint,
    can_read_parquet,
    find_checkpoints,
    parquet_actions,
)
from holdfast.ledgers.deltaidentity import CLOSED, batches_by_query, current_application
from holdfast.ledgers.lastcommitted import LastCommitted
from holdfast.storage.reading import Kind, Listed, Reader

LOG_FOLDER = "_delta_log"
READ_VERSIONS = 1000
"""How many of the newest versions are read where no summary tells."""

_VERSION = re.compile(r"([0-9]{20})\.(json|crc)")
_RETENTION = "delta.setTransactionRetentionDuration"


@dataclass(frozen=True)
class DeltaLedger:
    """The identifiers of one table, as far as they were read."""

    location: str
    newest_version: int
    identifiers: Mapping[str, int]
    """Application id to the newest version that it wrote, as they stand in the log."""
    complete: bool
    """Every identifier of the table was seen."""
    retention: str | None = None
    """How long the table keeps identifiers; None for ever."""
    table_id: str | None = None
    unread: tuple[str, ...] = ()
    """Files of the log that could not be read."""
    needs_pyarrow: bool = False
    """A checkpoint of the log would tell more, and pyarrow, which reads it, is not installed."""
    table_schema: str | None = None
    """The table's columns as Spark's JSON of a schema; None where the log does not tell."""
    partition_columns: tuple[str, ...] | None = None
    truncated: bool = False
    """Versions are gone, and no checkpoint of the log stands for them: Delta refuses the table."""

    @cached_property
    def transactions(self) -> Mapping[str, int]:
        """The newest batch of each query or other application, `CLOSED` where it is closed."""
        return batches_by_query(self.identifiers)

    def last_committed(self, query_id: str | None) -> LastCommitted:
        """Give the newest batch that the table holds of this query."""
        version = self.transactions.get(query_id or "")
        if version == CLOSED:
            basis = "the Delta log is closed for this query: its batches are or were taken back"
            return LastCommitted(None, basis, closed=True)
        if version is not None:
            return LastCommitted(version, "read from the txn actions of the Delta log")
        if current_application(self.identifiers, query_id or "").number:
            return LastCommitted(None, "the Delta log says that every batch was taken back")
        if self.complete:
            return LastCommitted(None, "the Delta log holds no txn action of this query id")
        if self.needs_pyarrow:
            basis = "older txn actions stand in Parquet, and pyarrow is not installed"
            return LastCommitted(None, basis)
        return LastCommitted(None, "a part of the Delta log is gone or could not be read")


@dataclass
class _Taking:
    """Collects while files of the log are read, the newest first."""

    identifiers: dict[str, int] = field(default_factory=dict)
    retention: str | None = None
    table_id: str | None = None
    table_schema: str | None = None
    partition_columns: tuple[str, ...] | None = None
    metadata_seen: bool = False
    unread: list[str] = field(default_factory=list)
    needs_pyarrow: bool = False

    def transaction(self, action: Mapping[str, object]) -> None:
        """Keep an identifier unless a newer action named it already."""
        app_id, version = action.get("appId"), action.get("version")
        if isinstance(app_id, str) and isinstance(version, int):
            self.identifiers.setdefault(app_id, version)

    def metadata(self, action: Mapping[str, object]) -> None:
        """Keep the newest description of the table."""
        if self.metadata_seen:
            return
        self.metadata_seen = True
        table_id, configuration = action.get("id"), action.get("configuration")
        self.table_id = table_id if isinstance(table_id, str) else None
        schema, columns = action.get("schemaString"), action.get("partitionColumns")
        self.table_schema = schema if isinstance(schema, str) else None
        self.partition_columns = tuple(map(str, columns)) if isinstance(columns, list) else None
        if isinstance(configuration, dict):
            retention = configuration.get(_RETENTION)
            self.retention = retention if isinstance(retention, str) else None


def read_delta_ledger(reader: Reader) -> DeltaLedger | None:
    """Read the log that a reader of its folder sees; None where there is none.

    Raises StorageError.
    """
    listed = _listed(reader)
    versions, summaries = _versions(listed)
    checkpoints = find_checkpoints(listed)
    if not versions and not checkpoints:
        return None
    newest = max([*versions, *(one.version for one in checkpoints)])
    taking = _Taking()
    summary = summaries.get(newest)
    complete = summary is not None and _take_summary(reader, summary, taking)
    for checkpoint in checkpoints:
        complete = complete or _take_since(reader, checkpoint, versions, newest, taking)
    if not complete:
        complete = _take_versions(reader, versions, newest, taking)
    return DeltaLedger(
        reader.location,
        newest,
        taking.identifiers,
        complete,
        taking.retention,
        taking.table_id,
        tuple(dict.fromkeys(taking.unread)),
        taking.needs_pyarrow and not complete,
        taking.table_schema,
        taking.partition_columns,
        not checkpoints and len(versions) != newest + 1,
    )


def _listed(reader: Reader) -> tuple[Listed, ...]:
    try:
        return reader.list().items
    except NotFoundError:
        return ()


def _versions(listed: Iterable[Listed]) -> tuple[dict[int, str], dict[int, str]]:
    found: dict[str, dict[int, str]] = {"json": {}, "crc": {}}
    for item in listed:
        match = _VERSION.fullmatch(item.path)
        if match is not None and item.kind is Kind.FILE:
            found[match[2]][int(match[1])] = item.path
    return found["json"], found["crc"]


def _take_summary(reader: Reader, path: str, taking: _Taking) -> bool:
    """Take every identifier from a summary; False where it has none or can't be read."""
    try:
        summary = decode_object(
            reader.read(path).decode("utf-8", "replace"), what="a Delta summary"
        )
    except (StorageError, DecodeError):
        # The versions themselves tell the same, at a higher price.
        return False
    listed, metadata = summary.get("setTransactions"), summary.get("metadata")
    if not isinstance(listed, list):
        return False
    for action in listed:
        if isinstance(action, dict):
            taking.transaction(action)
    if isinstance(metadata, dict):
        taking.metadata(metadata)
    return True


def _take_since(
    reader: Reader,
    checkpoint: LogCheckpoint,
    versions: Mapping[int, str],
    newest: int,
    taking: _Taking,
) -> bool:
    """Take a checkpoint of the log and every version after it; False where that can't be done."""
    after = range(checkpoint.version + 1, newest + 1)
    if len(after) > READ_VERSIONS or any(one not in versions for one in after):
        return False
    if not can_read_parquet() and any(part.path.endswith("parquet") for part in checkpoint.parts):
        taking.needs_pyarrow = True
        return False
    complete = _take_newest_first(reader, versions, after, taking)
    return complete and all(_take_part(reader, part, taking) for part in checkpoint.parts)


def _take_part(reader: Reader, part: Listed, taking: _Taking) -> bool:
    try:
        if part.path.endswith(".json"):
            _take_actions(_actions(reader.read(part.path)), taking)
        else:
            _take_actions(parquet_actions(reader, part), taking)
    except (StorageError, DecodeError):
        taking.unread.append(part.path)
        return False
    return True


def _take_versions(
    reader: Reader, versions: Mapping[int, str], newest: int, taking: _Taking
) -> bool:
    """Take the actions of the newest versions; True where these are all there ever were."""
    wanted = [one for one in versions if one > newest - READ_VERSIONS]
    whole = _take_newest_first(reader, versions, wanted, taking)
    return whole and len(wanted) == newest + 1


def _take_newest_first(
    reader: Reader, versions: Mapping[int, str], wanted: Iterable[int], taking: _Taking
) -> bool:
    """Take the actions of these versions; False where one could not be read."""
    paths = [versions[one] for one in sorted(wanted, reverse=True)]
    read = reader.read_many(paths)
    unread = len(taking.unread)
    for path in paths:
        data = read[path]
        try:
            if isinstance(data, StorageError):
                raise data
            _take_actions(_actions(data), taking)
        except (StorageError, DecodeError):
            taking.unread.append(path)
    return len(taking.unread) == unread


def _take_actions(actions: Iterable[Mapping[str, object]], taking: _Taking) -> None:
    for action in actions:
        if isinstance(transaction := action.get("txn"), dict):
            taking.transaction(transaction)
        if isinstance(metadata := action.get("metaData"), dict):
            taking.metadata(metadata)


def _actions(data: bytes) -> Iterable[Mapping[str, object]]:
    """Decode only the short lines that can matter: those of data files are many and long."""
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.startswith((b'{"txn"', b'{"metaData"')):
            text = line.decode("utf-8", "replace")
            yield decode_object(text, what="an action of a Delta log")
        elif line.strip() and not (line.startswith(b"{") and line.rstrip().endswith(b"}")):
            raise DecodeError("HF2416", "a line of the Delta log is cut", line=number)
