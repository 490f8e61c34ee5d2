"""Makes any Spark type, nested at will, and values of it."""

from __future__ import annotations

import json
from datetime import timedelta, timezone
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from tests.format.strategies import INT32, INT64


def _decimals(precision: int, scale: int) -> st.SearchStrategy[Decimal]:
    most = 10**precision - 1
    small = min(most, 300)
    numbers = st.integers(-most, most) | st.integers(-small, small)
    return numbers.map(lambda number: Decimal(f"{number}E{-scale}"))


PLAIN: dict[str, st.SearchStrategy[Any]] = {
    "boolean": st.booleans(),
    "byte": st.integers(-128, 127),
    "short": st.integers(-(2**15), 2**15 - 1),
    "integer": INT32,
    "long": INT64,
    "float": st.floats(width=32, allow_nan=False),
    "double": st.floats(allow_nan=False),
    "date": st.dates(),
    "timestamp": st.datetimes(timezones=st.just(timezone.utc)),
    "timestamp_ntz": st.datetimes(),
    "time(6)": st.times(),
    "interval day to second": st.timedeltas(
        timedelta(days=-106_751_991), timedelta(days=106_751_990)
    ),
    "interval year to month": INT32,
    "interval": st.fixed_dictionaries({"months": INT32, "days": INT32, "microseconds": INT64}),
    "variant": st.fixed_dictionaries({"value": st.binary(), "metadata": st.binary()}),
    "string": st.text(),
    "binary": st.binary(),
    "decimal(1,0)": _decimals(1, 0),
    "decimal(18,18)": _decimals(18, 18),
    "decimal(19,0)": _decimals(19, 0),
    "decimal(38,10)": _decimals(38, 10),
    "void": st.none(),
}


def struct_of(types: list[Any]) -> dict[str, Any]:
    """Give the struct type with columns of these types."""
    fields = [
        {"name": f"c{index}", "type": kind, "nullable": True, "metadata": {}}
        for index, kind in enumerate(types)
    ]
    return {"type": "struct", "fields": fields}


def schema_json(types: list[Any]) -> str:
    """Give the JSON of a schema with columns of these types."""
    return json.dumps(struct_of(types))


def _nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    key = inner.filter(lambda kind: kind != "void")
    return st.one_of(
        st.lists(inner, max_size=4).map(struct_of),
        inner.map(lambda kind: {"type": "array", "elementType": kind, "containsNull": True}),
        st.tuples(key, inner).map(
            lambda pair: {
                "type": "map",
                "keyType": pair[0],
                "valueType": pair[1],
                "valueContainsNull": True,
            }
        ),
    )


TYPES = st.recursive(st.sampled_from(sorted(PLAIN)), _nested, max_leaves=6)


def values_of(kind: Any, *, nullable: bool = True) -> st.SearchStrategy[Any]:
    """Make values of a type, nulls among them."""
    values = _present(kind)
    return st.none() | values if nullable else values


def _present(kind: Any) -> st.SearchStrategy[Any]:
    if isinstance(kind, str):
        return PLAIN[kind]
    if kind["type"] == "struct":
        parts = {field["name"]: values_of(field["type"]) for field in kind["fields"]}
        return st.fixed_dictionaries(parts)
    if kind["type"] == "array":
        return st.lists(values_of(kind["elementType"]), max_size=5)
    keys = values_of(kind["keyType"], nullable=False)
    return st.lists(st.tuples(keys, values_of(kind["valueType"])), max_size=4)
