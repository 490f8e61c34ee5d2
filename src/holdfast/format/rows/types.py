"""Spark's JSON of a struct type as Arrow's columns: what a state row is decoded into.

Every column can be null, whatever the schema says: Spark itself reads the bit, not the promise.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from holdfast.errors import DecodeError, UsageError
from holdfast.format.buffers import arrow_text, cast
from holdfast.format.state.schema import columns
from holdfast.wording import counted

SPARK_TYPE = b"spark.type"
"""Key in a field's metadata: Spark's own name of the type, where Arrow's does not tell it."""

CALENDAR_INTERVAL = "interval"
VARIANT = "variant"

_PLAIN: Mapping[str, pa.DataType] = {
    "boolean": pa.bool_(),
    "byte": pa.int8(),
    "short": pa.int16(),
    "integer": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "timestamp_ltz": pa.timestamp("us", tz="UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "string": pa.string(),
    "binary": pa.binary(),
    "decimal": pa.decimal128(10, 0),
    "void": pa.null(),
    "null": pa.null(),
}
_CALENDAR_PARTS = pa.struct(
    [("months", pa.int32()), ("days", pa.int32()), ("microseconds", pa.int64())]
)
_VARIANT_PARTS = pa.struct([("value", pa.binary()), ("metadata", pa.binary())])
# Types that Arrow has no word for keep Spark's name beside what they are stored as.
_NAMED: tuple[tuple[re.Pattern[str], pa.DataType], ...] = (
    (re.compile(r"interval (year|month)( to month)?"), pa.int32()),
    (re.compile(r"interval (day|hour|minute|second)( to \w+)?"), pa.duration("us")),
    (re.compile(CALENDAR_INTERVAL), _CALENDAR_PARTS),
    (re.compile(VARIANT), _VARIANT_PARTS),
    (re.compile(r"time\(\d+\)"), pa.time64("ns")),
    (re.compile(r"(geography|geometry)\(.*\)"), pa.binary()),
)
_TEXT = re.compile(r"(char|varchar)\(\s*\d+\s*\)|string\s+collate\s+\S+")
_DECIMAL = re.compile(r"decimal\(\s*(\d+)\s*,\s*(-?\d+)\s*\)")
_WIDEST_DECIMAL = 38


def arrow_schema(schema_json: str) -> pa.Schema:
    """Return the columns of a struct type's JSON; raise DecodeError where a type is not known."""
    columns(schema_json)
    return pa.schema(_fields(json.loads(schema_json)))


def spark_type(field: pa.Field) -> str | None:
    """Name the Spark type of a field where Arrow's type does not tell it."""
    name = (field.metadata or {}).get(SPARK_TYPE)
    return None if name is None else name.decode()


def _fields(kind: Mapping[str, Any]) -> list[pa.Field]:
    names = _numbered([field["name"] for field in kind["fields"]])
    return [_field(name, field["type"]) for name, field in zip(names, kind["fields"], strict=True)]


def _numbered(names: list[str]) -> list[str]:
    """Call the second `sum` `sum#2`: buffers of aggregates repeat names."""
    seen: dict[str, int] = {}
    numbered = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        numbered.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return numbered


def _field(name: str, kind: Any, *, nullable: bool = True) -> pa.Field:
    if isinstance(kind, str):
        return _plain_field(name, kind, nullable=nullable)
    if kind["type"] == "udt":
        return _field(name, kind["sqlType"], nullable=nullable)
    return pa.field(name, _nested(kind), nullable=nullable)


def _nested(kind: Mapping[str, Any]) -> pa.DataType:
    if kind["type"] == "struct":
        return pa.struct(_fields(kind))
    if kind["type"] == "array":
        return pa.list_(_field("element", kind["elementType"]))
    return pa.map_(
        _field("key", kind["keyType"], nullable=False), _field("value", kind["valueType"])
    )


def _plain_field(name: str, kind: str, *, nullable: bool) -> pa.Field:
    if kind in _PLAIN:
        return pa.field(name, _PLAIN[kind], nullable=nullable)
    if _TEXT.fullmatch(kind):
        return pa.field(name, pa.string(), nullable=nullable)
    if found := _DECIMAL.fullmatch(kind):
        return pa.field(name, _decimal(kind, *map(int, found.groups())), nullable=nullable)
    for pattern, stored in _NAMED:
        if pattern.fullmatch(kind):
            return pa.field(name, stored, nullable=nullable, metadata={SPARK_TYPE: kind.encode()})
    raise _unknown(kind)


def _decimal(kind: str, precision: int, scale: int) -> pa.DataType:
    if not (1 <= precision <= _WIDEST_DECIMAL and -_WIDEST_DECIMAL <= scale <= _WIDEST_DECIMAL):
        raise _unknown(kind)
    return pa.decimal128(precision, scale)


def _unknown(kind: str) -> DecodeError:
    return DecodeError("HF2738", f"state schema: unknown type {kind!r}")


_CODE = "HF2739"


def typed_row(values: Sequence[object], columns: pa.Schema) -> pa.StructArray:
    """Return one row of these values, in the order of the columns; text is parsed where need be."""
    if len(values) != len(columns):
        given = counted(len(values), "value is", "values are")
        raise UsageError(_CODE, f"{given} given for {counted(len(columns), 'column')}")
    children = [_typed(value, field) for value, field in zip(values, columns, strict=True)]
    return pa.Array.from_buffers(pa.struct(columns), 1, [None], children=children)


def _typed(value: object, field: pa.Field) -> pa.Array:
    try:
        if _would_change(value, field.type):
            raise ValueError(value)
        if value is None:
            return pa.nulls(1, field.type)
        if isinstance(value, str) or (type(value) is int and pa.types.is_integer(field.type)):
            return cast(arrow_text(str(value)), field.type)
        return pa.array([value], field.type)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        message = f"column {field.name!r} is of type {field.type}, which {value!r} is not"
        raise UsageError(_CODE, message) from error


def _would_change(value: object, kind: pa.DataType) -> bool:
    """Return whether Arrow would take it as something else: it cuts fractions, and encodes text."""
    if isinstance(value, Mapping) and pa.types.is_struct(kind):
        return any(_would_change(value.get(field.name), field.type) for field in kind)
    if isinstance(value, list) and pa.types.is_list(kind):
        return any(_would_change(item, kind.value_type) for item in value)
    if isinstance(value, float):
        return bool(pa.types.is_integer(kind)) and not value.is_integer()
    return isinstance(value, str) and bool(pa.types.is_binary(kind))
