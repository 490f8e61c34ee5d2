"""Completes what is seen of a table by what the ledger knows, and notices one that is removed."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol, TypeVar

from holdfast.errors import SinkError
from holdfast.jobs.ready import ReadySink
from holdfast.ledgers.lastcommitted import Answer
from holdfast.ledgers.sinksight import Contents, SinkSight

_Connection = TypeVar("_Connection")
_Asked_contra = TypeVar("_Asked_contra", contravariant=True)


class KnowsQueries(Protocol[_Asked_contra]):
    """A ledger in a database, as far as a start asks for it."""

    def generation(self, connection: _Asked_contra, query_id: str) -> int:
        """Return the greatest generation that is known of a query, 0 where none is."""

    def delivered_rows(
        self, connection: _Asked_contra, query_id: str, *, newest_only: bool
    ) -> bool:
        """Return whether a batch of the query brought rows; `newest_only` asks for the last one."""


def seen_with(
    sight: SinkSight,
    ledger: KnowsQueries[_Connection],
    connection: _Connection,
    query_id: str,
    mode: str,
) -> SinkSight:
    """Return the sight with the newest generation, and a doubt about a table that lost its rows.

    A table without rows may be a retention job's work, or one that was created again: the ledger
    alone does not say which.
    """
    known = replace(sight, generation=ledger.generation(connection, query_id))
    if sight.held.answer is not Answer.BATCH or sight.contents is not Contents.EMPTY:
        return known
    if not ledger.delivered_rows(connection, query_id, newest_only=mode == "complete"):
        return known
    doubt = f"{sight.place} has no row; its ledger says that batches brought rows"
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
