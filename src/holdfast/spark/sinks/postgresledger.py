"""Keeps the row of each batch in the database that it was written to: claims, refuses, takes back.

All of it happens inside the transaction that moves the batch's rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.errors import SinkError
from holdfast.ledgers.identity import BatchIdentity
from holdfast.ledgers.postgres import LEDGER
from holdfast.ledgers.postgresconnection import psycopg_here
from holdfast.spark.sinks.heldbatch import HeldBatch

if TYPE_CHECKING:
    import psycopg

KEPT_BATCHES = 10_000
"""Batches of a query that are remembered one by one; older ones are known to be there."""

_CREATE = """
create table if not exists {} (
    table_name text not null,
    query_id text not null,
    batch_id bigint not null,
    offsets_digest text not null,
    generation bigint not null,
    rows bigint not null,
    committed_at timestamp with time zone not null default clock_timestamp(),
    primary key (table_name, query_id, batch_id)
)
"""


class LedgerTable:
    """The ledger of one written table."""

    def __init__(self, schema: str, table: str, shown: str | None) -> None:
        self._sql = psycopg_here().sql
        self._name = self._sql.Identifier(schema, LEDGER)
        self._table = table
        self._shown = shown

    def create(self, connection: psycopg.Connection[Any]) -> None:
        """Make the ledger where there is none."""
        connection.execute(self._spelled(_CREATE))

    def held(
        self, connection: psycopg.Connection[Any], identity: BatchIdentity, *, lock: bool = False
    ) -> HeldBatch | None:
        """Give the batch where it is held; raise where a newer driver or other offsets are.

        `lock` makes every other driver of this query wait; what they committed meanwhile is seen,
        because it is asked after the lock was given.
        """
        newest = self._newest(connection, identity.query_id, lock=lock)
        if lock:
            newest = self._newest(connection, identity.query_id, lock=False)
        if newest is None:
            return None
        if newest.generation > identity.generation:
            message = (
                f"generation {newest.generation} wrote batch {newest.batch_id} to {self._shown}; "
                f"this driver is generation {identity.generation}"
            )
            raise SinkError("HF5042", message, at=self._shown)
        if newest.batch_id < identity.batch_id:
            return None
        return self._same(connection, identity)

    def claim(self, connection: psycopg.Connection[Any], identity: BatchIdentity) -> bool:
        """Write the batch's row; False where another driver's transaction did it first."""
        statement = (
            "insert into {} (table_name, query_id, batch_id, offsets_digest, generation, rows) "
            "values (%s, %s, %s, %s, %s, 0) on conflict do nothing"
        )
        values = (identity.query_id, identity.batch_id, identity.offsets_digest)
        cursor = connection.execute(
            self._spelled(statement), (self._table, *values, identity.generation)
        )
        return cursor.rowcount == 1

    def count(
        self, connection: psycopg.Connection[Any], identity: BatchIdentity, rows: int
    ) -> None:
        """Keep how many rows the claimed batch has; forget what is very old."""
        connection.execute(
            self._spelled(
                "update {} set rows = %s where table_name = %s and query_id = %s and batch_id = %s"
            ),
            (rows, self._table, identity.query_id, identity.batch_id),
        )
        connection.execute(
            self._spelled(
                "delete from {} where table_name = %s and query_id = %s and batch_id <= %s"
            ),
            (self._table, identity.query_id, identity.batch_id - KEPT_BATCHES),
        )

    def close_to_others(self, connection: psycopg.Connection[Any]) -> None:
        """Let no batch be committed to this schema until the transaction ends."""
        connection.execute(self._spelled("lock table {} in share row exclusive mode"))

    def queries(self, connection: psycopg.Connection[Any]) -> frozenset[str]:
        """Name the queries whose batches the table took."""
        statement = self._spelled("select distinct query_id from {} where table_name = %s")
        return frozenset(row[0] for row in connection.execute(statement, (self._table,)))

    def rows_by_batch(self, connection: psycopg.Connection[Any]) -> dict[int, int]:
        """Give how many rows each remembered batch brought; for a table of one query."""
        statement = self._spelled("select batch_id, rows from {} where table_name = %s")
        return dict(connection.execute(statement, (self._table,)).fetchall())

    def forget_after(self, connection: psycopg.Connection[Any], batch_id: int | None) -> None:
        """Forget the batches after this one; None forgets all of the table."""
        statement = "delete from {} where table_name = %s and batch_id > %s"
        newest_kept = -1 if batch_id is None else batch_id
        connection.execute(self._spelled(statement), (self._table, newest_kept))

    def _newest(
        self, connection: psycopg.Connection[Any], query_id: str, *, lock: bool
    ) -> HeldBatch | None:
        statement = (
            "select batch_id, generation, offsets_digest, rows from {} "
            "where table_name = %s and query_id = %s order by batch_id desc limit 1"
        )
        query = self._spelled(statement + (" for update" if lock else ""))
        row = connection.execute(query, (self._table, query_id)).fetchone()
        return None if row is None else HeldBatch(*row)

    def _same(self, connection: psycopg.Connection[Any], identity: BatchIdentity) -> HeldBatch:
        query = self._spelled(
            "select batch_id, generation, offsets_digest, rows from {} "
            "where table_name = %s and query_id = %s and batch_id = %s"
        )
        values = (self._table, identity.query_id, identity.batch_id)
        row = connection.execute(query, values).fetchone()
        if row is None:
            return HeldBatch(identity.batch_id, identity.generation, None, None)
        found = HeldBatch(*row)
        if found.offsets_digest != identity.offsets_digest:
            message = f"{self._shown} holds batch {identity.batch_id} with other offsets"
            raise SinkError("HF5003", message, at=self._shown)
        return found

    def _spelled(self, statement: str) -> Any:
        return self._sql.SQL(statement).format(self._name)
