"""Completes what is seen of a table by what the ledger knows, and notices one that is removed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.errors import SinkError
from holdfast.jobs.ready import ReadySink
from holdfast.ledgers.sinkstate import Contents, SinkAnswer, SinkState

if TYPE_CHECKING:
    from holdfast.spark.sinks.database.dialect import DatabaseConnection
    from holdfast.spark.sinks.database.ledger import DatabaseLedger


def complete_sight(
    sight: SinkState,
    ledger: DatabaseLedger,
    connection: DatabaseConnection,
    query_id: str,
    *,
    mode: str,
) -> SinkState:
    """Return the sight with the newest generation, and a doubt about a table that lost its rows.

    A table without rows may be a retention job's work, or one that was created again: the ledger
    alone does not say which.
    """
    known = replace(sight, generation=ledger.generation(connection, query_id))
    if sight.held.answer is not SinkAnswer.BATCH or sight.contents is not Contents.EMPTY:
        return known
    if not ledger.delivered_rows(connection, query_id, newest_only=mode == "complete"):
        return known
    doubt = f"{sight.place} has no rows, but according to its ledger batches wrote rows"
    return replace(known, doubt=doubt)


class TableWatch:
    """The table that a driver writes to since its start: created by it once, then never again."""

    def __init__(self, sink: ReadySink, shown: str) -> None:
        self._sink = sink
        self._shown = shown
        self._known: str | None = None

    def note(self, table: str | None) -> None:
        """Remember what identifies the table now; None where there is none yet."""
        self._known = table

    def refuse_other(self, table: str | None) -> None:
        """Raise where the table of before is gone, or another one is there: earlier rows are too.

        In mode complete the next batch writes all of it again.
        """
        if self._known in (None, table) or self._sink.mode == "complete":
            return
        message = f"{self._shown} was removed while the job ran"
        if table is not None:
            message += f", and another table is there ({table}, before {self._known})"
        raise SinkError("HF5027", message, at=self._sink.at)
