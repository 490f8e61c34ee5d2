"""Any database with a JDBC driver as the engine sees it, and Spark's types as its types.

Spark's own dialects name the types. Where they would lose something, ours stand before them; what
has no type of the same values is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError

from holdfast.errors import SinkError
from holdfast.jobs.ready import ReadySink
from holdfast.ledgers.database.postgres import LEDGER
from holdfast.ledgers.sinkstate import NOT_COMMITTED, UNKNOWN, CommittedOffsets, LastCommitted
from holdfast.spark.sinks.database.dialect import (
    DatabaseConnection,
    DatabaseFailure,
    DialectTraits,
    LedgerTypes,
    StagedRows,
    sink_error,
)
from holdfast.spark.sinks.database.dialects.jdbc.connection import H2, JdbcDatabase, words_of
from holdfast.spark.sinks.database.dialects.jdbc.loading import JdbcLoader
from holdfast.spark.sinks.database.dialects.jdbc.tables import jdbc_connection
from holdfast.spark.sinks.database.ledger import DatabaseLedger
from holdfast.spark.sinks.database.table import FitRules, TableColumn, WrittenColumn, WrittenTable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructType

RESERVED_OPTIONS = frozenset(
    ("url", "dbtable", "query", "truncate", "cascadetruncate", "createtablecolumntypes")
)
"""Options of Spark's writer that would decide a second time what a key decides."""
_TEXT = ("string", "char", "varchar")
_H2_MOMENT = "TIMESTAMP(6) WITH TIME ZONE"
_H2_TEXT = "CHARACTER VARYING"
"""Spark's is CLOB, which can't be a key."""
# Numbers of java.sql.Types.
_TINYINT, _SMALLINT, _INTEGER, _BIGINT = -6, 5, 4, -5
_REAL, _FLOAT, _DOUBLE = 7, 6, 8
_NUMERIC, _DECIMAL = 2, 3
_MOMENT, _MOMENT_WITH_ZONE = 93, 2014
_ACCEPTED: dict[str, tuple[int, ...]] = {
    "tinyint": (_TINYINT, _SMALLINT, _INTEGER, _BIGINT),
    "smallint": (_SMALLINT, _INTEGER, _BIGINT),
    "int": (_INTEGER, _BIGINT),
    "bigint": (_BIGINT,),
    "float": (_REAL, _FLOAT, _DOUBLE),
    "double": (_FLOAT, _DOUBLE),
    "boolean": (16, -7),
    "binary": (-2, -3, -4, 2004),
    "date": (91,),
    "string": (12, -1, 2005, -9, -16, 2011),
}
_WHOLE_DIGITS = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 19}
_ANY_DIGITS = 1000
"""Drivers give more, or 0, for a number without a bound."""
_MICROSECONDS = 6
"""Decimals of a second; a column with fewer of them rounds."""
_DECIMAL_KIND = re.compile(r"decimal\((\d+),(\d+)\)")


def _shown_type(there: TableColumn) -> str:
    if there.code in (_NUMERIC, _DECIMAL):
        return f"{there.type}({there.digits},{there.scale})"
    return there.type


def accepts(there: TableColumn, column: WrittenColumn) -> bool:
    """Return whether a column takes every value of the rows as it is."""
    kind = "string" if column.kind.startswith(("char(", "varchar(")) else column.kind
    if decimal := _DECIMAL_KIND.fullmatch(kind):
        return _takes_digits(there, int(decimal[1]) - int(decimal[2]), int(decimal[2]))
    if kind in _WHOLE_DIGITS and there.code in (_NUMERIC, _DECIMAL):
        return _takes_digits(there, _WHOLE_DIGITS[kind], 0)
    if kind in ("timestamp", "timestamp_ntz") and there.code in (_MOMENT, _MOMENT_WITH_ZONE):
        if kind == "timestamp" and not _has_zone(there):
            return there.scale >= _MICROSECONDS or _is_made_so(there, column)
        return _has_zone(there) == (kind == "timestamp") or _is_made_so(there, column)
    return there.code in _ACCEPTED.get(kind, ()) or _is_made_so(there, column)


def _is_made_so(there: TableColumn, column: WrittenColumn) -> bool:
    """Return whether the column has the very type that a table made on demand would have."""
    return there.type.lower() == re.sub(r"\(.*?\)", "", column.made).strip().lower()


def _has_zone(there: TableColumn) -> bool:
    name = there.type.lower()
    named = "tz" in name or ("zone" in name and "without" not in name)
    return there.code == _MOMENT_WITH_ZONE or named


def _takes_digits(there: TableColumn, whole: int, scale: int) -> bool:
    if there.code not in (_NUMERIC, _DECIMAL):
        return False
    if not 0 < there.digits <= _ANY_DIGITS:
        return True
    return there.scale >= scale and there.digits - there.scale >= whole


_TRAITS = DialectTraits(
    kind="jdbc",
    unreachable="HF5071",
    refused="HF5072",
    staging_lost="HF5073",
    now="current_timestamp",
    unless_duplicate="",
    lock_table="",
    longest_list=500,
    rules=FitRules(accepts, _shown_type, upsert_replaces_rows=True),
)


class JdbcDialect:
    """One declared table that is reached through a JDBC driver."""

    traits = _TRAITS

    def __init__(self, session: SparkSession, sink: ReadySink, url: str) -> None:
        self._session = session
        self._sink = sink
        self._database = JdbcDatabase(session, sink, url)
        self._loader: JdbcLoader | None = None
        self.shown = f"{self._database.shown} {sink.table}"

    def connected(self) -> AbstractContextManager[DatabaseConnection]:
        """Connect the driver's JVM."""
        return jdbc_connection(self._database, self._sink)

    def settle(self, table: WrittenTable) -> None:
        """Stay with this table: a default schema that changes later must not move it."""
        if table.schema is not None and table.spelling.quote:
            self._sink = replace(self._sink, table=table.spelled)

    def memory(self) -> JdbcMemory:
        """Return what the ledger is asked through outside of a batch: the session's JVM."""
        return JdbcMemory(self)

    def ledger_types(self) -> LedgerTypes:
        """Return the types of a ledger that is created."""
        return LedgerTypes(
            table_name="varchar(255)",
            query_id="varchar(128)",
            offsets_digest="varchar(128)",
            number=self._number_type(),
            moment=_by_dialect("timestamp", self._database) or "TIMESTAMP",
        )

    def columns(self, schema: StructType) -> tuple[WrittenColumn, ...]:
        """Return every column with its type; raise HF5005 for one that has none there."""
        if not schema.fields:
            raise SinkError("HF5005", "the rows have no columns", at=self._sink.at)
        fields = enumerate(schema.fields)
        return tuple(self._column(f"c{place}", one.name, one.dataType) for place, one in fields)

    def number_column(self, name: str) -> WrittenColumn:
        """Return a column of whole numbers that the sink fills itself."""
        number = self._number_type()
        return WrittenColumn(name=name, kind="bigint", made=number, staged=number, staged_name=name)

    def fitted(
        self, columns: Sequence[WrittenColumn], table: WrittenTable, zone: Callable[[], str]
    ) -> tuple[WrittenColumn, ...]:
        """Return the columns as they are written to this table.

        They are staged under plain names of ours, which every database can quote; moments that
        lose their time zone in a type without one, where the database has that.
        """
        folded = table.spelling.folded
        named = [replace(one, staged_name=folded(one.staged_name)) for one in columns]
        if not any(loses_zone(one, table) for one in columns):
            return tuple(named)
        without_zone = _by_dialect("timestamp_ntz", self._database)
        return tuple(
            replace(one, staged=without_zone or one.staged, zone=zone())
            if loses_zone(one, table)
            else one
            for one in named
        )

    def moved(self, value: str, column: WrittenColumn, table: WrittenTable) -> str:  # noqa: ARG002
        """Spell what a column of the table is set to."""
        return value

    def on_conflict(
        self,
        key: Sequence[str],  # noqa: ARG002
        others: Sequence[str],  # noqa: ARG002
        newer: str | None = None,  # noqa: ARG002
    ) -> None:
        """Return None: plain SQL has no upsert."""
        return

    def load(
        self, rows: DataFrame, table: WrittenTable, staging: str, columns: Sequence[WrittenColumn]
    ) -> StagedRows:
        """Load the rows into a staging table with Spark's own writer, all tasks at once."""
        if self._loader is None:
            self._loader = JdbcLoader(self._session, self._database)
        return self._loader.load(rows, table, staging, columns, at=self._sink.at)

    def _number_type(self) -> str:
        return _by_dialect("long", self._database) or "BIGINT"

    def _column(self, staged_name: str, name: str, data_type: DataType) -> WrittenColumn:
        kind = data_type.simpleString()
        if data_type.typeName() in ("array", "map", "struct", "variant"):
            message = f"{name} is {kind}: a jdbc sink does not support nested values"
            steps = (
                "let the transform give plain columns, or to_json(…) of the nested one",
                "or use `format: postgres` or `format: delta`, which take nested values",
            )
            raise SinkError("HF5005", message, at=self._sink.at, next_steps=steps)
        found = _by_dialect(data_type.jsonValue(), self._database)
        if found is None:
            message = f"the database has no type for {name}, which is {kind}"
            step = "let the transform cast it, or leave it out"
            raise SinkError("HF5005", message, at=self._sink.at, next_steps=(step,))
        is_h2_text = self._database.url.startswith(H2) and kind.startswith(_TEXT)
        made = _H2_TEXT if is_h2_text else found
        return WrittenColumn(name=name, kind=kind, made=made, staged=found, staged_name=staged_name)


class JdbcMemory:
    """What the ledger is asked outside of a batch, through the session's JVM; never raises."""

    def __init__(self, dialect: JdbcDialect) -> None:
        self._dialect = dialect

    def last_committed(self, query_id: str) -> LastCommitted:
        """Return the newest batch that the table holds of this query."""
        try:
            with self._ledger() as (ledger, connection):
                if ledger is None:
                    return LastCommitted.nothing(f"the database holds no {LEDGER} yet")
                newest = ledger.newest(connection, query_id)
        except SinkError as error:
            return LastCommitted.unknown(f"the database can't be asked: {error.message}")
        except Py4JError as error:
            return LastCommitted.unknown(f"Spark can't be asked: {words_of(error)}")
        if newest is None:
            return LastCommitted.nothing(f"{LEDGER} holds no batch of this query")
        basis = f"{LEDGER}, written by generation {newest.generation}"
        return LastCommitted.batch(newest.batch_id, basis)

    def offsets_of(self, query_id: str, batch_id: int) -> CommittedOffsets:
        """Return what the ledger has of one batch."""
        try:
            with self._ledger() as (ledger, connection):
                if ledger is None:
                    return NOT_COMMITTED
                return ledger.offsets_of(connection, query_id, batch_id)
        except (SinkError, Py4JError):
            return UNKNOWN

    def queries(self) -> frozenset[str]:
        """Name every query that the ledger knows; empty where it can't be asked."""
        try:
            with self._ledger() as (ledger, connection):
                return frozenset() if ledger is None else ledger.queries(connection)
        except (SinkError, Py4JError):
            return frozenset()

    @contextmanager
    def _ledger(self) -> Iterator[tuple[DatabaseLedger | None, DatabaseConnection]]:
        """Connect to the ledger, None where there is none; raise SinkError for any failure."""
        try:
            with self._dialect.connected() as connection:
                place = connection.locate()
                connection.find(place)  # What can't be a table has no ledger that says anything.
                ledger = DatabaseLedger(self._dialect, place)
                yield ledger if ledger.exists(connection) else None, connection
        except DatabaseFailure as failure:
            raise sink_error(failure, self._dialect, None) from failure


def loses_zone(column: WrittenColumn, table: WrittenTable) -> bool:
    """Return whether moments go to a column that has no time zone."""
    there = table.find_column(column.name)
    is_moment = there is not None and there.code == _MOMENT and not _has_zone(there)
    return column.kind == "timestamp" and is_moment


def _by_dialect(kind: Any, database: JdbcDatabase) -> str | None:
    if kind == "timestamp" and database.url.startswith(H2):
        return _H2_MOMENT
    # Spark's common type of a byte is one that hardly a database has.
    wanted = "short" if kind == "byte" else kind
    spark = database.jvm.org.apache.spark.sql
    java_type = spark.types.DataType.fromJson(json.dumps(wanted))
    found = database.dialect.getJDBCType(java_type)
    if found.isEmpty():
        found = spark.execution.datasources.jdbc.JdbcUtils.getCommonJDBCType(java_type)
    return str(found.get().databaseTypeDefinition()) if found.isDefined() else None
