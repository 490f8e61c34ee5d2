"""What a Delta table that is read as a source still has: its id and the versions of its log."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from holdfast.errors import HoldfastError
from holdfast.ledgers.delta.log import LogFiles, list_log
from holdfast.ledgers.delta.transactions import read_delta_ledger
from holdfast.storage.reading import Reader

_NO_LOG = LogFiles({}, {}, ())


@dataclass(frozen=True)
class TableSeen:
    """A table at one look; `newest` is None where there is no table."""

    location: str
    """As shown to people."""
    table_id: str | None = None
    log: LogFiles = _NO_LOG
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
        """Tell whether the table can be read as it was at a version."""
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
