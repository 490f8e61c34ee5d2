"""Maps Spark's types to those of a database; what has none of the same values is refused.

Spark's own dialects name the types. Where they would lose something, ours stand before them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.errors import SinkError
from holdfast.jobs.ready import ReadySink
from holdfast.spark.sinks.database.jdbc.connection import H2, JdbcDatabase

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

_TEXT = ("string", "char", "varchar")
_H2_MOMENT = "TIMESTAMP(6) WITH TIME ZONE"
_H2_TEXT = "CHARACTER VARYING"
"""Spark's is CLOB, which can't be a key."""


@dataclass(frozen=True)
class JdbcColumn:
    """A column of the rows as the database gets it."""

    name: str
    kind: str
    """Its type as Spark spells it: `decimal(20,3)`."""
    staged: str
    """The type in staging."""
    made: str
    """The type in a table that is made on demand."""


def jdbc_columns(
    schema: StructType, database: JdbcDatabase, sink: ReadySink
) -> tuple[JdbcColumn, ...]:
    """Give every column with its type; raise HF5005 for one that the database has none for."""
    if not schema.fields:
        raise SinkError("HF5005", "the rows have no columns", at=sink.at)
    return tuple(_column(field.name, field.dataType, database, sink) for field in schema.fields)


def number_type(database: JdbcDatabase) -> str:
    """Give the database's type of a long."""
    return _by_dialect("long", database) or "BIGINT"


def moment_type(database: JdbcDatabase) -> str:
    """Give the database's type of a moment."""
    return _by_dialect("timestamp", database) or "TIMESTAMP"


def wall_clock_type(database: JdbcDatabase) -> str | None:
    """Give the database's type of a moment without a time zone, where it has one."""
    return _by_dialect("timestamp_ntz", database)


def _column(name: str, data_type: DataType, database: JdbcDatabase, sink: ReadySink) -> JdbcColumn:
    kind = data_type.simpleString()
    if data_type.typeName() in ("array", "map", "struct", "variant"):
        message = f"{name} is {kind}: a jdbc sink takes no nested values"
        steps = (
            "let the transform give plain columns, or to_json(…) of the nested one",
            "or use `format: postgres` or `format: delta`, which take nested values",
        )
        raise SinkError("HF5005", message, at=sink.at, next_steps=steps)
    found = _by_dialect(data_type.jsonValue(), database)
    if found is None:
        message = f"the database has no type for {name}, which is {kind}"
        step = "let the transform cast it, or leave it out"
        raise SinkError("HF5005", message, at=sink.at, next_steps=(step,))
    is_h2_text = database.url.startswith(H2) and kind.startswith(_TEXT)
    return JdbcColumn(name, kind, found, _H2_TEXT if is_h2_text else found)


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
