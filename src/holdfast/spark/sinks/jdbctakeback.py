"""Takes batches of a table back through JDBC: all of them, or those after one, or refuses.

No database locks a table by the same word, so rows are deleted first and counted; where there were
more than the ledger knows, the transaction is taken back.
"""

from __future__ import annotations

from holdfast.errors import SinkError
from holdfast.jobs.ready import ReadySink
from holdfast.spark.sinks.jdbcconnection import JdbcConnection
from holdfast.spark.sinks.jdbcledger import JdbcLedger
from holdfast.spark.sinks.jdbctable import Target


def take_back(
    connection: JdbcConnection,
    target: Target,
    ledger: JdbcLedger,
    sink: ReadySink,
    query_id: str,
    batch_id: int,
    column: str,
) -> None:
    """Remove the rows and the memory of every later batch in one transaction, or raise HF5011."""
    spelled, later = target.names.quoted(target.column(column)), int(batch_id)
    with connection.transaction():
        ledger.close_to_others(connection)
        if ledger.queries(connection) - {query_id}:
            raise _of_another_query(sink)
        known = ledger.rows_by_batch(connection)
        counted = connection.rows(
            f"select {spelled}, count(*) from {target.spelled} "
            f"where {spelled} > {later} group by {spelled}"
        )
        there = {int(batch): int(rows) for batch, rows in counted}
        foreign = [batch for batch, rows in there.items() if rows > known.get(batch, 0)]
        if foreign:
            message = (
                f"{target.name.table} holds rows that are not the job's, under batch {min(foreign)}"
            )
            raise SinkError("HF5011", message, at=sink.at)
        deleted = connection.execute(f"delete from {target.spelled} where {spelled} > {later}")
        if deleted != sum(there.values()):
            message = f"somebody writes rows of these batches to {target.name.table} right now"
            raise SinkError("HF5011", message, at=sink.at)
        ledger.forget_after(connection, batch_id)


def clear_table(
    connection: JdbcConnection, target: Target, ledger: JdbcLedger, sink: ReadySink
) -> None:
    """Remove every row and the whole memory of batches; raise HF5011 where foreign rows are."""
    with connection.transaction():
        ledger.close_to_others(connection)
        if len(ledger.queries(connection)) > 1:
            raise _of_another_query(sink)
        known = ledger.rows_by_batch(connection)
        most = known[max(known)] if sink.mode == "complete" and known else sum(known.values())
        there = connection.execute(f"delete from {target.spelled}")
        if there > most:
            message = (
                f"{target.name.table} holds {there} rows, and its batches brought {most} of them "
                "at most"
            )
            raise SinkError("HF5011", message, at=sink.at)
        ledger.forget_after(connection, -1)


def _of_another_query(sink: ReadySink) -> SinkError:
    message = "the table holds batches of another query as well"
    return SinkError("HF5011", message, at=sink.at)
