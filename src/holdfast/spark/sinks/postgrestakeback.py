"""Takes batches of a PostgreSQL table back: all of them, or those after one, or refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.errors import SinkError
from holdfast.jobs.ready import ReadySink
from holdfast.ledgers.postgresconnection import psycopg_here
from holdfast.spark.sinks.postgresledger import LedgerTable
from holdfast.spark.sinks.postgrestable import Target

if TYPE_CHECKING:
    import psycopg


def take_back(
    connection: psycopg.Connection[Any],
    target: Target,
    ledger: LedgerTable,
    sink: ReadySink,
    query_id: str,
    batch_id: int,
    column: str,
) -> None:
    """Remove the rows and the memory of every later batch in one transaction, or raise HF5011."""
    sql = psycopg_here().sql
    name = sql.Identifier(target.schema, target.table)
    with connection.transaction():
        ledger.close_to_others(connection)
        _refuse_foreign_queries(connection, ledger, sink, query_id)
        counted = sql.SQL("select {0}, count(*) from {1} where {0} > %s group by 1").format(
            sql.Identifier(column), name
        )
        known = ledger.rows_by_batch(connection)
        foreign = [
            batch
            for batch, rows in connection.execute(counted, (batch_id,)).fetchall()
            if rows > known.get(batch, 0)
        ]
        if foreign:
            message = (
                f"{target.table} holds rows that are not the job's, under batch {min(foreign)}"
            )
            raise SinkError("HF5011", message, at=sink.at)
        connection.execute(
            sql.SQL("delete from {} where {} > %s").format(name, sql.Identifier(column)),
            (batch_id,),
        )
        ledger.forget_after(connection, batch_id)


def clear_table(
    connection: psycopg.Connection[Any],
    target: Target,
    ledger: LedgerTable,
    sink: ReadySink,
) -> None:
    """Remove every row and the whole memory of batches; raise HF5011 where foreign rows are."""
    sql = psycopg_here().sql
    name = sql.Identifier(target.schema, target.table)
    with connection.transaction():
        ledger.close_to_others(connection)
        connection.execute(sql.SQL("lock table {} in share row exclusive mode").format(name))
        _refuse_foreign_queries(connection, ledger, sink, None)
        known = ledger.rows_by_batch(connection)
        most = known[max(known)] if sink.mode == "complete" and known else sum(known.values())
        row = connection.execute(sql.SQL("select count(*) from {}").format(name)).fetchone()
        there = 0 if row is None else row[0]
        if there > most:
            message = (
                f"{target.table} holds {there} rows, and its batches brought {most} of them at most"
            )
            raise SinkError("HF5011", message, at=sink.at)
        connection.execute(sql.SQL("delete from {}").format(name))
        ledger.forget_after(connection, None)


def _refuse_foreign_queries(
    connection: psycopg.Connection[Any],
    ledger: LedgerTable,
    sink: ReadySink,
    query_id: str | None,
) -> None:
    """Refuse a table that took batches of several queries: their rows can't be told apart."""
    queries = ledger.queries(connection)
    if len(queries - {query_id} if query_id is not None else queries) > (query_id is None):
        message = "the table holds batches of another query as well"
        raise SinkError("HF5011", message, at=sink.at)
