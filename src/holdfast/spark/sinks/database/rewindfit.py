"""Judges whether batches can be taken back from a table without rows that are not the job's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from holdfast.errors import SinkError
from holdfast.jobs.ready import ReadySink
from holdfast.plurals import counted
from holdfast.spark.sinks.database.ledgerstate import NOTHING_PRUNED, QueryState


@dataclass(frozen=True)
class MostRows:
    """How many rows of a table are the job's, at most."""

    rows: int
    besides_pruned: bool
    """The batches that an older Holdfast pruned brought more, and nobody knows how many."""


def most_rows(known: Mapping[int, int], state: QueryState, sink: ReadySink) -> MostRows:
    """Give what the batches brought; `known` are the rows of those that the ledger remembers."""
    if sink.mode == "complete":
        return MostRows(known[max(known)] if known else 0, besides_pruned=False)
    # With a batch column, rows of pruned batches are left out of the count instead.
    left_out = not state.rows_known and sink.batch_column is not None
    pruned = 0 if left_out else state.pruned_rows
    return MostRows(sum(known.values()) + pruned, not state.rows_known)


def refuse_too_many(there: int, most: MostRows, table: str, sink: ReadySink) -> None:
    """Raise HF5011 where a table holds more rows than its batches brought.

    With a batch column, rows of pruned batches whose total is unknown are not among `there`.
    """
    if there <= most.rows:
        return
    if not most.besides_pruned:
        held = counted(there, "row")
        message = f"{table} holds {held}, and its batches brought {most.rows} of them at most"
        raise SinkError("HF5011", message, at=sink.at)
    if sink.batch_column is not None:
        message = (
            f"{table} holds {there:,} rows that belong to no pruned batch, and the other batches "
            f"brought {most.rows} of them at most"
        )
        raise SinkError("HF5011", message, at=sink.at)
    message = (
        f"{table} holds {counted(there, 'row')}; an older Holdfast pruned the ledger without a "
        "total, so how many of them the batches brought is unknown"
    )
    steps = (
        f"if every row of {table} is the job's, delete them yourself, then clear the sink: an "
        "empty table is always cleared",
        "or give the job a new output",
    )
    raise SinkError("HF5011", message, at=sink.at, next_steps=steps)


def refuse_foreign_rows(
    there: Mapping[int, int], known: Mapping[int, int], table: str, sink: ReadySink
) -> None:
    """Raise HF5011 where a batch has more rows in a table than it brought."""
    foreign = [batch for batch, rows in there.items() if rows > known.get(batch, 0)]
    if foreign:
        message = f"{table} holds rows that are not the job's, under batch {min(foreign)}"
        raise SinkError("HF5011", message, at=sink.at)


def refuse_pruned(state: QueryState, batch_id: int, sink: ReadySink) -> None:
    """Raise HF5011 where batches are to be taken back that the ledger remembers as a total."""
    if state.pruned_through == NOTHING_PRUNED or batch_id > state.pruned_through:
        return
    message = (
        f"the ledger pruned the batches up to {state.pruned_through}: batches can be taken back to "
        f"{state.pruned_through + 1} at the earliest, not to {batch_id}"
    )
    raise SinkError("HF5011", message, at=sink.at)


def other_query(sink: ReadySink) -> SinkError:
    """Give the error of a table that took batches of several queries: nobody tells them apart."""
    message = "the table holds batches of another query as well"
    return SinkError("HF5011", message, at=sink.at)
