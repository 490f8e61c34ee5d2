"""Moves staged rows into the table, with the batch's row in the ledger, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.crashpoints import reach
from holdfast.errors import SinkError
from holdfast.jobs.ready import ReadySink
from holdfast.ledgers.database.connection import execute, psycopg_here
from holdfast.ledgers.identity import BatchIdentity
from holdfast.spark.sinks.database.heldbatch import HeldBatch
from holdfast.spark.sinks.database.postgres.ledger import LedgerTable, set_up
from holdfast.spark.sinks.database.postgres.table import CAST, Target
from holdfast.spark.sinks.database.postgres.types import WrittenColumn
from holdfast.spark.sinks.database.staged import ATTEMPT, Staged

if TYPE_CHECKING:
    import psycopg


@dataclass(frozen=True)
class Move:
    """One batch that is staged and wants to be committed."""

    identity: BatchIdentity
    sink: ReadySink
    target: Target
    ledger: LedgerTable
    columns: Sequence[WrittenColumn]
    staging: str
    staged: Staged

    def commit(self, connection: psycopg.Connection[Any]) -> HeldBatch | None:
        """Commit rows and ledger row together; give the batch instead where it is held already."""
        with connection.transaction():
            set_up(connection)
            held = self._claimed(connection)
            if held is not None:
                return held
            reach("postgres.claimed")
            self._insert(connection)
            reach("postgres.moved")
            self.ledger.count(connection, self.identity, self.staged.rows)
            reach("sink.before-commit")
        reach("sink.after-commit")
        return None

    def _claimed(self, connection: psycopg.Connection[Any]) -> HeldBatch | None:
        held = self.ledger.held(connection, self.identity, lock=True)
        if held is not None or self.ledger.claim(connection, self.identity):
            return held
        held = self.ledger.held(connection, self.identity)
        if held is None:
            # Claimed by somebody, then taken back, within a moment.
            message = f"batch {self.identity.batch_id} is being committed by another driver"
            raise SinkError("HF5010", message, at=self.sink.at)
        return held

    def _insert(self, connection: psycopg.Connection[Any]) -> None:
        sql = psycopg_here().sql
        table = sql.Identifier(self.target.schema, self.target.table)
        if self.sink.mode == "complete":
            execute(connection, "delete from {}", table)
        if not self.staged.rows:
            return
        given, values = self._given()
        moved = execute(
            connection,
            "insert into {} ({}) select {} from {} where {} = any(%s){}",
            table,
            sql.SQL(", ").join(given),
            sql.SQL(", ").join(values),
            sql.Identifier(self.target.schema, self.staging),
            sql.Identifier(ATTEMPT),
            self._on_conflict(),
            values=(list(self.staged.attempts),),
        )
        if moved.rowcount != self.staged.rows:
            self._refuse_lost(connection)

    def _given(self) -> tuple[list[Any], list[Any]]:
        """Give the columns that are set, and what they are set to."""
        sql = psycopg_here().sql
        names = [sql.Identifier(column.name) for column in self.columns]
        values = [
            sql.SQL("{}::{}").format(name, sql.SQL(there)) if there in CAST else name
            for name, there in zip(
                names, (self.target.type_of(one.name) for one in self.columns), strict=True
            )
        ]
        if self.sink.batch_column is not None:
            names.append(sql.Identifier(self.sink.batch_column))
            values.append(sql.Literal(self.identity.batch_id))
        return names, values

    def _on_conflict(self) -> Any:
        sql = psycopg_here().sql
        if self.sink.mode != "upsert":
            return sql.SQL("")
        others = [one.name for one in self.columns if one.name not in self.sink.key]
        # A key alone is set to itself: every row then counts as moved.
        changes = [
            sql.SQL("{} = excluded.{}").format(sql.Identifier(name), sql.Identifier(name))
            for name in others or self.sink.key
        ]
        key = sql.SQL(", ").join(map(sql.Identifier, self.sink.key))
        return sql.SQL(" on conflict ({}) do update set {}").format(
            key, sql.SQL(", ").join(changes)
        )

    def _refuse_lost(self, connection: psycopg.Connection[Any]) -> None:
        """Raise where rows are missing in staging: a server that crashed empties such tables.

        Where they are all there, a trigger of the table's owner wanted fewer of them.
        """
        sql = psycopg_here().sql
        row = execute(
            connection,
            "select count(*) from {} where {} = any(%s)",
            sql.Identifier(self.target.schema, self.staging),
            sql.Identifier(ATTEMPT),
            values=(list(self.staged.attempts),),
        ).fetchone()
        there = 0 if row is None else row[0]
        if there != self.staged.rows:
            message = f"{there} of {self.staged.rows} staged rows are left"
            raise SinkError("HF5045", message, at=self.sink.at)
