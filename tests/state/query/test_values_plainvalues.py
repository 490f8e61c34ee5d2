"""Values as JSON: compared with what Spark's own `to_json` says, and turned back again."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from holdfast.errors import UsageError
from holdfast.format.rows.types import SPARK_TYPE
from holdfast.state.query.values import given_value, plain_rows, plain_values

MONTHS = pa.field("months", pa.int32(), metadata={SPARK_TYPE: b"interval year to month"})
UTC = pa.timestamp("us", tz="UTC")
MOMENT = datetime(2026, 1, 1, 0, 2, 3, 4500, tzinfo=timezone.utc)


def plain(values: list[Any], kind: pa.DataType) -> list[object]:
    """Tell the values of a column of that type."""
    return plain_values(pa.array(values, kind), pa.field("column", kind))


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        (MOMENT, UTC, "2026-01-01T00:02:03.004500Z"),
        (MOMENT.replace(microsecond=0), UTC, "2026-01-01T00:02:03Z"),
        (MOMENT.replace(tzinfo=None), pa.timestamp("us"), "2026-01-01T00:02:03.004500"),
        (-(2**62), UTC, "-13097-06-28T09:59:32.612096Z"),
        (MOMENT.date(), pa.date32(), "2026-01-01"),
        (Decimal("-12345678901234567890.10"), pa.decimal128(38, 2), "-12345678901234567890.10"),
        (b"\x00\xff", pa.binary(), "AP8="),
        (0.1, pa.float32(), 0.1),
        (0.1, pa.float64(), 0.1),
        (float("nan"), pa.float64(), "NaN"),
        (float("inf"), pa.float32(), "Infinity"),
        (float("-inf"), pa.float64(), "-Infinity"),
        (timedelta(days=1, microseconds=5), pa.duration("us"), "PT86400.000005S"),
        (timedelta(seconds=-90), pa.duration("us"), "-PT90S"),
        ([1, None], pa.list_(pa.int64()), [1, None]),
        ([("a", 1)], pa.map_(pa.string(), pa.int64()), {"a": 1}),
        ([(3, "x")], pa.map_(pa.int64(), pa.string()), [[3, "x"]]),
        ({"a": {"b": MOMENT}}, pa.struct([("a", pa.struct([("b", UTC)]))]),
         {"a": {"b": "2026-01-01T00:02:03.004500Z"}}),
        (2**63 - 1, pa.int64(), 2**63 - 1),
        (True, pa.bool_(), True),
        (None, pa.null(), None),
    ],
)  # fmt: skip
def test_each_type(value: Any, kind: pa.DataType, expected: object) -> None:
    """Nulls stay null, and a slice shows its own rows."""
    found = plain([value, None], kind)
    assert found == [expected, None]
    assert plain_values(pa.array([None, value], kind).slice(1), pa.field("column", kind)) == [
        expected
    ]
    json.dumps(found, allow_nan=False)


def test_a_slice_shows_its_own_lists_and_maps() -> None:
    """Behind others that are not empty."""
    lists = pa.array([[1, 2], [3], None, [4]], pa.list_(pa.int64())).slice(1)
    assert plain_values(lists, pa.field("column", lists.type)) == [[3], None, [4]]
    maps = pa.array([[("a", 1)], [("b", 2)]], pa.map_(pa.string(), pa.int64())).slice(1)
    assert plain_values(maps, pa.field("column", maps.type)) == [{"b": 2}]


def test_months_are_a_period() -> None:
    assert plain_values(pa.array([14, -1, None], pa.int32()), MONTHS) == ["P14M", "-P1M", None]


def test_bytes_that_are_no_text_are_escaped() -> None:
    """Spark keeps them in a string; JSON can't."""
    values = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\3\0\0\0"), pa.py_buffer(b"a\xffb")]
    )
    assert plain_values(values, pa.field("column", pa.string())) == ["a\\xffb"]


def test_a_struct_without_fields_has_rows() -> None:
    batch = pa.RecordBatch.from_pydict({"key": pa.array([{}, {}], pa.struct([]))})
    assert plain_rows(batch) == [{"key": {}}, {"key": {}}]


@pytest.mark.parametrize(
    ("value", "field"),
    [
        (MOMENT, pa.field("at", UTC)),
        (MOMENT.replace(tzinfo=None), pa.field("at", pa.timestamp("us"))),
        (MOMENT.date(), pa.field("day", pa.date32())),
        (Decimal("1.50"), pa.field("price", pa.decimal128(10, 2))),
        (b"\x00\xff", pa.field("raw", pa.binary())),
        (-timedelta(days=1, microseconds=5), pa.field("length", pa.duration("us"))),
        (-14, MONTHS),
        (float("-inf"), pa.field("size", pa.float64())),
        ({"a": MOMENT, "b": [b"x"]},
         pa.field("s", pa.struct([("a", UTC), ("b", pa.list_(pa.binary()))]))),
    ],
)  # fmt: skip
def test_what_is_shown_can_be_given(value: Any, field: pa.Field) -> None:
    """There and back."""
    (shown,) = plain_values(pa.array([value], field.type), field)
    assert given_value(shown, field) == value


@pytest.mark.parametrize(
    "field",
    [
        pa.field("at", UTC),
        pa.field("at", pa.timestamp("us")),
        pa.field("day", pa.date32()),
        pa.field("price", pa.decimal128(10, 2)),
        pa.field("raw", pa.binary()),
        pa.field("length", pa.duration("us")),
        pa.field("size", pa.float64()),
        pa.field("name", pa.string()),
        MONTHS,
    ],
)
def test_other_text_stays_for_others_to_refuse(field: pa.Field) -> None:
    assert given_value("no such thing!", field) == "no such thing!"


def test_a_struct_needs_all_of_its_fields() -> None:
    field = pa.field("window", pa.struct([("start", UTC), ("end", UTC)]))
    with pytest.raises(UsageError) as failure:
        given_value({"start": "2026-01-01", "ende": None}, field)
    assert failure.value.code.number == "HF2776"
    assert "window consists of start, end" in failure.value.message
