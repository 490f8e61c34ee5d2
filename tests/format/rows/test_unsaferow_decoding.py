"""Rows of any types, nested at any depth, are decoded to what was written; so are they encoded."""

from __future__ import annotations

import json
import math
import struct
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.format.buffers import Spans
from holdfast.format.rows.types import arrow_schema
from holdfast.format.rows.unsaferow import decode_rows, encode_row
from tests.format.rows.slowencoder import slow_row
from tests.format.rows.typedvalues import PLAIN, TYPES, schema_json, values_of


def drawn(data: st.DataObject, types: list[Any]) -> list[list[Any]]:
    """Make a few rows of these types."""
    row = st.tuples(*map(values_of, types)).map(list)
    return data.draw(st.lists(row, min_size=1, max_size=6))


def check(types: list[Any], rows: list[list[Any]]) -> None:
    """Write rows slowly, and compare both ways with it."""
    columns = arrow_schema(schema_json(types))
    written = [slow_row(types, row) for row in rows]
    decoded = decode_rows(Spans.of(written), columns)
    decoded.validate(full=True)
    assert [list(row.values()) for row in decoded.to_pylist()] == rows
    assert [encode_row(row, columns) for row in rows] == written


@pytest.mark.parametrize("kind", sorted(PLAIN))
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_each_type_comes_back(kind: str, data: st.DataObject) -> None:
    """Alone, and in an array, where cells are narrower."""
    types = [kind, {"type": "array", "elementType": kind, "containsNull": True}]
    check(types, drawn(data, types))


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(types=st.lists(TYPES, max_size=5), data=st.data())
def test_nested_types_come_back(types: list[Any], data: st.DataObject) -> None:
    """Structs, arrays and maps of each other."""
    check(types, drawn(data, types))


@pytest.mark.parametrize("count", [63, 64, 65, 130])
def test_null_bits_beyond_a_word(count: int) -> None:
    """Columns and elements beyond 64 have bits in a further word."""
    row = [None if index % 3 == 0 else index % 100 for index in range(count)]
    check(["long"] * count, [row, row[::-1]])
    check([{"type": "array", "elementType": "byte", "containsNull": True}], [[row], [row[::-1]]])


def test_wide_decimals_take_as_few_bytes_as_java_gives_them() -> None:
    """A negative power of two needs no byte for its sign."""
    numbers = [sign * 2**bits + more for bits in (7, 8, 15, 63, 120) for sign in (1, -1)
               for more in (-1, 0, 1)]  # fmt: skip
    check(["decimal(38,0)"], [[Decimal(number)] for number in [0, *numbers]])


def test_no_rows_and_no_columns() -> None:
    """A key without columns has no bytes at all."""
    assert len(decode_rows(Spans.of([]), arrow_schema(schema_json(["string", "long"])))) == 0
    assert len(decode_rows(Spans.of([b"", b""]), arrow_schema(schema_json([])))) == 2
    assert encode_row([], arrow_schema(schema_json([]))) == b""


def test_repeated_names_are_numbered() -> None:
    """Buffers of aggregates repeat names: none is lost."""
    fields = [{"name": "sum", "type": "long", "nullable": True, "metadata": {}}] * 3
    columns = arrow_schema(json.dumps({"type": "struct", "fields": fields}))
    (row,) = decode_rows(Spans.of([slow_row(["long"] * 3, [1, 2, 3])]), columns).to_pylist()
    assert row == {"sum": 1, "sum#2": 2, "sum#3": 3}


def test_rows_in_any_order_and_repeated() -> None:
    """Spans need not ascend, and one row may be asked for twice."""
    types = ["string", "long"]
    rows = [[f"key {index}" * (index % 4), index] for index in range(50)]
    spans = Spans.of([slow_row(types, row) for row in rows])
    order = np.array([7, 3, 3, 49, 0, 21])
    decoded = decode_rows(spans.take(order), arrow_schema(schema_json(types)))
    assert [list(row.values()) for row in decoded.to_pylist()] == [rows[index] for index in order]


def test_rows_with_gaps_at_odd_places() -> None:
    """In a file rows begin anywhere."""
    row = slow_row(["string"], ["alder"])
    data = np.frombuffer(b"abc" + row + b"de" + row + b"f", np.uint8)
    starts, lengths = np.array([3, 5 + len(row)]), np.full(2, len(row))
    decoded = decode_rows(Spans(data, starts, lengths), arrow_schema(schema_json(["string"])))
    assert decoded.to_pylist() == [{"c0": "alder"}] * 2


def test_bytes_beyond_a_multiple_of_eight_are_left_out() -> None:
    """Sparks before 2.3 wrote four bytes too many."""
    columns = arrow_schema(schema_json(["long"]))
    assert decode_rows(Spans.of([slow_row(["long"], [5]) + b"abcd"]), columns).to_pylist() == [
        {"c0": 5}
    ]


def test_text_that_is_no_utf8_is_shown_as_java_shows_it() -> None:
    """Spark keeps any bytes as text: reading must not stop at them."""
    columns = arrow_schema(schema_json(["string"]))
    rows = [slow_row(["binary"], [data]) for data in (b"ok", b"\xff\xfeA", b"")]
    texts = decode_rows(Spans.of([*rows, slow_row(["string"], [None])]), columns).to_pylist()
    assert [row["c0"] for row in texts] == ["ok", "\ufffd\ufffdA", "", None]


def test_not_a_number_has_one_spelling() -> None:
    """Spark writes a single NaN, whichever was computed."""
    columns = arrow_schema(schema_json(["float", "double"]))
    odd = struct.unpack("<d", struct.pack("<Q", 0xFFF8000000000123))[0]
    encoded = encode_row([odd, odd], columns)
    assert encoded[8:] == struct.pack("<IIQ", 0x7FC00000, 0, 0x7FF8000000000000)
    (row,) = decode_rows(Spans.of([encoded]), columns).to_pylist()
    assert all(math.isnan(value) for value in row.values())


def test_spans_outside_of_their_data_are_refused() -> None:
    """Nothing is ever read there."""
    for start, length in ((0, 24), (-8, 16), (8, -8)):
        spans = Spans(np.zeros(16, np.uint8), np.array([start]), np.array([length]))
        with pytest.raises(ValueError, match="outside its data"):
            decode_rows(spans, arrow_schema(schema_json(["long"])))
