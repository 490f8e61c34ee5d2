"""PostgreSQL as the engine sees it, and Spark's types as PostgreSQL's.

Types are mapped exactly: what has no type of the same values is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from sys import maxsize
from typing import TYPE_CHECKING, Any

from holdfast.errors import SinkError
from holdfast.jobs.ready import ReadySink
from holdfast.ledgers.database.connection import LONGEST_NAME, PostgresAddress, psycopg_here
from holdfast.ledgers.database.postgres import PostgresLedger
from holdfast.spark.sinks.database.dialect import (
    DatabaseConnection,
    DialectTraits,
    LedgerTypes,
    StagedRows,
)
from holdfast.spark.sinks.database.dialects.postgres.connection import postgres_connection
from holdfast.spark.sinks.database.dialects.postgres.copytask import JSON
from holdfast.spark.sinks.database.staging import ATTEMPT
from holdfast.spark.sinks.database.table import FitRules, TableColumn, WrittenColumn, WrittenTable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType, StructType

_NUMBER = "bigint"
_MOMENT = "timestamp with time zone"
_WALL_CLOCK = "timestamp without time zone"
_SCALARS = {
    "tinyint": "smallint",
    "smallint": "smallint",
    "int": "integer",
    "bigint": _NUMBER,
    "float": "real",
    "double": "double precision",
    "boolean": "boolean",
    "date": "date",
    "timestamp": _MOMENT,
    "timestamp_ntz": _WALL_CLOCK,
    "binary": "bytea",
}
_TEXT = ("string", "char(", "varchar(")
_WIDER = {
    "smallint": ("integer", "bigint", "numeric"),
    "integer": ("bigint", "numeric"),
    "bigint": ("numeric",),
    "real": ("double precision",),
    "text": ("character varying", "uuid", "json", "jsonb"),
    "jsonb": ("json",),
}
"""Types that hold every value of a narrower one, or refuse a value instead of changing it."""
_CAST = ("uuid", "json", "jsonb")
"""What PostgreSQL makes of a text only where a cast says so."""
_NUMERIC = re.compile(r"numeric\((\d+),(\d+)\)")


def accepts(there: TableColumn, column: WrittenColumn) -> bool:
    """Return whether a column takes every value of the rows as it is."""
    if there.type == column.made:
        return True
    wide, narrow = _NUMERIC.fullmatch(there.type), _NUMERIC.fullmatch(column.made)
    if narrow:
        if wide is None:
            return there.type == "numeric"
        digits, scale = int(wide[1]), int(wide[2])
        return scale >= int(narrow[2]) and digits - scale >= int(narrow[1]) - int(narrow[2])
    base = re.sub(r"^(character varying)\(\d+\)$", r"\1", there.type)
    return base in _WIDER.get(column.made, ())


_TRAITS = DialectTraits(
    kind="postgres",
    unreachable="HF5041",
    refused="HF5044",
    staging_lost="HF5045",
    now="clock_timestamp()",
    unless_duplicate=" on conflict do nothing",
    lock_table="lock table {} in share row exclusive mode",
    longest_list=maxsize,
    rules=FitRules(accepts, lambda there: there.type, upsert_replaces_rows=False),
    reserved_columns=(ATTEMPT,),
)


class PostgresDialect:
    """One declared table of PostgreSQL."""

    traits = _TRAITS

    def __init__(self, sink: ReadySink, address: PostgresAddress) -> None:
        psycopg_here(sink.at)
        self.shown = address.shown
        self._sink = sink
        self._address = address

    def connected(self) -> AbstractContextManager[DatabaseConnection]:
        """Connect."""
        return postgres_connection(self._address, self._sink)

    def settle(self, table: WrittenTable) -> None:
        """Stay with this table: a search path that changes later must not move it."""
        self._address = replace(self._address, schema=table.schema)

    def memory(self) -> PostgresLedger:
        """Return what the ledger is asked through outside of a batch, without Spark."""
        return PostgresLedger(self._address)

    def ledger_types(self) -> LedgerTypes:
        """Return the types of a ledger that is created."""
        return LedgerTypes(
            table_name="text",
            query_id="text",
            offsets_digest="text",
            number=_NUMBER,
            moment=_MOMENT,
        )

    def columns(self, schema: StructType) -> tuple[WrittenColumn, ...]:
        """Return every column with its type; raise HF5005 for one that PostgreSQL has none for."""
        if not schema.fields:
            raise SinkError("HF5005", "the rows have no columns", at=self._sink.at)
        return tuple(self._column(field.name, field.dataType) for field in schema.fields)

    def number_column(self, name: str) -> WrittenColumn:
        """Return a column of whole numbers that the sink fills itself."""
        self._check_name(name)
        return _written(name, "bigint", _NUMBER)

    def fitted(
        self, columns: Sequence[WrittenColumn], table: WrittenTable, zone: Callable[[], str]
    ) -> tuple[WrittenColumn, ...]:
        """Return the columns as they are written to this table: moments may lose their zone."""
        without_zone = {one.name for one in table.columns or () if one.type == _WALL_CLOCK}
        return tuple(
            replace(one, made=_WALL_CLOCK, staged=_WALL_CLOCK, zone=zone())
            if one.made == _MOMENT and one.name in without_zone
            else one
            for one in columns
        )

    def moved(self, value: str, column: WrittenColumn, table: WrittenTable) -> str:
        """Spell what a column of the table is set to: a text is cast where that is needed."""
        there = table.find_column(column.name)
        return f"{value}::{there.type}" if there is not None and there.type in _CAST else value

    def on_conflict(
        self, key: Sequence[str], others: Sequence[str], newer: str | None = None
    ) -> str:
        """Spell what makes an INSERT an upsert."""
        # A key alone is set to itself: every row then counts as moved.
        changes = [f"{name} = excluded.{name}" for name in others or key]
        upsert = f" on conflict ({', '.join(key)}) do update set {', '.join(changes)}"
        if newer is None:
            return upsert
        # The row is locked by then, and compared as the other transaction left it.
        return f"{upsert} where held.{newer} is null or excluded.{newer} >= held.{newer}"

    def load(
        self, rows: DataFrame, table: WrittenTable, staging: str, columns: Sequence[WrittenColumn]
    ) -> StagedRows:
        """Load the rows into a staging table by COPY, all executors at once."""
        from holdfast.spark.sinks.database.dialects.postgres.loading import load

        place = (table.schema or "", staging)
        return load(rows, self._address.conninfo, place, columns, at=self._sink.at)

    def _column(self, name: str, data_type: DataType) -> WrittenColumn:
        made = _scalar(data_type) or _array(data_type)
        if made is None and _nests(data_type) and _fits_json(data_type):
            made = JSON
        kind = data_type.simpleString()
        if made is None:
            message = f"PostgreSQL has no type for {name}, which is {kind}"
            step = "let the transform cast it, or leave it out"
            raise SinkError("HF5005", message, at=self._sink.at, next_steps=(step,))
        self._check_name(name)
        return _written(name, kind, made)

    def _check_name(self, name: str) -> None:
        """Refuse a column's name that PostgreSQL does not take, or cuts off."""
        if len(name.encode()) > LONGEST_NAME or "\0" in name or not name:
            message = f"PostgreSQL does not support a column named {name!r}"
            step = f"rename it in the transform: 1 to {LONGEST_NAME} bytes"
            raise SinkError("HF5005", message, at=self._sink.at, next_steps=(step,))


def _written(name: str, kind: str, made: str) -> WrittenColumn:
    return WrittenColumn(name=name, kind=kind, made=made, staged=made, staged_name=name)


def _scalar(data_type: DataType) -> str | None:
    simple = data_type.simpleString()
    if simple.startswith("decimal("):
        return f"numeric({simple[len('decimal(') :]}"
    return "text" if simple.startswith(_TEXT) else _SCALARS.get(simple)


def _array(data_type: Any) -> str | None:
    if data_type.typeName() != "array":
        return None
    element = _scalar(data_type.elementType)
    return None if element is None else f"{element}[]"


def _nests(data_type: DataType) -> bool:
    return data_type.typeName() in ("array", "map", "struct")


def _fits_json(data_type: Any) -> bool:
    """Return whether every part of a nested type has a JSON value."""
    kind = data_type.typeName()
    if kind == "array":
        return _fits_json(data_type.elementType)
    if kind == "map":
        return _scalar(data_type.keyType) is not None and _fits_json(data_type.valueType)
    if kind == "struct":
        return all(_fits_json(field.dataType) for field in data_type.fields)
    return _scalar(data_type) is not None
