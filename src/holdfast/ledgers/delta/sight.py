"""Looks at a Delta table before a start, by its log alone: is it there, and is it the same one?"""

from __future__ import annotations

from holdfast.errors import NotFoundError
from holdfast.ledgers.delta.transactions import LOG_FOLDER, DeltaLedger, read_delta_ledger
from holdfast.ledgers.lastcommitted import LastCommitted
from holdfast.ledgers.sinksight import Contents, SinkSight
from holdfast.storage.beside import part_of
from holdfast.storage.canonical import canonical
from holdfast.storage.location import Location
from holdfast.storage.opening import open_reader
from holdfast.storage.options import StorageSettings
from holdfast.storage.reading import Reader


def look_at_delta_table(location: Location, settings: StorageSettings, query_id: str) -> SinkSight:
    """Return what the table's log holds of the query; raise StorageError where it is unreadable."""
    table = table_or_nothing(location, settings)
    if isinstance(table, SinkSight):
        return table
    held, place = table.last_committed(query_id), canonical(location)
    return SinkSight(held, place, table.table_id, forgets_after=table.retention)


def table_or_nothing(location: Location, settings: StorageSettings) -> DeltaLedger | SinkSight:
    """Return the table's ledger, or what is seen where there is no table; raise StorageError."""
    table = read_delta_ledger(open_reader(part_of(location, LOG_FOLDER), settings))
    if table is not None:
        return table
    holds = _holds_anything(open_reader(location, settings))
    return SinkSight(
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
