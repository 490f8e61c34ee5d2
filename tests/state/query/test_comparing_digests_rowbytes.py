"""Bytes for values: equal for equal values, different for all others."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from holdfast.state.query.comparing import row_bytes

MOMENT = datetime(2026, 1, 1, tzinfo=timezone.utc)
COLUMNS: list[tuple[pa.DataType, list[Any]]] = [
    (pa.bool_(), [True, False, None]),
    (pa.int8(), [0, 1, -1, None]),
    (pa.int64(), [0, 1, 256, -1, None]),
    (pa.float64(), [0.0, 1.5, -1.5, None]),
    (pa.date32(), [date(2026, 1, 1), date(2026, 1, 2), None]),
    (pa.timestamp("us", tz="UTC"), [MOMENT, MOMENT + timedelta(microseconds=1), None]),
    (pa.duration("us"), [timedelta(0), timedelta(1), None]),
    (pa.decimal128(38, 2), [Decimal("0.00"), Decimal("-1.25"), None]),
    (pa.string(), ["", "a", "ab", "b", "a\0", None]),
    (pa.binary(), [b"", b"\0", b"\0\0", None]),
    (pa.list_(pa.string()), [[], [""], ["", ""], ["ab"], ["a", "b"], [None], None]),
    (pa.map_(pa.string(), pa.int64()), [[], [("a", 1)], [("a", None)], [("a", 1), ("b", 1)], None]),
    (
        pa.struct([("a", pa.string()), ("b", pa.string())]),
        [{"a": "x", "b": "y"}, {"a": "xy", "b": ""}, {"a": None, "b": "xy"},
         {"a": None, "b": None}, None],
    ),
    (pa.list_(pa.list_(pa.int32())), [[], [[]], [[1], [2]], [[1, 2]], [None, [1, 2]]]),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "values"), COLUMNS, ids=lambda one: str(one)[:40])
def test_different_values_have_different_bytes(kind: pa.DataType, values: list[Any]) -> None:
    """Also null, empty and zero, and the same characters in other fields."""
    found = row_bytes(pa.array(values, kind)).to_pylist()
    assert len(set(found)) == len(values)


@pytest.mark.parametrize(("kind", "values"), COLUMNS, ids=lambda one: str(one)[:40])
def test_bytes_do_not_depend_on_where_a_value_stands(kind: pa.DataType, values: list[Any]) -> None:
    """Not on its neighbours, nor on the array being a part of another."""
    array = pa.array(values, kind)
    whole = row_bytes(array).to_pylist()
    assert row_bytes(array.slice(1)).to_pylist() == whole[1:]
    for position, value in enumerate(values):
        assert row_bytes(pa.array([value], kind)).to_pylist() == [whole[position]]


def test_a_column_without_any_value() -> None:
    """No type, or no row."""
    assert len(set(row_bytes(pa.nulls(3)).to_pylist())) == 1
    for kind, _ in COLUMNS:
        assert len(row_bytes(pa.array([], kind))) == 0
        assert len(set(row_bytes(pa.nulls(2, kind)).to_pylist())) == 1


def test_what_hides_behind_a_null_does_not_count() -> None:
    """The slot of a null may hold anything."""
    data = pa.py_buffer(bytes([7, 0, 9, 0]))
    hidden = pa.Array.from_buffers(pa.int8(), 4, [pa.py_buffer(bytes([0b0010])), data])
    assert (
        row_bytes(hidden).to_pylist()
        == row_bytes(pa.array([None, 0, None, None], pa.int8())).to_pylist()
    )
