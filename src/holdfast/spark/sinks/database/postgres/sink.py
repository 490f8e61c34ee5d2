"""Writes batches to a PostgreSQL table: each one exactly once, never two versions of a batch.

Executors load a staging table in parallel; one transaction on the driver moves its rows and writes
the ledger row. Whatever becomes of the answer to its COMMIT, the ledger is asked, not memory.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from holdfast.crashpoints import reach
from holdfast.errors import SinkError
from holdfast.jobs.ready import ReadySink
from holdfast.ledgers.database.address import PostgresAddress
from holdfast.ledgers.database.connection import connected, psycopg_here, words_of
from holdfast.ledgers.database.postgres import PostgresLedger, schema_of
from holdfast.ledgers.database.sight import look_at_table
from holdfast.ledgers.heldoffsets import HeldOffsets
from holdfast.ledgers.identity import BatchIdentity
from holdfast.ledgers.lastcommitted import Answer, LastCommitted
from holdfast.ledgers.sinksight import NO_QUERY_YET, SinkSight
from holdfast.spark.sinks.database.batchcolumn import rewound_column
from holdfast.spark.sinks.database.heldbatch import delivery_of
from holdfast.spark.sinks.database.postgres.ledger import LedgerTable
from holdfast.spark.sinks.database.postgres.move import Move
from holdfast.spark.sinks.database.postgres.rewinding import FindTable, clear_table, take_back
from holdfast.spark.sinks.database.postgres.staging import stage
from holdfast.spark.sinks.database.postgres.stagingtables import StagingTables
from holdfast.spark.sinks.database.postgres.table import Target, check_fit, create_table, find_table
from holdfast.spark.sinks.database.postgres.types import (
    WrittenColumn,
    check_name,
    in_zone,
    written_columns,
)
from holdfast.spark.sinks.database.staged import ATTEMPT
from holdfast.spark.sinks.database.tablesight import TableWatch, seen_with
from holdfast.spark.sinks.database.wallclock import promised_in, refuse_other_zone, writing_zone
from holdfast.spark.sinks.keys import rows_to_write
from holdfast.spark.sinks.sink import Delivery
from holdfast.spark.sinks.skipping import skip
from holdfast.spark.sinks.tablefit import check_columns

if TYPE_CHECKING:
    import psycopg
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

ATTEMPTS = 4
"""How often a transaction is tried that a lost connection or other writers broke."""
_FIRST_PAUSE_SECONDS = 0.2


class PostgresSink:
    """A PostgreSQL table that takes the batches of one job."""

    kind = "postgres"
    _promise = (
        "every batch once: one that the ledger holds with the same offsets is skipped, one with "
        "other offsets or of an older driver stops the job"
    )

    def __init__(
        self, sink: ReadySink, address: PostgresAddress, session: SparkSession | None = None
    ) -> None:
        self.promise = self._promise
        self._session = session
        self._kept_zone: str | None = None
        self._sink = sink
        self._address = address
        self._psycopg = psycopg_here(sink.at)
        self._staging_tables = StagingTables(address.conninfo, address.table)
        self._ledgers: dict[str, LedgerTable] = {}
        self._watch = TableWatch(sink, address.shown)
        self.identity: str | None = address.shown

    def prepare(self, schema: StructType, *, begun: bool) -> None:  # noqa: ARG002 - leaves no files
        """Refuse rows that the table can't take, and a table that is none; nothing is written."""
        columns = self._columns(schema)
        with self._connected() as connection:
            name, ledger = self._ledger(connection)
            # Resolved once: a search path that changes later must not move the table.
            self._address = replace(self._address, schema=name)
            known = ledger.open(connection)
            target = find_table(connection, name, self._address.table, self._sink)
        self._watch.note(None if target is None else target.incarnation)
        if target is not None:
            columns = self._fitted(columns, target)
            check_fit(self._with_batch(columns), target, self._sink)
            self._agree(columns, known.zone)

    def write(self, batch: DataFrame, identity: BatchIdentity) -> Delivery:
        """Commit the batch's rows and its ledger row in one transaction, or skip it."""
        columns = self._columns(batch.schema)
        if self._holds(identity):
            return skip(batch)
        with rows_to_write(batch, self._sink) as rows, self._connected() as connection:
            target, ledger, columns = self._made(connection, columns)
            fresh = self._staging_tables.fresh(
                connection, target.schema, columns, identity, partial(ledger.fences, connection)
            )
            with fresh as staging:
                table = (target.schema, staging)
                staged = stage(rows, self._address.conninfo, table, columns, self._sink.at)
                reach("postgres.staged")
                move = Move(identity, self._sink, target, ledger, columns, staging, staged)
                delivery = self._committed(move)
        reach("postgres.tidied")
        return delivery

    def last_committed(self, query_id: str) -> LastCommitted:
        """Give the newest batch that the table holds of this query, without Spark; never raises."""
        return PostgresLedger(self._address).last_committed(query_id)

    def offsets_of(self, query_id: str, batch_id: int) -> HeldOffsets:
        """Return what the ledger has of one batch; never raises."""
        return PostgresLedger(self._address).offsets_of(query_id, batch_id)

    def sight(self, query_id: str | None) -> SinkSight:
        """Return what is at the table's address and what the ledger holds of the query."""
        held = LastCommitted.nothing(NO_QUERY_YET)
        if query_id is not None:
            held = self.last_committed(query_id)
        with self._connected() as connection:
            schema, ledger = self._ledger(connection)
            sight = look_at_table(connection, self._address, schema, held)
            if query_id is None or held.answer is Answer.UNKNOWN:
                return sight
            try:
                return seen_with(sight, ledger, connection, query_id, self._sink.mode)
            except self._psycopg.errors.UndefinedTable:
                return sight  # there is no ledger yet

    def queries(self) -> frozenset[str]:
        """Name every query that the ledger knows; empty where it can't be asked."""
        return PostgresLedger(self._address).queries()

    def rewind(self, query_id: str, batch_id: int, *, generation: int) -> None:
        """Take back every batch after this one, or raise HF5011 with nothing changed."""
        column = rewound_column(self._sink)
        with self._connected() as connection:
            found = (*self._there(connection), self._sink)
            take_back(connection, *found, query_id, batch_id, column, generation=generation)

    def clear(self, *, generation: int) -> None:
        """Remove every row and the whole memory of batches; refused where foreign rows are."""
        with self._connected() as connection:
            found = (*self._there(connection), self._sink)
            clear_table(connection, *found, generation=generation)

    def _there(self, connection: psycopg.Connection[Any]) -> tuple[FindTable, LedgerTable]:
        """Give what finds the table where there is one, and a ledger, which may be empty.

        A driver that has not made them yet can come late as well: the ledger is made for the fence.
        """
        schema, ledger = self._ledger(connection)
        find = partial(find_table, connection, schema, self._address.table, self._sink)
        find()  # What can't be a table is refused before a ledger is made beside it.
        self._once(lambda: ledger.create(connection))
        return find, ledger

    def _columns(self, schema: StructType) -> tuple[WrittenColumn, ...]:
        check_columns(schema, self._sink)
        columns = written_columns(schema, self._sink)
        if self._sink.batch_column is not None:
            check_name(self._sink.batch_column, self._sink)
        own = {name.lower() for name in (ATTEMPT, self._sink.batch_column) if name is not None}
        taken = [column.name for column in columns if column.name.lower() in own]
        if taken:
            message = f"the rows have the column {taken[0]}, which the sink fills itself"
            step = "rename it in the transform, or name another `batch_column`"
            raise SinkError("HF5005", message, at=self._sink.at, next_steps=(step,))
        return columns

    def _with_batch(self, columns: tuple[WrittenColumn, ...]) -> tuple[WrittenColumn, ...]:
        if self._sink.batch_column is None:
            return columns
        return (*columns, WrittenColumn(self._sink.batch_column, "bigint"))

    def _holds(self, identity: BatchIdentity) -> bool:
        with self._connected() as connection:
            _, ledger = self._ledger(connection)
            try:
                return ledger.held(connection, identity) is not None
            except self._psycopg.errors.UndefinedTable:
                ledger.open(connection)
                return False

    def _ledger(self, connection: psycopg.Connection[Any]) -> tuple[str, LedgerTable]:
        """Give the schema and its ledger, the same one as long as the driver lives."""
        schema = schema_of(connection, self._address)
        if schema not in self._ledgers:
            self._ledgers[schema] = LedgerTable(schema, self._address.table, self.identity)
        return schema, self._ledgers[schema]

    def _made(
        self, connection: psycopg.Connection[Any], columns: tuple[WrittenColumn, ...]
    ) -> tuple[Target, LedgerTable, tuple[WrittenColumn, ...]]:
        """Make table and ledger for the first batch; refuse rows that do not fit.

        The columns are given as the table has them.
        """
        schema, ledger = self._ledger(connection)
        table = self._address.table
        target = find_table(connection, schema, table, self._sink)
        self._watch.refuse_other(None if target is None else target.incarnation)
        every = self._with_batch(columns)
        if target is None:
            self._once(lambda: create_table(connection, schema, table, every, self._sink.key))
            target = find_table(connection, schema, table, self._sink)
        if target is None:
            message = f"{self.identity} vanished while it was made"
            raise SinkError("HF5044", message, at=self._sink.at)
        self._watch.note(target.incarnation)
        columns = self._fitted(columns, target)
        check_fit(self._with_batch(columns), target, self._sink)
        self._once(lambda: ledger.create(connection))
        zone = next((one.zone for one in columns if one.zone is not None), None)
        if zone is not None and zone != self._kept_zone:
            self._agree(columns, ledger.keep_zone(connection, zone))
            self._kept_zone = zone
        return target, ledger, columns

    def _fitted(
        self, columns: tuple[WrittenColumn, ...], target: Target
    ) -> tuple[WrittenColumn, ...]:
        types = {one.name: one.type for one in target.columns}
        return in_zone(columns, types, lambda: writing_zone(self._spark()))

    def _agree(self, columns: tuple[WrittenColumn, ...], kept: str | None) -> None:
        """Say in which time zone moments are written; refuse another one than the table has."""
        zoned = [one for one in columns if one.zone is not None]
        if zoned and zoned[0].zone is not None:
            refuse_other_zone(self._spark(), kept, zoned[0].zone, self.identity)
            names = [one.name for one in zoned]
            self.promise = promised_in(self._promise, names, zoned[0].zone)

    def _spark(self) -> SparkSession:
        from pyspark.sql import SparkSession

        return self._session or SparkSession.active()

    def _once(self, create: Any) -> None:
        """Create something; another driver may do it at the same moment."""
        errors = self._psycopg.errors
        try:
            create()
        except (errors.UniqueViolation, errors.DuplicateTable):
            create()

    def _committed(self, move: Move) -> Delivery:
        """Commit; after a lost connection ask again, on a new one, whether it had happened.

        The transaction begins with the claim of the batch's row in the ledger: it waits for one
        that is still being committed, and finds the batch where it was.
        """
        for attempt in range(ATTEMPTS):
            try:
                with connected(self._address.conninfo) as connection:
                    held = move.commit(connection)
                return delivery_of(
                    held,
                    rows=move.staged.rows,
                    generation=move.identity.generation,
                    asked_again=attempt > 0,
                )
            except self._psycopg.OperationalError as error:
                if attempt + 1 == ATTEMPTS or self._is_full(error):
                    raise self._told(error) from error
                time.sleep(_FIRST_PAUSE_SECONDS * 2**attempt)
            except self._psycopg.Error as error:
                raise self._told(error) from error
        raise AssertionError("every attempt returns or raises")

    @contextmanager
    def _connected(self) -> Iterator[psycopg.Connection[Any]]:
        """Connect; whatever PostgreSQL raises becomes an error of the sink."""
        try:
            with connected(self._address.conninfo) as connection:
                yield connection
        except self._psycopg.Error as error:
            raise self._told(error) from error

    def _told(self, error: psycopg.Error) -> SinkError:
        lost = isinstance(error, self._psycopg.OperationalError) and not self._is_full(error)
        code, what = ("HF5041", "can't be reached") if lost else ("HF5044", "refused")
        errors = self._psycopg.errors
        if isinstance(error, errors.LockNotAvailable | errors.DeadlockDetected):
            code, what = "HF5010", "kept the batch waiting"
        return SinkError(code, f"{self.identity} {what}: {words_of(error)}", at=self._sink.at)

    def _is_full(self, error: psycopg.Error) -> bool:
        """Tell whether the server has no room: it answers, and asking again changes nothing."""
        return isinstance(error, self._psycopg.errors.DiskFull)
