"""Writes batches to a table of a database: each one exactly once, never two versions of a batch.

Executors load a staging table in parallel; one transaction on the driver moves its rows and writes
the ledger row. Whatever becomes of the answer to its COMMIT, the ledger is asked, not memory. How
the database is reached, and how rows get into staging, is the dialect's affair.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from holdfast.crashpoints import reach
from holdfast.errors import SinkError
from holdfast.jobs.ready import ReadySink
from holdfast.ledgers.identity import BatchIdentity
from holdfast.ledgers.sinkstate import (
    NO_QUERY_YET,
    CommittedOffsets,
    LastCommitted,
    SinkAnswer,
    SinkState,
)
from holdfast.spark.sinks.database.dialect import (
    DatabaseConnection,
    DatabaseFailure,
    Dialect,
    sink_error,
)
from holdfast.spark.sinks.database.ledger import DatabaseLedger
from holdfast.spark.sinks.database.ledgerstate import CommittedBatch, TableWatch, complete_sight
from holdfast.spark.sinks.database.rewinding import TakeBack, rewound_column
from holdfast.spark.sinks.database.staging import BatchMove, StagingTables
from holdfast.spark.sinks.database.table import WrittenColumn, WrittenTable, check_fit
from holdfast.spark.sinks.database.wallclock import TableZone, promised_in
from holdfast.spark.sinks.rowchecks import check_columns, rows_to_write
from holdfast.spark.sinks.sink import Delivery, skip

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

COMMIT_ATTEMPTS = 4
"""How often a transaction is tried that a lost connection or other writers broke."""
_FIRST_PAUSE_SECONDS = 0.2
_PROMISE = (
    "exactly once. A batch already in the ledger is skipped; the same batch id with "
    "different offsets, or a batch of an older driver, stops the job"
)
Columns = tuple[WrittenColumn, ...]


class DatabaseSink:
    """A table that takes the batches of one job."""

    def __init__(
        self, sink: ReadySink, dialect: Dialect, session: SparkSession | None = None
    ) -> None:
        self.kind = dialect.traits.kind
        self.promise = _PROMISE
        self.identity: str | None = dialect.shown
        self._sink = sink
        self._dialect = dialect
        self._staging = StagingTables(dialect)
        self._ledgers: dict[str, DatabaseLedger] = {}
        self._watch = TableWatch(sink, dialect.shown)
        self._zone = TableZone(session, dialect.shown)

    def prepare(self, schema: StructType, *, begun: bool) -> None:  # noqa: ARG002 - leaves no files
        """Refuse rows that the table can't take, and a table that is none; nothing is written."""
        columns = self._columns(schema)
        with self._connected() as connection:
            place = connection.locate()
            self._dialect.settle(place)
            known = self._ledger_of(place).open(connection)
            table = connection.find(place)
        self._watch.note(table.incarnation)
        if table.columns is not None:
            columns = self._fitted(columns, table)
            self._zone.agree(columns, known.zone)
            self.promise = promised_in(_PROMISE, columns)

    def write(self, batch: DataFrame, identity: BatchIdentity) -> Delivery:
        """Commit the batch's rows and its ledger row in one transaction, or skip it."""
        kind, columns = self.kind, self._columns(batch.schema)
        if self._has_committed(identity):
            return skip(batch)
        with rows_to_write(batch, self._sink) as rows:
            # A connection that idles while Spark loads is one that may be lost.
            with self._connected() as connection:
                table, ledger, columns = self._made(connection, columns)
                staging = self._staging.create(
                    connection, table, columns, identity=identity, ledger=ledger
                )
            with self._staging.dropped_after(table):
                reach(f"{kind}.staging-made")
                staged = self._dialect.load(rows, table, staging, columns)
                reach(f"{kind}.staged")
                move = BatchMove(
                    identity=identity,
                    sink=self._sink,
                    dialect=self._dialect,
                    table=table,
                    ledger=ledger,
                    columns=columns,
                    staging=staging,
                    staged=staged,
                )
                delivery = self._commit(move)
        reach(f"{kind}.tidied")
        return delivery

    def last_committed(self, query_id: str) -> LastCommitted:
        """Return the newest batch that the table holds of this query; never raises."""
        return self._dialect.memory().last_committed(query_id)

    def offsets_of(self, query_id: str, batch_id: int) -> CommittedOffsets:
        """Return what the ledger has of one batch; never raises."""
        return self._dialect.memory().offsets_of(query_id, batch_id)

    def queries(self) -> frozenset[str]:
        """Name every query that the ledger knows; empty where it can't be asked."""
        return self._dialect.memory().queries()

    def sight(self, query_id: str | None) -> SinkState:
        """Return what is at the table's place and what the ledger holds of the query."""
        last = LastCommitted.nothing(NO_QUERY_YET)
        if query_id is not None:
            last = self.last_committed(query_id)
        with self._connected() as connection:
            place = connection.locate()
            sight = connection.look(place, last)
            ledger = self._ledger_of(place)
            if (
                query_id is None
                or last.answer is SinkAnswer.UNKNOWN
                or not ledger.exists(connection)
            ):
                return sight
            return complete_sight(sight, ledger, connection, query_id, mode=self._sink.mode)

    def rewind(self, query_id: str, batch_id: int, *, generation: int) -> None:
        """Take back every batch after this one, or raise HF5011 with nothing changed."""
        column = rewound_column(self._sink)
        with self._connected() as connection:
            take_back = self._take_back(connection, generation)
            take_back.rewind(connection, query_id, batch_id, column)

    def clear(self, *, generation: int, queries: Collection[str] | None = None) -> None:
        """Remove every row and the whole memory of batches; refused where foreign rows are."""
        with self._connected() as connection:
            self._take_back(connection, generation).clear(connection, queries)

    def fence(self, query_id: str | None, *, generation: int) -> None:
        """Lock older drivers of this query out; of every query where no batch is there."""
        with self._connected() as connection:
            self._take_back(connection, generation).fence(connection, query_id)

    def _take_back(self, connection: DatabaseConnection, generation: int) -> TakeBack:
        """Return what takes batches back, with a ledger, which may be empty.

        A driver that has not made one yet can come late as well: it is made for the fence.
        """
        place = connection.locate()
        connection.find(place)  # What can't be a table is refused before a ledger is made there.
        ledger = self._ledger_of(place)
        ledger.create(connection)
        return TakeBack(
            sink=self._sink,
            ledger=ledger,
            find=partial(connection.find, place),
            lock_table=self._dialect.traits.lock_table,
            generation=generation,
        )

    def _columns(self, schema: StructType) -> Columns:
        check_columns(schema, self._sink)
        columns = self._dialect.columns(schema)
        own = (*self._dialect.traits.reserved_columns, *(one.name for one in self._batch_column()))
        lower = {name.lower() for name in own}
        taken = [column.name for column in columns if column.name.lower() in lower]
        if taken:
            message = f"the rows have the column {taken[0]}, which the sink fills itself"
            step = "rename it in the transform, or name another `batch_column`"
            raise SinkError("HF5005", message, at=self._sink.at, next_steps=(step,))
        return columns

    def _batch_column(self) -> Columns:
        name = self._sink.batch_column
        return () if name is None else (self._dialect.number_column(name),)

    def _has_committed(self, identity: BatchIdentity) -> bool:
        with self._connected() as connection:
            ledger = self._ledger_of(connection.locate())
            if not ledger.exists(connection):
                ledger.open(connection)
                return False
            if ledger.committed(connection, identity) is None:
                return False
            if self._sink.mode != "complete":
                ledger.remember(identity)
            return True

    def _ledger_of(self, table: WrittenTable) -> DatabaseLedger:
        """Return the ledger beside a table, the same one as long as the driver lives."""
        if table.spelled not in self._ledgers:
            self._ledgers[table.spelled] = DatabaseLedger(self._dialect, table)
        return self._ledgers[table.spelled]

    def _made(
        self, connection: DatabaseConnection, columns: Columns
    ) -> tuple[WrittenTable, DatabaseLedger, Columns]:
        """Make table and ledger for the first batch; refuse rows that do not fit.

        The columns are returned as the table has them.
        """
        table = connection.find(connection.locate())
        self._watch.refuse_other(table.incarnation)
        if table.columns is None:
            self._create(connection, table, columns)
            table = connection.find(table)
        if table.columns is None:
            message = f"{self.identity} disappeared while it was created"
            raise SinkError(self._dialect.traits.refused, message, at=self._sink.at)
        self._watch.note(table.incarnation)
        columns = self._fitted(columns, table)
        ledger = self._ledger_of(table)
        ledger.create(connection)
        self._zone.keep(connection, ledger, columns)
        self.promise = promised_in(_PROMISE, columns)
        return table, ledger, columns

    def _create(
        self, connection: DatabaseConnection, table: WrittenTable, columns: Columns
    ) -> None:
        """Create the table that rows go to; an upsert's key becomes its primary key."""
        key, quoted = self._sink.key, table.spelling.quoted
        parts = [
            f"{quoted(one.name)} {one.made}{' not null' if one.name in key else ''}"
            for one in (*columns, *self._batch_column())
        ]
        if key:
            parts.append(f"primary key ({', '.join(map(quoted, key))})")
        connection.create_table(table, table.name, parts)

    def _fitted(self, columns: Columns, table: WrittenTable) -> Columns:
        """Return the columns as the table has them; refuse rows that do not fit."""
        fitted = self._dialect.fitted(columns, table, self._zone.name)
        every = (*fitted, *self._batch_column())
        check_fit(every, table, self._dialect.traits.rules, self._sink)
        return fitted

    def _commit(self, move: BatchMove) -> Delivery:
        """Commit; after a failure ask again, on a new connection, whether it had happened.

        The transaction begins with the claim of the batch's row in the ledger: it waits for one
        that is still being committed, and finds the batch where it was.
        """
        for attempt in range(COMMIT_ATTEMPTS):
            try:
                with self._dialect.connected() as connection:
                    found = move.commit(connection)
                return _delivery(move, found, asked_again=attempt > 0)
            except DatabaseFailure as failure:
                may_pass = failure.lost or failure.contended
                if not may_pass or attempt + 1 == COMMIT_ATTEMPTS:
                    raise self._error(failure) from failure
                time.sleep(_FIRST_PAUSE_SECONDS * 2**attempt)
        raise AssertionError("every attempt returns or raises")

    @contextmanager
    def _connected(self) -> Iterator[DatabaseConnection]:
        """Connect; whatever the database raises becomes an error of the sink."""
        try:
            with self._dialect.connected() as connection:
                yield connection
        except DatabaseFailure as failure:
            raise self._error(failure) from failure

    def _error(self, failure: DatabaseFailure) -> SinkError:
        return sink_error(failure, self._dialect, self._sink.at)


def _delivery(move: BatchMove, found: CommittedBatch | None, *, asked_again: bool) -> Delivery:
    """Return whether a batch was written by us: now, or by a commit whose answer was lost."""
    if found is None:
        return Delivery(skipped=False, rows=move.staged.rows)
    ours = asked_again and found.generation == move.identity.generation
    return Delivery(skipped=not ours, rows=found.rows if ours else None)
