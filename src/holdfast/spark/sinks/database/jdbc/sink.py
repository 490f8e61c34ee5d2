"""Writes batches to a table of any database with a JDBC driver: each one exactly once.

Spark's own writer loads a staging table in parallel; one transaction on the driver moves its rows
and writes the ledger row. Whatever becomes of the answer to its COMMIT, the ledger is asked.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from py4j.protocol import Py4JError

from holdfast.crashpoints import reach
from holdfast.errors import SinkError
from holdfast.jobs.ready import ReadySink
from holdfast.ledgers.database.postgres import LEDGER
from holdfast.ledgers.heldoffsets import NOT_HELD, UNKNOWN, HeldOffsets
from holdfast.ledgers.identity import BatchIdentity
from holdfast.ledgers.lastcommitted import Answer, LastCommitted
from holdfast.ledgers.sinksight import NO_QUERY_YET, Contents, SinkSight
from holdfast.spark.sinks.database.batchcolumn import rewound_column
from holdfast.spark.sinks.database.heldbatch import delivery_of
from holdfast.spark.sinks.database.jdbc.connection import JdbcConnection, JdbcDatabase, words_of
from holdfast.spark.sinks.database.jdbc.failure import JdbcFailure
from holdfast.spark.sinks.database.jdbc.fit import check_fit, loses_zone
from holdfast.spark.sinks.database.jdbc.ledger import JdbcLedger
from holdfast.spark.sinks.database.jdbc.move import JdbcMove
from holdfast.spark.sinks.database.jdbc.rewinding import clear_table, take_back
from holdfast.spark.sinks.database.jdbc.staging import Stager, staging_names
from holdfast.spark.sinks.database.jdbc.stagingtables import JdbcStagingTables
from holdfast.spark.sinks.database.jdbc.table import Target, create_target, find_target, has_rows
from holdfast.spark.sinks.database.jdbc.types import (
    JdbcColumn,
    jdbc_columns,
    number_type,
    wall_clock_type,
)
from holdfast.spark.sinks.database.staged import Staged
from holdfast.spark.sinks.database.tablesight import TableWatch, seen_with
from holdfast.spark.sinks.database.wallclock import promised_in, refuse_other_zone, writing_zone
from holdfast.spark.sinks.keys import rows_to_write
from holdfast.spark.sinks.sink import Delivery
from holdfast.spark.sinks.skipping import skip
from holdfast.spark.sinks.tablefit import check_columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

ATTEMPTS = 4
"""How often a transaction is tried that a lost connection or other writers broke."""
_FIRST_PAUSE_SECONDS = 0.2
RESERVED_OPTIONS = frozenset(
    ("url", "dbtable", "query", "truncate", "cascadetruncate", "createtablecolumntypes")
)
"""Options of Spark's writer that would decide a second time what a key decides."""


class JdbcSink:
    """A table that takes the batches of one job."""

    kind = "jdbc"
    _promise = (
        "every batch once: one that the ledger holds with the same offsets is skipped, one with "
        "other offsets or of an older driver stops the job"
    )

    def __init__(self, session: SparkSession, sink: ReadySink, url: str) -> None:
        self.promise = self._promise
        self._session = session
        self._sink = sink
        self._kept_zone: str | None = None
        self._database = JdbcDatabase(session, sink, url)
        self._staging_tables = JdbcStagingTables(self._database, sink)
        self._stager: Stager | None = None
        self._ledgers: dict[str, JdbcLedger] = {}
        self._shown = f"{self._database.shown} {sink.table}"
        self._watch = TableWatch(sink, self._shown)
        self.identity: str | None = self._shown

    def prepare(self, schema: StructType, *, begun: bool) -> None:  # noqa: ARG002 - leaves no files
        """Refuse rows that the table can't take, and a table that is none; nothing is written."""
        check_columns(schema, self._sink)
        with self._connected() as connection:
            columns = self._columns(schema)
            target = find_target(connection, self._sink)
            # Resolved once: a default schema that changes later must not move the table.
            self._sink = replace(self._sink, table=target.declared(self._sink.table or ""))
            self._watch.note(target.found)
            known = self._ledger_of(target).open(connection)
            if target.columns is not None:
                check_fit(columns, target, self._sink)
                self._agree(self._wall_clocks(columns, target), known.zone)

    def write(self, batch: DataFrame, identity: BatchIdentity) -> Delivery:
        """Commit the batch's rows and its ledger row in one transaction, or skip it."""
        check_columns(batch.schema, self._sink)
        with self._connected() as connection:
            columns = self._columns(batch.schema)
            target = find_target(connection, self._sink)
            ledger = self._ledger_of(target)
            held = None
            if ledger.exists(connection):
                held = ledger.held(connection, identity)
            else:
                ledger.open(connection)
        if held is not None:
            return skip(batch)
        with rows_to_write(batch, self._sink) as rows:
            # A connection that idles while Spark loads is one that may be lost.
            with self._connected() as connection:
                target, ledger = self._made(connection, columns)
                given = self._fitted(columns[: len(batch.schema.fields)], target)
                staging = self._staging_tables.create(connection, target, given, identity)
            with self._staging_tables.dropped_after(target):
                reach("jdbc.staging-made")
                staged = self._staged(rows, target, given, staging)
                reach("jdbc.staged")
                move = JdbcMove(identity, self._sink, target, ledger, given, staging, staged)
                delivery = self._committed(move)
        reach("jdbc.tidied")
        return delivery

    def last_committed(self, query_id: str) -> LastCommitted:
        """Give the newest batch that the table holds of this query, through the session's JVM."""
        try:
            with self._connected() as connection:
                ledger = self._ledger(connection)
                if not ledger.exists(connection):
                    return LastCommitted.nothing(f"the database holds no {LEDGER} yet")
                newest = ledger.newest(connection, query_id)
        except SinkError as error:
            return LastCommitted.unknown(f"the database can't be asked: {error.message}")
        except Py4JError as error:
            return LastCommitted.unknown(f"Spark can't be asked: {words_of(error)}")
        if newest is None:
            return LastCommitted.nothing(f"{LEDGER} holds no batch of this query")
        return LastCommitted.batch(
            newest.batch_id, f"{LEDGER}, written by generation {newest.generation}"
        )

    def offsets_of(self, query_id: str, batch_id: int) -> HeldOffsets:
        """Return what the ledger has of one batch; never raises."""
        try:
            with self._connected() as connection:
                ledger = self._ledger(connection)
                exists = ledger.exists(connection)
                return ledger.offsets_of(connection, query_id, batch_id) if exists else NOT_HELD
        except (SinkError, Py4JError):
            return UNKNOWN

    def sight(self, query_id: str | None) -> SinkSight:
        """Return what is at the table's name and what the ledger holds of the query."""
        held = LastCommitted.nothing(NO_QUERY_YET)
        if query_id is not None:
            held = self.last_committed(query_id)
        with self._connected() as connection:
            target = find_target(connection, self._sink)
            place = f"{self._database.shown} {target.qualified}"
            sight = SinkSight(held, place, contents=Contents.ABSENT)
            if target.columns is not None:
                contents, unread = self._contents(connection, target)
                sight = replace(sight, contents=contents, unread=unread)
            ledger = self._ledger_of(target)
            if query_id is None or held.answer is Answer.UNKNOWN or not ledger.exists(connection):
                return sight
            return seen_with(sight, ledger, connection, query_id, self._sink.mode)

    def queries(self) -> frozenset[str]:
        """Name every query that the ledger knows; empty where it can't be asked."""
        try:
            with self._connected() as connection:
                ledger = self._ledger(connection)
                return ledger.queries(connection) if ledger.exists(connection) else frozenset()
        except (SinkError, Py4JError):
            return frozenset()

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

    def _contents(self, connection: JdbcConnection, target: Target) -> tuple[Contents, str | None]:
        """Return what is in the table, or why that is not known: a role may only write."""
        try:
            found = has_rows(connection, target)
        except JdbcFailure as failure:
            if failure.lost or failure.contended:
                raise
            return Contents.UNKNOWN, failure.words
        return Contents.ROWS if found else Contents.EMPTY, None

    def _ledger(self, connection: JdbcConnection) -> JdbcLedger:
        return self._ledger_of(find_target(connection, self._sink))

    def _ledger_of(self, target: Target) -> JdbcLedger:
        """Give the ledger beside a table, the same one as long as the driver lives."""
        if target.spelled not in self._ledgers:
            self._ledgers[target.spelled] = JdbcLedger(target, self._shown)
        return self._ledgers[target.spelled]

    def _there(self, connection: JdbcConnection) -> tuple[Target, JdbcLedger]:
        """Give the table, and a ledger, which may be empty.

        A driver that has not made them yet can come late as well: the ledger is made for the fence.
        """
        target = find_target(connection, self._sink)
        ledger = self._ledger_of(target)
        ledger.create(connection, self._database, self._sink)
        return target, ledger

    def _columns(self, schema: StructType) -> tuple[JdbcColumn, ...]:
        """Give the columns of the rows, and after them the batch column where there is one."""
        columns = jdbc_columns(schema, self._database, self._sink)
        batch_column = self._sink.batch_column
        if batch_column is None:
            return columns
        taken = [column.name for column in columns if column.name.lower() == batch_column.lower()]
        if taken:
            message = f"the rows have the column {taken[0]}, which the sink fills itself"
            step = "rename it in the transform, or name another `batch_column`"
            raise SinkError("HF5005", message, at=self._sink.at, next_steps=(step,))
        number = number_type(self._database)
        return (*columns, JdbcColumn(batch_column, "bigint", number, number))

    def _staged(
        self, rows: DataFrame, target: Target, given: tuple[JdbcColumn, ...], staging: str
    ) -> Staged:
        if self._stager is None:
            self._stager = Stager(self._session, self._database)
        names = [target.names.folded(name) for name in staging_names(given)]
        return self._stager.stage(rows, target.beside(staging), given, names, self._sink.at)

    def _made(
        self, connection: JdbcConnection, columns: tuple[JdbcColumn, ...]
    ) -> tuple[Target, JdbcLedger]:
        """Make table and ledger for the first batch; refuse rows that do not fit."""
        target = find_target(connection, self._sink)
        self._watch.refuse_other(target.found)
        if target.columns is None:
            create_target(connection, target, columns, self._sink)
            target = find_target(connection, self._sink)
        self._watch.note(target.found)
        check_fit(columns, target, self._sink)
        ledger = self._ledger_of(target)
        ledger.create(connection, self._database, self._sink)
        self._keep_zone(connection, ledger, self._wall_clocks(columns, target))
        return target, ledger

    def _wall_clocks(self, columns: tuple[JdbcColumn, ...], target: Target) -> list[str]:
        """Name the columns whose moments lose their time zone in the table."""
        return [one.name for one in columns if loses_zone(one, target)]

    def _fitted(self, columns: tuple[JdbcColumn, ...], target: Target) -> tuple[JdbcColumn, ...]:
        """Give the columns with the types that they are staged in, for this table."""
        wall_clocks, kind = self._wall_clocks(columns, target), wall_clock_type(self._database)
        return tuple(
            replace(one, staged=kind) if kind is not None and one.name in wall_clocks else one
            for one in columns
        )

    def _keep_zone(
        self, connection: JdbcConnection, ledger: JdbcLedger, wall_clocks: list[str]
    ) -> None:
        zone = writing_zone(self._session) if wall_clocks else None
        if zone is not None and zone != self._kept_zone:
            self._agree(wall_clocks, ledger.keep_zone(connection, zone))
            self._kept_zone = zone

    def _agree(self, wall_clocks: list[str], kept: str | None) -> None:
        """Say in which time zone moments are written; refuse another one than the table has."""
        if wall_clocks:
            zone = writing_zone(self._session)
            refuse_other_zone(self._session, kept, zone, self._shown)
            self.promise = promised_in(self._promise, wall_clocks, zone)

    def _committed(self, move: JdbcMove) -> Delivery:
        """Commit; after a failure ask again, on a new connection, whether it had happened.

        The transaction begins with the claim of the batch's row in the ledger: it waits for one
        that is still being committed, and finds the batch where it was.
        """
        for attempt in range(ATTEMPTS):
            try:
                with self._database.connected() as connection:
                    held = move.commit(connection)
                return delivery_of(
                    held,
                    rows=move.staged.rows,
                    generation=move.identity.generation,
                    asked_again=attempt > 0,
                )
            except JdbcFailure as failure:
                again = failure.lost or failure.contended
                if not again or attempt + 1 == ATTEMPTS:
                    raise self._told(failure) from failure
                time.sleep(_FIRST_PAUSE_SECONDS * 2**attempt)
        raise AssertionError("every attempt returns or raises")

    @contextmanager
    def _connected(self) -> Iterator[JdbcConnection]:
        """Connect; whatever the driver raises becomes an error of the sink."""
        try:
            with self._database.connected() as connection:
                yield connection
        except JdbcFailure as failure:
            raise self._told(failure) from failure

    def _told(self, failure: JdbcFailure) -> SinkError:
        code, what = "HF5072", "refused"
        if failure.lost:
            code, what = "HF5071", "can't be reached"
        elif failure.contended:
            code, what = "HF5010", "kept the batch waiting"
        return SinkError(code, f"{self._shown} {what}: {failure.words}", at=self._sink.at)
