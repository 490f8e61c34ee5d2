"""Takes batches of a PostgreSQL table back: all of them, or those after one, or refuses.

Either leaves a fence in the same transaction: whoever is older commits nothing afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from holdfast.jobs.ready import ReadySink
from holdfast.ledgers.database.connection import execute, psycopg_here
from holdfast.spark.sinks.database.ledgerstate import QueryState
from holdfast.spark.sinks.database.postgres.ledger import LedgerTable, set_up
from holdfast.spark.sinks.database.postgres.table import Target
from holdfast.spark.sinks.database.rewindfit import (
    most_rows,
    other_query,
    refuse_foreign_rows,
    refuse_pruned,
    refuse_too_many,
)

if TYPE_CHECKING:
    import psycopg

FindTable = Callable[[], Target | None]
"""Looks for the table once nobody can commit any more: a driver may just have made it."""


def take_back(
    connection: psycopg.Connection[Any],
    find: FindTable,
    ledger: LedgerTable,
    sink: ReadySink,
    query_id: str,
    batch_id: int,
    column: str,
    *,
    generation: int,
) -> None:
    """Remove the rows and the memory of every later batch in one transaction, or raise HF5011.

    Without a table there is nothing to remove, and yet a fence to leave.
    """
    with connection.transaction():
        set_up(connection)
        ledger.close_to_others(connection)
        if ledger.queries(connection) - {query_id}:
            raise other_query(sink)
        state = ledger.state(connection, query_id, generation)
        refuse_pruned(state, batch_id, sink)
        target = find()
        if target is not None:
            _remove_after(connection, target, ledger, sink, batch_id, column)
        ledger.forget_after(connection, batch_id)
        ledger.fence(connection, query_id, state, generation)


def clear_table(
    connection: psycopg.Connection[Any],
    find: FindTable,
    ledger: LedgerTable,
    sink: ReadySink,
    *,
    generation: int,
) -> None:
    """Remove every row and the whole memory of batches; raise HF5011 where foreign rows are."""
    with connection.transaction():
        set_up(connection)
        ledger.close_to_others(connection)
        queries = ledger.queries(connection)
        if len(queries) > 1:
            raise other_query(sink)
        states = {one: ledger.state(connection, one, generation) for one in queries}
        target = find()
        if target is not None:
            _remove_all(connection, target, ledger, sink, next(iter(states.values()), QueryState()))
        ledger.forget_after(connection, -1)
        for query_id, state in states.items():
            ledger.fence(connection, query_id, QueryState(state.fence), generation)
        ledger.count_clear(connection)


def _remove_after(
    connection: psycopg.Connection[Any],
    target: Target,
    ledger: LedgerTable,
    sink: ReadySink,
    batch_id: int,
    column: str,
) -> None:
    sql = psycopg_here().sql
    parts = sql.Identifier(column), sql.Identifier(target.schema, target.table)
    counted = execute(
        connection,
        "select {0}, count(*) from {1} where {0} > %s group by 1",
        *parts,
        values=(batch_id,),
    )
    there = {int(batch): int(rows) for batch, rows in counted.fetchall()}
    refuse_foreign_rows(there, ledger.rows_by_batch(connection), target.table, sink)
    execute(connection, "delete from {1} where {0} > %s", *parts, values=(batch_id,))


def _remove_all(
    connection: psycopg.Connection[Any],
    target: Target,
    ledger: LedgerTable,
    sink: ReadySink,
    state: QueryState,
) -> None:
    sql = psycopg_here().sql
    name = sql.Identifier(target.schema, target.table)
    execute(connection, "lock table {} in share row exclusive mode", name)
    known = ledger.rows_by_batch(connection)
    most = most_rows(known, state, sink)
    if most.besides_pruned and sink.batch_column is not None:
        statement = "select count(*) from {} where {} is null or {} < 0 or {} > %s"
        column = sql.Identifier(sink.batch_column)
        values = (state.pruned_through,)
        found = execute(connection, statement, name, *[column] * 3, values=values)
    else:
        found = execute(connection, "select count(*) from {}", name)
    row = found.fetchone()
    refuse_too_many(0 if row is None else int(row[0]), most, target.table, sink)
    execute(connection, "delete from {}", name)
