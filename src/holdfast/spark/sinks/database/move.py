"""Moves staged rows into the table, with the batch's row in the ledger, in one transaction.

It holds DELETE, INSERT and UPDATE alone: in some databases anything else commits on its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from holdfast.crashpoints import reach
from holdfast.errors import SinkError
from holdfast.jobs.ready import ReadySink
from holdfast.ledgers.identity import BatchIdentity
from holdfast.spark.sinks.database.dialect import DatabaseConnection, Dialect, StagedRows
from holdfast.spark.sinks.database.ledger import DatabaseLedger
from holdfast.spark.sinks.database.ledgerstate import CommittedBatch
from holdfast.spark.sinks.database.staging import ATTEMPT
from holdfast.spark.sinks.database.table import WrittenColumn, WrittenTable


@dataclass(frozen=True, kw_only=True)
class BatchMove:
    """One batch that is staged and wants to be committed."""

    identity: BatchIdentity
    sink: ReadySink
    dialect: Dialect
    table: WrittenTable
    ledger: DatabaseLedger
    columns: Sequence[WrittenColumn]
    staging: str
    staged: StagedRows

    def commit(self, connection: DatabaseConnection) -> CommittedBatch | None:
        """Commit rows and ledger row together; return the batch where it is in the table."""
        with connection.transaction():
            found = self._claimed(connection)
            if found is None:
                self._write(connection)
        if found is None:
            reach("sink.after-commit")
        # In mode complete the next batch writes all of it again.
        if self.sink.mode != "complete":
            self.ledger.remember(self.identity)
        return found

    def _write(self, connection: DatabaseConnection) -> None:
        kind = self.dialect.traits.kind
        reach(f"{kind}.claimed")
        self._insert(connection)
        reach(f"{kind}.moved")
        self.ledger.count(connection, self.identity, self.staged.rows)
        reach("sink.before-commit")

    def _claimed(self, connection: DatabaseConnection) -> CommittedBatch | None:
        found = self.ledger.committed(connection, self.identity, lock=True)
        if found is not None or self.ledger.claim(connection, self.identity):
            return found
        found = self.ledger.committed(connection, self.identity)
        if found is None:
            # Claimed by somebody, then taken back, within a moment.
            message = f"batch {self.identity.batch_id} is being committed by another driver"
            raise SinkError("HF5010", message, at=self.sink.at)
        return found

    def _insert(self, connection: DatabaseConnection) -> None:
        if self.sink.mode == "complete":
            connection.execute(f"delete from {self.table.spelled}")
        moved = sum(self._moved(connection, winners) for winners in self._winners())
        if moved != self.staged.rows:
            self._refuse_lost(connection)

    def _winners(self) -> Iterator[str]:
        """Yield the condition that a staged row is of an attempt that won, in pieces."""
        own, most = self.table.spelling.own, self.dialect.traits.longest_list
        attempts = self.staged.attempts
        for first in range(0, len(attempts), most):
            numbers = map(str, map(int, attempts[first : first + most]))
            yield f"{own(self.staging)}.{own(ATTEMPT)} in ({', '.join(numbers)})"

    def _moved(self, connection: DatabaseConnection, winners: str) -> int:
        table, quoted = self.table, self.table.spelling.quoted
        staging, upsert = table.beside(self.staging), ""
        if self.sink.mode == "upsert":
            upsert = self._upserting(connection, winners)
        given = [table.column(one.name) for one in self.columns]
        values = [self.dialect.moved(quoted(one.staged_name), one, table) for one in self.columns]
        if self.sink.batch_column is not None:
            given.append(table.column(self.sink.batch_column))
            values.append(str(int(self.identity.batch_id)))
        return connection.execute(
            f"insert into {table.spelled} ({', '.join(given)}) "
            f"select {', '.join(values)} from {staging} where {winners}{upsert}"
        )

    def _upserting(self, connection: DatabaseConnection, winners: str) -> str:
        """Return how the INSERT ends; where nothing makes it an upsert, delete the old rows."""
        table, key = self.table, self.sink.key
        others = [table.column(one.name) for one in self.columns if one.name not in key]
        ending = self.dialect.on_conflict([table.column(one) for one in key], others)
        if ending is not None:
            return ending
        same = " and ".join(self._same_key())
        found = f"select 1 from {table.beside(self.staging)} where {same} and {winners}"
        connection.execute(f"delete from {table.spelled} where exists ({found})")
        return ""

    def _same_key(self) -> Iterator[str]:
        spelling = self.table.spelling
        staging, table = spelling.own(self.staging), spelling.quoted(self.table.name)
        for one in self.columns:
            if one.name in self.sink.key:
                staged = f"{staging}.{spelling.quoted(one.staged_name)}"
                yield f"{staged} = {table}.{self.table.column(one.name)}"

    def _refuse_lost(self, connection: DatabaseConnection) -> None:
        """Raise where rows are missing in staging: a server that crashed may empty such tables.

        Where they are all there, a trigger of the table's owner wanted fewer of them.
        """
        staging = self.table.beside(self.staging)
        there = sum(
            int(connection.rows(f"select count(*) from {staging} where {winners}")[0][0])
            for winners in self._winners()
        )
        if there != self.staged.rows:
            message = f"{there} of {self.staged.rows} staged rows are left"
            raise SinkError(self.dialect.traits.staging_lost, message, at=self.sink.at)
