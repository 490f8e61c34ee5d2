"""Reads a Delta table's log, without a JVM: its transaction identifiers, and which table it is.

Every version is a JSON file of actions; a `txn` action says that an application, which for Spark's
own sink is the query id, has written this version, which is the batch id. Beside it lies a summary
(`<version>.crc`) that newer writers fill with every identifier that still counts. Versions that
were cleaned away stand in a checkpoint of the log, mostly Parquet; without pyarrow it is not read,
and said to be unread.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from holdfast.errors import DecodeError, HoldfastError, NotFoundError, StorageError
from holdfast.ledgers.delta.batches import CLOSED, batches_by_query, current_application
from holdfast.ledgers.delta.log import (
    Actions,
    Commit,
    DeltaLogFiles,
    LogCheckpoint,
    Metadata,
    can_read_parquet,
    list_log,
    read_part,
    read_summary,
)
from holdfast.ledgers.sinkstate import Contents, LastCommitted, SinkState
from holdfast.storage.beside import part_of
from holdfast.storage.location import Location, canonical
from holdfast.storage.opening import open_reader
from holdfast.storage.options import StorageSettings
from holdfast.storage.reading import Listed, Reader

LOG_FOLDER = "_delta_log"
READ_VERSIONS = 1000
"""How many of the newest versions are read where no summary tells."""


_PART = re.compile(r"([0-9]+)\s+(microsecond|millisecond|second|minute|hour|day|week)s?")
_UNIT_MS: Mapping[str, float] = {
    "microsecond": 0.001,
    "millisecond": 1,
    "second": 1_000,
    "minute": 60_000,
    "hour": 3_600_000,
    "day": 86_400_000,
    "week": 604_800_000,
}


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
    updated_ms: Mapping[str, int | None] = field(default_factory=dict)
    """Application id to when its newest identifier was written, where the log says it."""
    read_at_ms: int = field(default=0, compare=False)
    """When the log was read, by this machine's clock."""

    def has_expired(self, query_id: str | None) -> bool:
        """Whether Delta has forgotten what the log still says of this query.

        Delta counts an identifier only while it is younger than the table's retention; one without
        a time is forgotten at once.
        """
        kept_ms = _interval_ms(self.retention)
        identifier = current_application(self.identifiers, query_id or "").id
        if kept_ms is None or identifier not in self.identifiers:
            return False
        written = self.updated_ms.get(identifier)
        return written is None or written <= self.read_at_ms - kept_ms

    @cached_property
    def transactions(self) -> Mapping[str, int]:
        """The newest batch of each query or other application, `CLOSED` where it is closed."""
        return batches_by_query(self.identifiers)

    def last_committed(self, query_id: str | None) -> LastCommitted:
        """Return the newest batch that the table holds of this query."""
        version = self.transactions.get(query_id or "")
        if version == CLOSED:
            basis = "the Delta log is closed for this query: its batches are or were taken back"
            return LastCommitted(None, basis, closed=True)
        if version is not None:
            return LastCommitted.batch(version, "read from the txn actions of the Delta log")
        if current_application(self.identifiers, query_id or "").number:
            return LastCommitted.nothing("the Delta log says that every batch was taken back")
        if self.complete:
            if query_id is None:
                return LastCommitted.unknown("without a query id, the Delta log cannot be searched")
            return LastCommitted.nothing("the Delta log holds no txn action of this query id")
        if self.needs_pyarrow:
            basis = "older txn actions stand in Parquet, and pyarrow is not installed"
            return LastCommitted.unknown(basis)
        return LastCommitted.unknown("a part of the Delta log is gone or could not be read")


@dataclass
class _Taking:
    """Collects while files of the log are read, the newest first."""

    identifiers: dict[str, int] = field(default_factory=dict)
    updated_ms: dict[str, int | None] = field(default_factory=dict)
    metadata: Metadata | None = None
    unread: list[str] = field(default_factory=list)
    needs_pyarrow: bool = False

    def take(self, actions: Actions | Commit) -> None:
        """Keep what no newer action said already."""
        for transaction in actions.transactions:
            self.identifiers.setdefault(transaction.app_id, transaction.version)
            self.updated_ms.setdefault(transaction.app_id, transaction.last_updated_ms)
        self.metadata = self.metadata or actions.metadata


def read_delta_ledger(reader: Reader) -> DeltaLedger | None:
    """Read the log that a reader of its folder sees; None where there is none.

    Raises StorageError.
    """
    log = list_log(reader)
    if (newest := log.newest) is None:
        return None
    taking = _Taking()
    summary = log.summaries.get(newest)
    complete = summary is not None and _take_summary(reader, summary, taking)
    for checkpoint in log.checkpoints:
        complete = complete or _take_since(reader, checkpoint, log.versions, newest, taking)
    if not complete:
        complete = _take_versions(reader, log.versions, newest, taking)
    table = taking.metadata or Metadata(None, None, None, None)
    return DeltaLedger(
        location=reader.location,
        newest_version=newest,
        identifiers=taking.identifiers,
        complete=complete,
        retention=table.retention,
        table_id=table.table_id,
        unread=tuple(dict.fromkeys(taking.unread)),
        needs_pyarrow=taking.needs_pyarrow and not complete,
        table_schema=table.schema,
        partition_columns=table.partition_columns,
        truncated=not log.checkpoints and len(log.versions) != newest + 1,
        updated_ms=taking.updated_ms,
        read_at_ms=time.time_ns() // 1_000_000,
    )


def _interval_ms(text: str | None) -> float | None:
    """Return how long an interval of a table's property lasts; None where it is not understood."""
    words = (text or "").lower().strip().removeprefix("interval").strip()
    parts = _PART.findall(words)
    if not parts or _PART.sub("", words).strip():
        return None
    return sum(int(count) * _UNIT_MS[unit] for count, unit in parts)


def _take_summary(reader: Reader, path: str, taking: _Taking) -> bool:
    """Take every identifier from a summary; False where it has none or can't be read."""
    try:
        summary = read_summary(reader, path)
    except (StorageError, DecodeError):
        # The versions themselves tell the same, at a higher price.
        return False
    if summary is not None:
        taking.take(summary)
    return summary is not None


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
        taking.take(read_part(reader, part))
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
            taking.take(Commit(data))
        except (StorageError, DecodeError):
            taking.unread.append(path)
    return len(taking.unread) == unread


_NO_LOG = DeltaLogFiles({}, {}, ())


@dataclass(frozen=True)
class TableSeen:
    """A table at one look; `newest` is None where there is no table."""

    location: str
    """As shown to people."""
    table_id: str | None = None
    log: DeltaLogFiles = _NO_LOG
    failure: HoldfastError | None = None
    """Why it could not be read."""
    reader: Reader | None = field(default=None, compare=False, repr=False)
    """Reads files of the log; None where there is no table."""

    @property
    def newest(self) -> int | None:
        """The newest version."""
        return self.log.newest

    @property
    def oldest(self) -> int | None:
        """The oldest version whose own file is there."""
        return min(self.log.versions, default=None)

    def first_missing(self, since: int) -> int | None:
        """Return the first version from here on whose file is gone; None where all are there."""
        newest = self.newest if self.newest is not None else -1
        missing = (one for one in range(since, newest + 1) if one not in self.log.versions)
        return next(missing, None)

    def has_snapshot(self, version: int) -> bool:
        """Return whether the table can be read as it was at a version."""
        bases = [-1, *(one.version for one in self.log.checkpoints if one.version <= version)]
        return any(
            all(one in self.log.versions for one in range(base + 1, version + 1)) for base in bases
        )


def look_at_source_table(location: str, open_log: Callable[[], Reader]) -> TableSeen:
    """Look at a table's log; never raises."""
    try:
        reader = open_log()
        ledger = read_delta_ledger(reader)
        if ledger is None:
            return TableSeen(location)
        return TableSeen(location, ledger.table_id, list_log(reader), reader=reader)
    except HoldfastError as failure:
        return TableSeen(location, failure=failure)


def table_or_nothing(location: Location, settings: StorageSettings) -> DeltaLedger | SinkState:
    """Return the table's ledger, or what is seen where there is no table; raise StorageError."""
    table = read_delta_ledger(open_reader(part_of(location, LOG_FOLDER), settings))
    if table is not None:
        return table
    holds = _holds_anything(open_reader(location, settings))
    return SinkState(
        LastCommitted.nothing("the folder holds no Delta log"),
        canonical(location),
        contents=Contents.ROWS if holds else Contents.ABSENT,
    )


def _holds_anything(folder: Reader) -> bool:
    """Return whether a folder without a Delta log holds files or folders that readers see."""
    try:
        names = folder.names("")
    except NotFoundError:
        return False
    return any(not name.startswith(".") and name != LOG_FOLDER for name in names)
