"""Brings back the rows of a Delta table that an act took back, as they were when it was marked.

RESTORE brings the rows, not the names: one that a tombstone closed stays closed. The next name of
the query is opened behind the newest batch of then, so that the checkpoint of then fits again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.ledgers.delta.batches import (
    CLOSED,
    ApplicationState,
    application_state,
    current_application,
)
from holdfast.ledgers.delta.rewind import BROUGHT_BACK
from holdfast.ledgers.delta.transactions import DeltaLedger
from holdfast.spark.sinks.delta.rewind import DeltaRewind

_OWN_STEPS = ("closed", "taken-back", "given-back", "fenced", "opened")


@dataclass(frozen=True)
class TableMark:
    """A table at one moment."""

    version: int | None
    """None where there was no table."""
    batches: Mapping[str, int]
    """The newest batch of each query that had one."""

    @classmethod
    def of(cls, ledger: DeltaLedger | None) -> TableMark:
        """Return the mark of a table as its log shows it now."""
        if ledger is None:
            return cls(None, {})
        held = {one: batch for one, batch in ledger.transactions.items() if batch != CLOSED}
        return cls(ledger.newest_version, held)

    @classmethod
    def from_plain(cls, document: Mapping[str, Any]) -> TableMark:
        """Return the mark that `plain` spelled."""
        return cls(document["version"], document["batches"])

    def plain(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"version": self.version, "batches": dict(self.batches)}


class DeltaGiveBack(DeltaRewind):
    """Brings one table back to a mark, under one generation of the job."""

    def mark(self) -> TableMark:
        """Return the table as it is; what an act left unfinished is none of it."""
        return TableMark.of(self._ledger())

    def why_not_back(self, mark: TableMark) -> str | None:
        """Return why the table cannot be brought back to a mark; None where it can."""
        ledger = self._ledger()
        if mark.version is None:
            return None if ledger is None or not ledger.transactions else "rows were written since"
        if ledger is None:
            return "the table does not exist any more"
        if self._is_as_marked(ledger, mark):
            return None
        for version in self._versions(ledger.newest_version):
            if version.number <= mark.version:
                break
            if version.changes_rows and version.note.get("act") not in _OWN_STEPS:
                return f"version {version.number} of the table was written since"
        return self._commands.why_not_restorable(mark.version)

    def give_back(self, mark: TableMark) -> None:
        """Bring the table back to a mark, or raise HF5011 and change nothing."""
        self._refuse_older_of(mark)
        for query_id in mark.batches:
            self._settle(query_id)
        ledger = self._ledger()
        if ledger is None or self._is_as_marked(ledger, mark):
            return
        why = self.why_not_back(mark)
        if why is not None:
            raise self._refused(f"the rows cannot be brought back: {why}")
        standings = tuple(_standing_of(ledger, one) for one in sorted(mark.batches))
        told = {BROUGHT_BACK: mark.version}
        self._take_back(standings, mark.batches, mark.version, ledger.newest_version, told)

    def _refuse_older_of(self, mark: TableMark) -> None:
        ledger = self._ledger()
        for query_id in mark.batches:
            self._refuse_older(ledger, query_id)

    def _is_as_marked(self, ledger: DeltaLedger, mark: TableMark) -> bool:
        """Whether nothing was taken back since, or all of it is back already."""
        return TableMark.of(ledger).batches == mark.batches


def _standing_of(ledger: DeltaLedger, query_id: str) -> ApplicationState:
    application = current_application(ledger.identifiers, query_id)
    return application_state(ledger.identifiers, application)
