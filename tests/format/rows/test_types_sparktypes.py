"""Spark's types become Arrow's, and what Arrow has no word for keeps Spark's name."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest

from holdfast.errors import DecodeError
from holdfast.format.rows.types import arrow_schema, spark_type


def field_of(kind: Any) -> pa.Field:
    """Give the one column of a schema."""
    field = {"name": "a", "type": kind, "nullable": False, "metadata": {}}
    return arrow_schema(json.dumps({"type": "struct", "fields": [field]})).field(0)


@pytest.mark.parametrize(
    ("kind", "arrow"),
    [
        ("boolean", pa.bool_()),
        ("byte", pa.int8()),
        ("short", pa.int16()),
        ("integer", pa.int32()),
        ("long", pa.int64()),
        ("float", pa.float32()),
        ("double", pa.float64()),
        ("date", pa.date32()),
        ("timestamp", pa.timestamp("us", tz="UTC")),
        ("timestamp_ntz", pa.timestamp("us")),
        ("string", pa.string()),
        ("string collate UNICODE", pa.string()),
        ("char(3)", pa.string()),
        ("varchar(40)", pa.string()),
        ("binary", pa.binary()),
        ("decimal", pa.decimal128(10, 0)),
        ("decimal(38,10)", pa.decimal128(38, 10)),
        ("decimal(5,-2)", pa.decimal128(5, -2)),
        ("void", pa.null()),
        ("null", pa.null()),
    ],
)
def test_plain_types(kind: str, arrow: pa.DataType) -> None:
    """Every one can be null, whatever the schema says."""
    assert field_of(kind) == pa.field("a", arrow)
    assert spark_type(field_of(kind)) is None


@pytest.mark.parametrize(
    ("kind", "arrow"),
    [
        ("interval year to month", pa.int32()),
        ("interval month", pa.int32()),
        ("interval day to second", pa.duration("us")),
        ("interval minute", pa.duration("us")),
        ("time(6)", pa.time64("ns")),
        ("geography(OGC:CRS84, SPHERICAL)", pa.binary()),
        ("geometry(OGC:CRS84)", pa.binary()),
        (
            "interval",
            pa.struct({"months": pa.int32(), "days": pa.int32(), "microseconds": pa.int64()}),
        ),
        ("variant", pa.struct({"value": pa.binary(), "metadata": pa.binary()})),
    ],
)
def test_types_that_keep_their_name(kind: str, arrow: pa.DataType) -> None:
    """What they are stored as does not tell what they are."""
    assert field_of(kind).type == arrow
    assert spark_type(field_of(kind)) == kind


def test_nested_types() -> None:
    """A map's key is the one thing that can't be null; names of inner types are kept, too."""
    inner = {"name": "x", "type": "interval month", "nullable": True, "metadata": {}}
    kind = {
        "type": "map",
        "keyType": "string",
        "valueType": {"type": "array", "elementType": {"type": "struct", "fields": [inner, inner]}},
    }
    found = field_of(kind).type
    assert (found.key_field.nullable, found.item_field.nullable) == (False, True)
    struct = found.item_type.value_type
    assert [field.name for field in struct] == ["x", "x#2"]
    assert [spark_type(field) for field in struct] == ["interval month"] * 2


def test_a_user_defined_type_is_what_it_is_stored_as() -> None:
    """Its class need not be known."""
    stored = {"type": "array", "elementType": "double", "containsNull": False}
    kind = {"type": "udt", "pyClass": "a.Point", "serializedClass": "…", "sqlType": stored}
    assert field_of(kind).type == pa.list_(pa.field("element", pa.float64()))


@pytest.mark.parametrize("kind", ["timestamp_ltz(9)", "decimal(39,0)", "decimal(0,0)", "object"])
def test_unknown_types_are_refused(kind: str) -> None:
    """A newer Spark may have more."""
    with pytest.raises(DecodeError, match=kind.partition("(")[0]) as caught:
        field_of(kind)
    assert caught.value.code.number == "HF2738"


@pytest.mark.parametrize("text", ["{}", "[]", "x", '"long"', '{"type": "array"}'])
def test_what_is_no_schema_is_refused(text: str) -> None:
    """As wherever a state schema is read."""
    with pytest.raises(DecodeError) as caught:
        arrow_schema(text)
    assert caught.value.code.number == "HF2115"
