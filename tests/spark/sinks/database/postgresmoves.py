"""Moves batches into PostgreSQL without Spark: rows are staged by hand, the rest is the sink's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from holdfast.jobs.ready import ReadySink
from holdfast.ledgers.database.connection import PostgresAddress
from holdfast.ledgers.identity import BatchIdentity
from holdfast.spark.sinks.database.dialect import DatabaseConnection, StagedRows
from holdfast.spark.sinks.database.dialects.postgres.connection import SPELLING
from holdfast.spark.sinks.database.dialects.postgres.dialect import PostgresDialect
from holdfast.spark.sinks.database.ledger import DatabaseLedger
from holdfast.spark.sinks.database.rewinding import TakeBack, rewound_column
from holdfast.spark.sinks.database.staging import ATTEMPT, BatchMove
from holdfast.spark.sinks.database.table import WrittenColumn, WrittenTable
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
    dialect: PostgresDialect = field(init=False)
    ledger: DatabaseLedger = field(init=False)

    def __post_init__(self) -> None:
        address = PostgresAddress(self.uri, self.schema, self.table, "the table")
        self.dialect = PostgresDialect(self.sink, address)
        self.ledger = DatabaseLedger(self.dialect, self.place)

    @property
    def place(self) -> WrittenTable:
        """Where the table is."""
        return WrittenTable(SPELLING, self.schema, self.table)

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
        return (self.dialect.number_column(self.column),)

    def connected(self) -> Any:
        """Connect as the sink does."""
        return self.dialect.connected()

    def identity(self, batch_id: int, digest: str = "d") -> BatchIdentity:
        """Give the identity under which this driver brings a batch."""
        known = identity(batch_id, digest, generation=self.generation)
        return BatchIdentity(self.query_id, batch_id, self.generation, known.offsets_digest)

    def staged(self, batch_id: int, rows: Sequence[int] = (1,), digest: str = "d") -> BatchMove:
        """Ask the ledger, make what is missing and stage a batch, up to the transaction."""
        staging = f"staging_{self.generation}_{batch_id}"
        known = self.identity(batch_id, digest)
        with self.connected() as connection:
            self.ledger.open(connection)
            table = self.target(connection)
            self.ledger.create(connection)
            found = self.ledger.committed(connection, known)
            assert found is None, found
            parts = (f"{ATTEMPT} bigint", f"{SPELLING.quoted(self.column)} bigint")
            connection.create_table(table, staging, parts, is_staging=True)
            for row in rows:
                values = f"values ({ATTEMPT_NUMBER}, {row})"
                connection.execute(f"insert into {table.beside(staging)} {values}")
        return BatchMove(
            identity=known,
            sink=self.sink,
            dialect=self.dialect,
            table=table,
            ledger=self.ledger,
            columns=self.columns,
            staging=staging,
            staged=StagedRows((ATTEMPT_NUMBER,), len(rows)),
        )

    def target(self, connection: DatabaseConnection) -> WrittenTable:
        """Give the table, made where it is missing."""
        names = [self.column, *([] if self.batch_column is None else [self.batch_column])]
        parts = [f"{SPELLING.quoted(name)} bigint" for name in names]
        if self.key:
            parts.append(f"primary key ({', '.join(map(SPELLING.quoted, self.key))})")
        connection.create_table(self.place, self.table, parts)
        found = connection.find(self.place)
        assert found.columns is not None
        return found

    def commit(self, move: BatchMove) -> Any:
        """Commit a staged batch; drop its staging table whatever becomes of it."""
        with self.connected() as connection:
            try:
                return move.commit(connection)
            finally:
                connection.execute(f"drop table if exists {self.place.beside(move.staging)}")

    def write(self, batch_id: int, rows: Sequence[int] = (1,), digest: str = "d") -> Any:
        """Stage and commit a batch."""
        return self.commit(self.staged(batch_id, rows, digest))

    def rewind(self, batch_id: int) -> None:
        """Take back every batch after this one under this driver's generation."""
        with self.connected() as connection:
            column = rewound_column(self.sink)
            self._take_back(connection).rewind(connection, self.query_id, batch_id, column)

    def clear(self, *queries: str) -> None:
        """Take everything back under this driver's generation: of these queries, or of the one."""
        with self.connected() as connection:
            self._take_back(connection).clear(connection, queries or None)

    def _take_back(self, connection: DatabaseConnection) -> TakeBack:
        self.ledger.create(connection)
        return TakeBack(
            sink=self.sink,
            ledger=self.ledger,
            find=partial(connection.find, self.place),
            lock_table=self.dialect.traits.lock_table,
            generation=self.generation,
        )
