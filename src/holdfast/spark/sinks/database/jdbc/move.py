"""Moves staged rows into a table, with the batch's row in the ledger, in one JDBC transaction.

It holds DELETE, INSERT and UPDATE alone: in some databases anything else commits on its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from holdfast.crashpoints import reach
from holdfast.errors import SinkError
from holdfast.jobs.ready import ReadySink
from holdfast.ledgers.identity import BatchIdentity
from holdfast.spark.sinks.database.heldbatch import HeldBatch
from holdfast.spark.sinks.database.jdbc.connection import JdbcConnection
from holdfast.spark.sinks.database.jdbc.failure import JdbcFailure
from holdfast.spark.sinks.database.jdbc.ledger import JdbcLedger
from holdfast.spark.sinks.database.jdbc.staging import staging_names
from holdfast.spark.sinks.database.jdbc.table import Target
from holdfast.spark.sinks.database.jdbc.types import JdbcColumn
from holdfast.spark.sinks.database.staged import Staged

_ATTEMPTS_AT_ONCE = 500
"""Databases bound how many values a list in a statement has."""


@dataclass(frozen=True)
class JdbcMove:
    """One batch that is staged and wants to be committed."""

    identity: BatchIdentity
    sink: ReadySink
    target: Target
    ledger: JdbcLedger
    columns: Sequence[JdbcColumn]
    staging: str
    staged: Staged

    def commit(self, connection: JdbcConnection) -> HeldBatch | None:
        """Commit rows and ledger row together; give the batch instead where it is held already."""
        with connection.transaction():
            held = self.ledger.held(connection, self.identity, lock=True)
            if held is not None:
                return held
            self._claim(connection)
            reach("jdbc.claimed")
            if self.sink.mode == "complete":
                connection.execute(f"delete from {self.target.spelled}")
            moved = sum(self._moved(connection, winners) for winners in self._winners())
            if moved != self.staged.rows:
                self._refuse_lost(connection)
            reach("jdbc.moved")
            self.ledger.count(connection, self.identity, self.staged.rows)
            reach("sink.before-commit")
        reach("sink.after-commit")
        return None

    def _claim(self, connection: JdbcConnection) -> None:
        try:
            self.ledger.claim(connection, self.identity)
        except JdbcFailure as failure:
            if not failure.duplicate:
                raise
            # Another driver's row came first: asked again, the ledger tells which.
            raise failure.as_contended() from failure

    def _winners(self) -> Iterator[str]:
        """Give the condition that a staged row is of an attempt that won, in pieces."""
        names = self.target.names
        column = f"{names.own(self.staging)}.{names.own(staging_names(())[0])}"
        attempts = self.staged.attempts
        for first in range(0, len(attempts), _ATTEMPTS_AT_ONCE):
            numbers = map(str, map(int, attempts[first : first + _ATTEMPTS_AT_ONCE]))
            yield f"{column} in ({', '.join(numbers)})"

    def _moved(self, connection: JdbcConnection, winners: str) -> int:
        names, target = self.target.names, self.target
        staging = target.beside(self.staging)
        staged = [names.own(one) for one in staging_names(self.columns)[1:]]
        if self.sink.mode == "upsert":
            same = " and ".join(self._same_key())
            found = f"select 1 from {staging} where {same} and {winners}"
            connection.execute(f"delete from {target.spelled} where exists ({found})")
        given = [names.quoted(target.column(one.name)) for one in self.columns]
        values = list(staged)
        if self.sink.batch_column is not None:
            given.append(names.quoted(target.column(self.sink.batch_column)))
            values.append(str(int(self.identity.batch_id)))
        return connection.execute(
            f"insert into {target.spelled} ({', '.join(given)}) "
            f"select {', '.join(values)} from {staging} where {winners}"
        )

    def _same_key(self) -> Iterator[str]:
        names, target = self.target.names, self.target
        staging, table = names.own(self.staging), names.quoted(target.name.table)
        staged = dict(zip((one.name for one in self.columns), staging_names(self.columns)[1:],
                          strict=True))  # fmt: skip
        for key in self.sink.key:
            there = names.quoted(target.column(key))
            yield f"{staging}.{names.own(staged[key])} = {table}.{there}"

    def _refuse_lost(self, connection: JdbcConnection) -> None:
        """Raise where staged rows are missing.

        Where they are all there, a trigger of the table's owner wanted fewer of them.
        """
        staging = self.target.beside(self.staging)
        there = sum(
            int(connection.rows(f"select count(*) from {staging} where {winners}")[0][0])
            for winners in self._winners()
        )
        if there != self.staged.rows:
            message = f"{there} of {self.staged.rows} staged rows are left"
            raise SinkError("HF5073", message, at=self.sink.at)
