"""Reads the transaction identifiers in a Delta table's own log, without a JVM and without Parquet.

Every version is a JSON file of actions; a `txn` action says that an application, which for Spark's
own sink is the query id, has written this version, which is the batch id. Beside it lies a summary
(`<version>.crc`) that newer writers fill with every identifier that still counts. What only stands
in a Parquet checkpoint of the log is not read, and said to be unread.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from holdfast.errors import DecodeError, NotFoundError, StorageError
from holdfast.format.strictjson import decode_object
from holdfast.ledgers.lastcommitted import LastCommitted
from holdfast.storage.reading import Kind, Reader

LOG_FOLDER = "_delta_log"
CLOSED = 2**63 - 1
"""The version of an identifier that is closed for ever: whatever is written under it is skipped."""
READ_VERSIONS = 1000
"""How many of the newest versions are read where no summary tells."""

_VERSION = re.compile(r"([0-9]{20})\.(json|crc)")
_RETENTION = "delta.setTransactionRetentionDuration"


@dataclass(frozen=True)
class DeltaLedger:
    """The identifiers of one table, as far as they were read."""

    location: str
    newest_version: int
    transactions: Mapping[str, int]
    """Application id to the newest version that it wrote."""
    complete: bool
    """Every identifier of the table was seen."""
    retention: str | None = None
    """How long the table keeps identifiers; None for ever."""
    table_id: str | None = None
    unread: tuple[str, ...] = ()
    """Files of the log that could not be read."""

    def last_committed(self, query_id: str | None) -> LastCommitted:
        """Give the newest batch that the table holds under this query id."""
        version = self.transactions.get(query_id or "")
        if version is not None:
            return LastCommitted(version, "read from the txn actions of the Delta log")
        if self.complete:
            return LastCommitted(None, "the Delta log holds no txn action of this query id")
        return LastCommitted(None, "older txn actions stand in Parquet, which was not read")


@dataclass
class _Taking:
    """Collects while files of the log are read, the newest first."""

    transactions: dict[str, int] = field(default_factory=dict)
    retention: str | None = None
    table_id: str | None = None
    metadata_seen: bool = False
    unread: list[str] = field(default_factory=list)

    def transaction(self, action: Mapping[str, object]) -> None:
        """Keep an identifier unless a newer action named it already."""
        app_id, version = action.get("appId"), action.get("version")
        if isinstance(app_id, str) and isinstance(version, int):
            self.transactions.setdefault(app_id, version)

    def metadata(self, action: Mapping[str, object]) -> None:
        """Keep the newest description of the table."""
        if self.metadata_seen:
            return
        self.metadata_seen = True
        table_id, configuration = action.get("id"), action.get("configuration")
        self.table_id = table_id if isinstance(table_id, str) else None
        if isinstance(configuration, dict):
            retention = configuration.get(_RETENTION)
            self.retention = retention if isinstance(retention, str) else None


def read_delta_ledger(reader: Reader) -> DeltaLedger | None:
    """Read the log that a reader of its folder sees; None where there is none.

    Raises StorageError.
    """
    versions, summaries = _versions(reader)
    if not versions:
        return None
    newest = max(versions)
    taking = _Taking()
    summary = summaries.get(newest)
    complete = summary is not None and _take_summary(reader, summary, taking)
    if not complete:
        complete = _take_versions(reader, versions, taking)
    return DeltaLedger(
        reader.location,
        newest,
        taking.transactions,
        complete,
        taking.retention,
        taking.table_id,
        tuple(taking.unread),
    )


def _versions(reader: Reader) -> tuple[dict[int, str], dict[int, str]]:
    found: dict[str, dict[int, str]] = {"json": {}, "crc": {}}
    try:
        listing = reader.list()
    except NotFoundError:
        return {}, {}
    for item in listing.items:
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


def _take_versions(reader: Reader, versions: Mapping[int, str], taking: _Taking) -> bool:
    """Take the actions of the newest versions; True where these are all there ever were."""
    newest = max(versions)
    wanted = [one for one in sorted(versions, reverse=True) if one > newest - READ_VERSIONS]
    read = reader.read_many([versions[one] for one in wanted])
    for one in wanted:
        path = versions[one]
        data = read[path]
        if isinstance(data, StorageError) or not _take_actions(data, taking):
            taking.unread.append(path)
    return not taking.unread and wanted[-1] == 0 and len(wanted) == newest + 1


def _take_actions(data: bytes, taking: _Taking) -> bool:
    try:
        for action in _actions(data.decode("utf-8", "replace").splitlines()):
            if isinstance(transaction := action.get("txn"), dict):
                taking.transaction(transaction)
            if isinstance(metadata := action.get("metaData"), dict):
                taking.metadata(metadata)
    except DecodeError:
        return False
    return True


def _actions(lines: Iterable[str]) -> Iterable[Mapping[str, object]]:
    """Decode only the short lines that can matter: those of data files are many and long."""
    for line in lines:
        if line.startswith(('{"txn"', '{"metaData"')):
            yield decode_object(line, what="an action of a Delta log")
