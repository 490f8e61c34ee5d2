"""Maps Spark's types to PostgreSQL's, exactly: what has no type of the same values is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from holdfast.errors import SinkError
from holdfast.jobs.ready import ReadySink
from holdfast.ledgers.database.address import LONGEST_NAME
from holdfast.spark.sinks.keys import quoted

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType, StructType

JSON = "jsonb"
WALL_CLOCK = "timestamp without time zone"
_SCALARS = {
    "tinyint": "smallint",
    "smallint": "smallint",
    "int": "integer",
    "bigint": "bigint",
    "float": "real",
    "double": "double precision",
    "boolean": "boolean",
    "date": "date",
    "timestamp": "timestamp with time zone",
    "timestamp_ntz": WALL_CLOCK,
    "binary": "bytea",
}
_TEXT = ("string", "char(", "varchar(")
_JSON_OPTIONS = {
    "ignoreNullFields": "false",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}


@dataclass(frozen=True)
class WrittenColumn:
    """A column of the rows as PostgreSQL gets it."""

    name: str
    type: str
    """As PostgreSQL spells it."""
    zone: str | None = None
    """Moments are written as what the clock on the wall shows in this time zone."""


def written_columns(schema: StructType, sink: ReadySink) -> tuple[WrittenColumn, ...]:
    """Give every column with its type; raise HF5005 for one that PostgreSQL has no type for."""
    if not schema.fields:
        raise SinkError("HF5005", "the rows have no columns", at=sink.at)
    return tuple(_written(field.name, field.dataType, sink) for field in schema.fields)


def check_name(name: str, sink: ReadySink) -> None:
    """Refuse a column's name that PostgreSQL does not take, or cuts off."""
    if len(name.encode()) > LONGEST_NAME or "\0" in name or not name:
        message = f"PostgreSQL takes no column with the name {name!r}"
        step = f"rename it in the transform: 1 to {LONGEST_NAME} bytes"
        raise SinkError("HF5005", message, at=sink.at, next_steps=(step,))


def as_written(batch: DataFrame, columns: tuple[WrittenColumn, ...]) -> DataFrame:
    """Give the rows with nested values as JSON, and moments that lose their zone in it."""
    if all(column.type != JSON and column.zone is None for column in columns):
        return batch
    return batch.select(*map(_column_as_written, columns))


def in_zone(
    columns: Sequence[WrittenColumn], there: Mapping[str, str], zone: Callable[[], str]
) -> tuple[WrittenColumn, ...]:
    """Give the columns as the table has them; `there` are its types, `zone` is asked on demand."""
    return tuple(
        replace(one, type=WALL_CLOCK, zone=zone())
        if one.type == _SCALARS["timestamp"] and there.get(one.name) == WALL_CLOCK
        else one
        for one in columns
    )


def _column_as_written(column: WrittenColumn) -> Column:
    from pyspark.sql import functions

    value = functions.col(quoted(column.name))
    if column.type == JSON:
        return functions.to_json(value, _JSON_OPTIONS).alias(column.name)
    if column.zone is not None:
        return functions.from_utc_timestamp(value, column.zone).alias(column.name)
    return value


def _written(name: str, data_type: DataType, sink: ReadySink) -> WrittenColumn:
    kind = _scalar(data_type) or _array(data_type)
    if kind is None and _nests(data_type) and _fits_json(data_type):
        kind = JSON
    if kind is None:
        message = f"PostgreSQL has no type for {name}, which is {data_type.simpleString()}"
        step = "let the transform cast it, or leave it out"
        raise SinkError("HF5005", message, at=sink.at, next_steps=(step,))
    check_name(name, sink)
    return WrittenColumn(name, kind)


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
    """Tell whether every part of a nested type has a JSON value."""
    kind = data_type.typeName()
    if kind == "array":
        return _fits_json(data_type.elementType)
    if kind == "map":
        return _scalar(data_type.keyType) is not None and _fits_json(data_type.valueType)
    if kind == "struct":
        return all(_fits_json(field.dataType) for field in data_type.fields)
    return _scalar(data_type) is not None
