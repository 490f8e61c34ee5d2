"""Takes batches of a table back: all of them, or those after one, or refuses.

Where no statement locks the written table, rows are deleted first and counted; where there were
more than the ledger knows, the transaction is taken back. Either act leaves a fence in the same
transaction: whoever is older commits nothing afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from holdfast.errors import SinkError
from holdfast.jobs.ready import ReadySink
from holdfast.ledgers.identity import is_backfill, query_of
from holdfast.ledgers.sinkstate import refuse_other_queries
from holdfast.spark.sinks.database.dialect import DatabaseConnection
from holdfast.spark.sinks.database.ledger import DatabaseLedger
from holdfast.spark.sinks.database.ledgerstate import NOTHING_PRUNED, QueryState
from holdfast.spark.sinks.database.table import WrittenTable
from holdfast.wording import counted


@dataclass(frozen=True, kw_only=True)
class TakeBack:
    """Takes batches of one table back under one lease."""

    sink: ReadySink
    ledger: DatabaseLedger
    find: Callable[[], WrittenTable]
    """Looks for the table once nobody can commit any more: a driver may just have made it."""
    lock_table: str
    """What locks a table; empty where nothing does."""
    generation: int

    def rewind(
        self, connection: DatabaseConnection, query_id: str, batch_id: int, column: str
    ) -> None:
        """Remove the rows and the memory of every later batch in one transaction, or raise HF5011.

        Without a table there is nothing to remove, and yet a fence to leave.
        """
        with connection.transaction():
            self.ledger.close_to_others(connection)
            if self.ledger.queries(connection) - {query_id}:
                raise self._other_query()
            state = self.ledger.state(connection, query_id, self.generation)
            _refuse_pruned(state, batch_id, self.sink)
            table = self.find()
            if table.columns is not None:
                self._remove_after(connection, table, int(batch_id), column)
            self.ledger.forget_after(connection, batch_id)
            self.ledger.fence(connection, query_id, state, self.generation)

    def clear(self, connection: DatabaseConnection, wanted: Collection[str] | None = None) -> None:
        """Remove every row and the whole memory of batches; raise HF5011 where foreign rows are.

        So are those of a query that is not wanted; None: the only one that has batches is.
        """
        with connection.transaction():
            self.ledger.close_to_others(connection)
            queries = self.ledger.queries(connection)
            refuse_other_queries(queries, wanted, f"the table {self.sink.table}")
            if len({query_of(one) for one in queries}) > 1:
                raise self._other_query()
            states = {
                one: self.ledger.state(connection, one, self._generation_of(connection, one))
                for one in queries
            }
            table = self.find()
            if table.columns is not None:
                self._remove_all(connection, table, list(states.values()))
            self.ledger.forget_after(connection, -1)
            for query_id, state in states.items():
                generation = self._generation_of(connection, query_id)
                self.ledger.fence(connection, query_id, QueryState(state.fence), generation)
            self.ledger.count_clear(connection)

    def fence(self, connection: DatabaseConnection, query_id: str | None) -> None:
        """Refuse every older driver of this query; change no row.

        Where the ledger holds no batch, also whoever opened the table before, whatever its query.
        """
        with connection.transaction():
            self.ledger.close_to_others(connection)
            if query_id is not None:
                state = self.ledger.state(connection, query_id, self.generation)
                self.ledger.fence(connection, query_id, state, self.generation)
            if not self.ledger.queries(connection):
                self.ledger.count_clear(connection)

    def _generation_of(self, connection: DatabaseConnection, query_id: str) -> int:
        """Return our generation; of a backfill no smaller one than its own lease left there."""
        if not is_backfill(query_id):
            return self.generation
        return max(self.generation, self.ledger.generation(connection, query_id))

    def _remove_after(
        self, connection: DatabaseConnection, table: WrittenTable, batch_id: int, column: str
    ) -> None:
        spelled, later = table.column(column), f"where {table.column(column)} > {batch_id}"
        found = connection.rows(
            f"select {spelled}, count(*) from {table.spelled} {later} group by {spelled}"
        )
        there = {int(batch): int(rows) for batch, rows in found}
        _refuse_foreign_rows(there, self.ledger.rows_by_batch(connection), table.name, self.sink)
        deleted = connection.execute(f"delete from {table.spelled} {later}")
        if deleted != sum(there.values()):
            message = f"another process is writing rows of these batches to {table.name} right now"
            raise SinkError("HF5011", message, at=self.sink.at)

    def _remove_all(
        self, connection: DatabaseConnection, table: WrittenTable, states: Sequence[QueryState]
    ) -> None:
        """Remove the rows of a query, and of its backfills, which prune like it."""
        if self.lock_table:
            connection.execute(self.lock_table.format(table.spelled))
        state = max(states, key=lambda one: one.pruned_through, default=QueryState())
        if len(states) > 1:
            state = replace(
                state,
                pruned_rows=sum(one.pruned_rows for one in states),
                rows_known=all(one.rows_known for one in states),
            )
        most = _most_rows(self.ledger.rows_by_batch(connection), state, self.sink)
        if most.besides_pruned and self.sink.batch_column is not None:
            column = table.column(self.sink.batch_column)
            pruned = f"{column} >= 0 and {column} <= {int(state.pruned_through)}"
            connection.execute(f"delete from {table.spelled} where {pruned}")
        there = connection.execute(f"delete from {table.spelled}")
        _refuse_too_many(there, most, table.name, self.sink)

    def _other_query(self) -> SinkError:
        """Return the error of a table with batches of several queries: nothing tells them apart."""
        message = "the table also has batches of another query"
        return SinkError("HF5011", message, at=self.sink.at)


def rewound_column(sink: ReadySink) -> str:
    """Return the column that tells which batch brought a row; raise HF5011 where none does."""
    if sink.mode == "append" and sink.batch_column is not None:
        return sink.batch_column
    message = "only appended rows with a `batch_column` can be rewound"
    why = "without it the rows of a batch cannot be identified; an upsert replaced older rows"
    raise SinkError("HF5011", message, at=sink.at, why=why)


@dataclass(frozen=True)
class _MostRows:
    """How many rows of a table are the job's, at most."""

    rows: int
    besides_pruned: bool
    """The batches that an older Holdfast pruned brought more, and nobody knows how many."""


def _most_rows(known: Mapping[int, int], state: QueryState, sink: ReadySink) -> _MostRows:
    """Return what the batches brought; `known` are the rows of those that the ledger remembers."""
    if sink.mode == "complete":
        return _MostRows(known[max(known)] if known else 0, besides_pruned=False)
    # With a batch column, rows of pruned batches are left out of the count instead.
    left_out = not state.rows_known and sink.batch_column is not None
    pruned = 0 if left_out else state.pruned_rows
    return _MostRows(sum(known.values()) + pruned, not state.rows_known)


def _refuse_too_many(there: int, most: _MostRows, table: str, sink: ReadySink) -> None:
    """Raise HF5011 where a table holds more rows than its batches brought.

    With a batch column, rows of pruned batches whose total is unknown are not among `there`.
    """
    if there <= most.rows:
        return
    if not most.besides_pruned:
        rows = counted(there, "row")
        message = f"{table} has {rows}, and its batches wrote at most {most.rows} of them"
        raise SinkError("HF5011", message, at=sink.at)
    if sink.batch_column is not None:
        message = (
            f"{table} has {there:,} rows that belong to no pruned batch, and the other batches "
            f"wrote at most {most.rows} of them"
        )
        raise SinkError("HF5011", message, at=sink.at)
    message = (
        f"{table} has {counted(there, 'row')}; an older Holdfast pruned the ledger without a "
        "total, so the number of rows that the batches wrote is unknown"
    )
    steps = (
        f"if every row of {table} is the job's, delete them yourself, then clear the sink: an "
        "empty table is always cleared",
        "or give the job a new output",
    )
    raise SinkError("HF5011", message, at=sink.at, next_steps=steps)


def _refuse_foreign_rows(
    there: Mapping[int, int], known: Mapping[int, int], table: str, sink: ReadySink
) -> None:
    """Raise HF5011 where a batch has more rows in a table than it brought."""
    foreign = [batch for batch, rows in there.items() if rows > known.get(batch, 0)]
    if foreign:
        message = f"{table} has rows that are not the job's, under batch {min(foreign)}"
        raise SinkError("HF5011", message, at=sink.at)


def _refuse_pruned(state: QueryState, batch_id: int, sink: ReadySink) -> None:
    """Raise HF5011 where batches are to be taken back that the ledger remembers as a total."""
    if state.pruned_through == NOTHING_PRUNED or batch_id > state.pruned_through:
        return
    message = (
        f"the ledger pruned the batches up to {state.pruned_through}: the table can be rewound to "
        f"{state.pruned_through + 1} at the earliest, not to {batch_id}"
    )
    raise SinkError("HF5011", message, at=sink.at)
