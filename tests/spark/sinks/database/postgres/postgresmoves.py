"""Moves batches into PostgreSQL without Spark: rows are staged by hand, the rest is the sink's."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import psycopg
from psycopg import sql

from holdfast.jobs.ready import ReadySink
from holdfast.ledgers.database.connection import connected
from holdfast.ledgers.identity import BatchIdentity
from holdfast.spark.sinks.database.batchcolumn import rewound_column
from holdfast.spark.sinks.database.postgres.ledger import LedgerTable
from holdfast.spark.sinks.database.postgres.move import Move
from holdfast.spark.sinks.database.postgres.rewinding import clear_table, take_back
from holdfast.spark.sinks.database.postgres.table import Target, create_table, find_table
from holdfast.spark.sinks.database.postgres.types import WrittenColumn
from holdfast.spark.sinks.database.staged import ATTEMPT, Staged
from tests.spark.sinks.deliveries import AT, QUERY, identity

ATTEMPT_NUMBER = 7


@dataclass
class Driver:
    """One driver of a job: what it knows of the table is its own."""

    uri: str
    table: str = "readings"
    schema: str = "public"
    column: str = "value"
    mode: str = "append"
    key: tuple[str, ...] = ()
    batch_column: str | None = "batch"
    generation: int = 1
    query_id: str = QUERY
    ledger: LedgerTable = field(init=False)

    def __post_init__(self) -> None:
        self.ledger = LedgerTable(self.schema, self.table, "the table")

    @property
    def sink(self) -> ReadySink:
        """The sink as it is declared."""
        return ReadySink(
            "postgres", self.mode, AT, table=self.table, key=self.key,
            batch_column=self.batch_column,
        )  # fmt: skip

    @property
    def columns(self) -> tuple[WrittenColumn, ...]:
        """The columns of the rows."""
        return (WrittenColumn(self.column, "bigint"),)

    def connected(self) -> Any:
        """Connect as the sink does."""
        return closing(connected(self.uri))

    def identity(self, batch_id: int, digest: str = "d") -> BatchIdentity:
        """Give the identity under which this driver brings a batch."""
        known = identity(batch_id, digest, generation=self.generation)
        return BatchIdentity(self.query_id, batch_id, self.generation, known.offsets_digest)

    def staged(self, batch_id: int, rows: Sequence[int] = (1,), digest: str = "d") -> Move:
        """Ask the ledger, make what is missing and stage a batch, up to the transaction."""
        staging = f"staging_{self.generation}_{batch_id}"
        with self.connected() as connection:
            self.ledger.open(connection)
            target = self.target(connection)
            self.ledger.create(connection)
            held = self.ledger.held(connection, self.identity(batch_id, digest))
            assert held is None, held
            every = (WrittenColumn(ATTEMPT, "bigint"), *self.columns)
            create_table(connection, self.schema, staging, every, unlogged=True)
            table = sql.Identifier(self.schema, staging)
            for row in rows:
                statement = sql.SQL("insert into {} values ({}, {})")
                connection.execute(statement.format(table, ATTEMPT_NUMBER, row))
        staged = Staged((ATTEMPT_NUMBER,), len(rows))
        known = self.identity(batch_id, digest)
        return Move(known, self.sink, target, self.ledger, self.columns, staging, staged)

    def target(self, connection: psycopg.Connection[Any]) -> Target:
        """Give the table, made where it is missing."""
        every = self.columns
        if self.batch_column is not None:
            every = (*every, WrittenColumn(self.batch_column, "bigint"))
        create_table(connection, self.schema, self.table, every, self.key)
        found = find_table(connection, self.schema, self.table, self.sink)
        assert found is not None
        return found

    def commit(self, move: Move) -> Any:
        """Commit a staged batch; drop its staging table whatever becomes of it."""
        with self.connected() as connection:
            try:
                return move.commit(connection)
            finally:
                table = sql.Identifier(self.schema, move.staging)
                connection.execute(sql.SQL("drop table if exists {}").format(table))

    def write(self, batch_id: int, rows: Sequence[int] = (1,), digest: str = "d") -> Any:
        """Stage and commit a batch."""
        return self.commit(self.staged(batch_id, rows, digest))

    def rewind(self, batch_id: int) -> None:
        """Take back every batch after this one under this driver's generation."""
        with self.connected() as connection:
            self.ledger.create(connection)
            find = partial(find_table, connection, self.schema, self.table, self.sink)
            take_back(
                connection, find, self.ledger, self.sink, self.query_id, batch_id,
                rewound_column(self.sink), generation=self.generation,
            )  # fmt: skip

    def clear(self) -> None:
        """Take everything back under this driver's generation."""
        with self.connected() as connection:
            self.ledger.create(connection)
            find = partial(find_table, connection, self.schema, self.table, self.sink)
            clear_table(connection, find, self.ledger, self.sink, generation=self.generation)
