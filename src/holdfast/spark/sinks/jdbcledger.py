"""Keeps the row of each batch in the database that it was written to, with plain SQL alone.

The table is the one that the postgres sink keeps. All of it happens inside the transaction that
moves the batch's rows. Rows are locked by an UPDATE that changes nothing: every database has that.
"""

from __future__ import annotations

from typing import Any

from holdfast.errors import SinkError
from holdfast.jobs.ready import ReadySink
from holdfast.ledgers.identity import BatchIdentity
from holdfast.ledgers.postgres import LEDGER
from holdfast.spark.sinks.heldbatch import HeldBatch
from holdfast.spark.sinks.jdbcconnection import JdbcConnection, JdbcDatabase
from holdfast.spark.sinks.jdbctable import Target, create_table, tables_like
from holdfast.spark.sinks.jdbctypes import moment_type, number_type

KEPT_BATCHES = 10_000
"""Batches of a query that are remembered one by one; older ones are known to be there."""
LOCK_SECONDS = 60
"""How long another driver's transaction is waited for."""

_COLUMNS = (
    "table_name",
    "query_id",
    "batch_id",
    "offsets_digest",
    "generation",
    "rows",
    "committed_at",
)


class JdbcLedger:
    """The ledger of one written table."""

    def __init__(self, target: Target, shown: str) -> None:
        self._target = target
        self._shown = shown
        self._spelling = {name: target.names.own(name) for name in _COLUMNS}
        self._spelling["ledger"] = target.beside(LEDGER)

    def exists(self, connection: JdbcConnection) -> bool:
        """Tell whether there is a ledger."""
        name, names = self._target.name, self._target.names
        return any(tables_like(connection, name.qualifier, names.folded(LEDGER)))

    def create(self, connection: JdbcConnection, database: JdbcDatabase, sink: ReadySink) -> None:
        """Make the ledger where there is none."""
        if self.exists(connection):
            return
        number, moment = number_type(database), moment_type(database)
        parts = (
            "{table_name} varchar(255) not null",
            "{query_id} varchar(128) not null",
            f"{{batch_id}} {number} not null",
            "{offsets_digest} varchar(128) not null",
            f"{{generation}} {number} not null",
            f"{{rows}} {number} not null",
            f"{{committed_at}} {moment} default current_timestamp not null",
            "primary key ({table_name}, {query_id}, {batch_id})",
        )
        name = self._target.names.folded(LEDGER)
        spelled = [part.format(**self._spelling) for part in parts]
        create_table(connection, self._target, name, spelled, sink)

    def held(
        self, connection: JdbcConnection, identity: BatchIdentity, *, lock: bool = False
    ) -> HeldBatch | None:
        """Give the batch where it is held; raise where a newer driver or other offsets are.

        `lock` makes every other driver of this query wait; what they committed meanwhile is seen,
        because it is asked after the lock was given.
        """
        newest = self.newest(connection, identity.query_id)
        if lock and newest is not None:
            self._execute(
                connection,
                "update {ledger} set {generation} = {generation} "
                "where {table_name} = ? and {query_id} = ? and {batch_id} = ?",
                identity.query_id,
                newest.batch_id,
                seconds=LOCK_SECONDS,
            )
            newest = self.newest(connection, identity.query_id)
        if newest is None:
            return None
        if newest.generation > identity.generation:
            raise self._superseded(newest, identity)
        if newest.batch_id < identity.batch_id:
            return None
        found = self._batch(connection, identity.query_id, identity.batch_id)
        if found is None:
            return HeldBatch(identity.batch_id, identity.generation, None, None)
        if found.offsets_digest != identity.offsets_digest:
            message = f"{self._shown} holds batch {identity.batch_id} with other offsets"
            raise SinkError("HF5003", message, at=self._shown)
        return found

    def claim(self, connection: JdbcConnection, identity: BatchIdentity) -> None:
        """Write the batch's row; a JdbcFailure is `duplicate` where another driver did it first."""
        self._execute(
            connection,
            "insert into {ledger} ({table_name}, {query_id}, {batch_id}, {offsets_digest}, "
            "{generation}, {rows}, {committed_at}) values (?, ?, ?, ?, ?, 0, current_timestamp)",
            identity.query_id,
            identity.batch_id,
            identity.offsets_digest,
            identity.generation,
            seconds=LOCK_SECONDS,
        )

    def count(self, connection: JdbcConnection, identity: BatchIdentity, rows: int) -> None:
        """Keep how many rows the claimed batch has; forget what is very old."""
        statement = (
            f"update {{ledger}} set {{rows}} = {int(rows)} "
            "where {table_name} = ? and {query_id} = ? and {batch_id} = ?"
        )
        self._execute(connection, statement, identity.query_id, identity.batch_id)
        self._execute(
            connection,
            "delete from {ledger} where {table_name} = ? and {query_id} = ? and {batch_id} <= ?",
            identity.query_id,
            identity.batch_id - KEPT_BATCHES,
        )

    def close_to_others(self, connection: JdbcConnection) -> None:
        """Let no batch of a known query be committed to the table until the transaction ends."""
        statement = "update {ledger} set {generation} = {generation} where {table_name} = ?"
        self._execute(connection, statement, seconds=LOCK_SECONDS)

    def newest(self, connection: JdbcConnection, query_id: str) -> HeldBatch | None:
        """Give the newest batch of a query."""
        statement = "select max({batch_id}) from {ledger} where {table_name} = ? and {query_id} = ?"
        ((number,),) = self._rows(connection, statement, query_id)
        return None if number is None else self._batch(connection, query_id, int(number))

    def queries(self, connection: JdbcConnection) -> frozenset[str]:
        """Name the queries whose batches the table took."""
        statement = "select distinct {query_id} from {ledger} where {table_name} = ?"
        return frozenset(str(row[0]) for row in self._rows(connection, statement))

    def rows_by_batch(self, connection: JdbcConnection) -> dict[int, int]:
        """Give how many rows each remembered batch brought; for a table of one query."""
        statement = "select {batch_id}, {rows} from {ledger} where {table_name} = ?"
        return {int(batch): int(rows) for batch, rows in self._rows(connection, statement)}

    def forget_after(self, connection: JdbcConnection, batch_id: int) -> None:
        """Forget the batches after this one; -1 forgets all of the table."""
        statement = "delete from {ledger} where {table_name} = ? and {batch_id} > ?"
        self._execute(connection, statement, batch_id)

    def _batch(self, connection: JdbcConnection, query_id: str, batch_id: int) -> HeldBatch | None:
        found = self._rows(
            connection,
            "select {batch_id}, {generation}, {offsets_digest}, {rows} from {ledger} "
            "where {table_name} = ? and {query_id} = ? and {batch_id} = ?",
            query_id,
            batch_id,
        )
        for number, generation, digest, rows in found:
            return HeldBatch(int(number), int(generation), str(digest), int(rows))
        return None

    def _superseded(self, newest: HeldBatch, identity: BatchIdentity) -> SinkError:
        message = (
            f"generation {newest.generation} wrote batch {newest.batch_id} to {self._shown}; "
            f"this driver is generation {identity.generation}"
        )
        steps = (
            "stop this driver: another one runs the job now",
            "where the records beside the checkpoint were lost, and no other driver runs: see "
            "docs/reference/jdbc-ledger.md for how the ledger is told",
        )
        return SinkError("HF5042", message, at=self._shown, next_steps=steps)

    def _execute(
        self, connection: JdbcConnection, statement: str, *values: str | int, seconds: int = 0
    ) -> int:
        text = statement.format(**self._spelling)
        return connection.execute(text, self._target.name.table, *values, seconds=seconds)

    def _rows(
        self, connection: JdbcConnection, statement: str, *values: str | int
    ) -> list[tuple[Any, ...]]:
        text = statement.format(**self._spelling)
        return connection.rows(text, self._target.name.table, *values)
