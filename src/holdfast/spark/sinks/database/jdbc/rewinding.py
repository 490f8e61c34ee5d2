"""Takes batches of a table back through JDBC: all of them, or those after one, or refuses.

No database locks a table by the same word, so rows are deleted first and counted; where there were
more than the ledger knows, the transaction is taken back. Either leaves a fence in the same
transaction: whoever is older commits nothing afterwards.
"""

from __future__ import annotations

from holdfast.errors import SinkError
from holdfast.jobs.ready import ReadySink
from holdfast.spark.sinks.database.jdbc.connection import JdbcConnection
from holdfast.spark.sinks.database.jdbc.ledger import JdbcLedger
from holdfast.spark.sinks.database.jdbc.table import Target, find_target
from holdfast.spark.sinks.database.ledgerstate import QueryState
from holdfast.spark.sinks.database.rewindfit import (
    most_rows,
    other_query,
    refuse_foreign_rows,
    refuse_pruned,
    refuse_too_many,
)


def take_back(
    connection: JdbcConnection,
    target: Target,
    ledger: JdbcLedger,
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
        ledger.close_to_others(connection)
        if ledger.queries(connection) - {query_id}:
            raise other_query(sink)
        state = ledger.state(connection, query_id, generation)
        refuse_pruned(state, batch_id, sink)
        target = _there_now(connection, target, sink)
        if target.columns is not None:
            _remove_after(connection, target, ledger, sink, int(batch_id), column)
        ledger.forget_after(connection, batch_id)
        ledger.fence(connection, query_id, state, generation)


def clear_table(
    connection: JdbcConnection,
    target: Target,
    ledger: JdbcLedger,
    sink: ReadySink,
    *,
    generation: int,
) -> None:
    """Remove every row and the whole memory of batches; raise HF5011 where foreign rows are."""
    with connection.transaction():
        ledger.close_to_others(connection)
        queries = ledger.queries(connection)
        if len(queries) > 1:
            raise other_query(sink)
        states = {one: ledger.state(connection, one, generation) for one in queries}
        target = _there_now(connection, target, sink)
        if target.columns is not None:
            _remove_all(connection, target, ledger, sink, next(iter(states.values()), QueryState()))
        ledger.forget_after(connection, -1)
        for query_id, state in states.items():
            ledger.fence(connection, query_id, QueryState(state.fence), generation)
        ledger.count_clear(connection)


def _there_now(connection: JdbcConnection, target: Target, sink: ReadySink) -> Target:
    """Look again for a table that was not there: a driver may have made and filled it meanwhile."""
    return target if target.columns is not None else find_target(connection, sink)


def _remove_after(
    connection: JdbcConnection,
    target: Target,
    ledger: JdbcLedger,
    sink: ReadySink,
    later: int,
    column: str,
) -> None:
    spelled = target.names.quoted(target.column(column))
    counted = connection.rows(
        f"select {spelled}, count(*) from {target.spelled} "
        f"where {spelled} > {later} group by {spelled}"
    )
    there = {int(batch): int(rows) for batch, rows in counted}
    refuse_foreign_rows(there, ledger.rows_by_batch(connection), target.name.table, sink)
    deleted = connection.execute(f"delete from {target.spelled} where {spelled} > {later}")
    if deleted != sum(there.values()):
        message = f"somebody writes rows of these batches to {target.name.table} right now"
        raise SinkError("HF5011", message, at=sink.at)


def _remove_all(
    connection: JdbcConnection,
    target: Target,
    ledger: JdbcLedger,
    sink: ReadySink,
    state: QueryState,
) -> None:
    most = most_rows(ledger.rows_by_batch(connection), state, sink)
    if most.besides_pruned and sink.batch_column is not None:
        column = target.names.quoted(target.column(sink.batch_column))
        pruned = f"{column} >= 0 and {column} <= {int(state.pruned_through)}"
        connection.execute(f"delete from {target.spelled} where {pruned}")
    there = connection.execute(f"delete from {target.spelled}")
    refuse_too_many(there, most, target.name.table, sink)
