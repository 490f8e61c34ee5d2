"""Looks at a Delta table, a source or a sink, by its log alone: is it there, and the same?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from holdfast.errors import HoldfastError, NotFoundError
from holdfast.ledgers.delta.log import DeltaLogFiles, list_log
from holdfast.ledgers.delta.transactions import LOG_FOLDER, DeltaLedger, read_delta_ledger
from holdfast.ledgers.sinkstate import Contents, LastCommitted, SinkState
from holdfast.storage.beside import part_of
from holdfast.storage.location import Location, canonical
from holdfast.storage.opening import open_reader
from holdfast.storage.options import StorageSettings
from holdfast.storage.reading import Reader

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
        return TableSeen(location, ledger.table_id, list_log(reader))
    except HoldfastError as failure:
        return TableSeen(location, failure=failure)


def look_at_delta_table(location: Location, settings: StorageSettings, query_id: str) -> SinkState:
    """Return what the table's log holds of the query; raise StorageError where it is unreadable."""
    table = table_or_nothing(location, settings)
    if isinstance(table, SinkState):
        return table
    held, place = table.last_committed(query_id), canonical(location)
    return SinkState(held, place, table.table_id, forgets_after=table.retention)


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
