"""State rows in Avro: what a plain writer wrote comes back, and nothing else is believed."""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from decimal import Context, Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.errors import DecodeError
from holdfast.format.buffers import Spans
from holdfast.format.rows.avro import decode_avro, decode_avro_versions

PLAIN: Mapping[pa.DataType, st.SearchStrategy[Any]] = {
    pa.bool_(): st.booleans(),
    pa.int8(): st.integers(-(2**7), 2**7 - 1),
    pa.int16(): st.integers(-(2**15), 2**15 - 1),
    pa.int32(): st.integers(-(2**31), 2**31 - 1),
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.float32(): st.floats(width=32, allow_nan=False),
    pa.float64(): st.floats(allow_nan=False),
    pa.string(): st.text(max_size=9),
    pa.binary(): st.binary(max_size=9),
    pa.decimal128(9, 2): st.decimals(-9999999, 9999999, places=2),
    pa.decimal128(38, 0): st.integers(-(10**38) + 1, 10**38 - 1).map(Decimal),
    pa.date32(): st.dates(),
    pa.timestamp("us"): st.datetimes(),
}


def number(value: int) -> bytes:
    """Encode an integer: the sign in the lowest bit, seven bits a byte."""
    left = (value << 1) ^ (value >> 63)
    encoded = b""
    while left >= 0x80:
        encoded += bytes([left & 0x7F | 0x80])
        left >>= 7
    return encoded + bytes([left])


def optional(kind: pa.DataType, value: Any) -> bytes:
    """Encode a union of null and a type; void is no union."""
    if pa.types.is_null(kind):
        return b""
    return number(0) if value is None else number(1) + plain(kind, value)


def item(kind: pa.DataType, value: Any) -> bytes:
    """Encode what stands in an array or a map."""
    return optional(kind, value) if pa.types.is_nested(kind) else plain(kind, value)


def plain(kind: pa.DataType, value: Any) -> bytes:
    """Encode a value that is not null."""
    if pa.types.is_struct(kind):
        return b"".join(optional(field.type, value[field.name]) for field in kind)
    if pa.types.is_map(kind):
        pairs = [plain(kind.key_type, key) + item(kind.item_type, one) for key, one in value]
        return blocks(pairs)
    if pa.types.is_list(kind):
        return blocks([item(kind.value_type, one) for one in value])
    if pa.types.is_boolean(kind):
        return bytes([value])
    if pa.types.is_floating(kind):
        return struct.pack("<f" if kind.bit_width == 32 else "<d", value)
    if pa.types.is_decimal(kind):
        width = math.ceil((math.log2(10**kind.precision) + 1) / 8)
        unscaled = int(value.scaleb(kind.scale, Context(prec=60)))
        return unscaled.to_bytes(width, "big", signed=True)
    if isinstance(value, str):
        value = value.encode()
    if isinstance(value, bytes):
        return number(len(value)) + value
    return number(since_1970(value))


def since_1970(value: Any) -> int:
    """Count microseconds or days; other numbers stay what they are."""
    if isinstance(value, datetime):
        return (value - datetime(1970, 1, 1)) // timedelta(microseconds=1)
    if isinstance(value, date):
        return (value - date(1970, 1, 1)).days
    return int(value)


def blocks(items: list[bytes]) -> bytes:
    """Encode items in blocks, every second one with its size."""
    encoded = b""
    for index in range(0, len(items), 2):
        some = items[index : index + 2]
        joined = b"".join(some)
        sized = index % 4 == 0
        encoded += number(-len(some)) + number(len(joined)) if sized else number(len(some))
        encoded += joined
    return encoded + number(0)


def types(depth: int = 2) -> st.SearchStrategy[pa.DataType]:
    """Draw a type, nested up to a depth."""
    leaves = st.sampled_from([*PLAIN])
    if depth == 0:
        return leaves
    inner = types(depth - 1)
    return st.one_of(
        leaves,
        st.just(pa.null()),
        inner.map(lambda kind: pa.list_(pa.field("element", kind))),
        inner.map(lambda kind: pa.map_(pa.string(), kind)),
        st.lists(inner, max_size=3).map(structure),
    )


def structure(kinds: list[pa.DataType]) -> pa.StructType:
    """Name the fields of a struct."""
    return pa.struct([pa.field(f"f{index}", kind) for index, kind in enumerate(kinds)])


def values(kind: pa.DataType, *, within: bool = False) -> st.SearchStrategy[Any]:
    """Draw a value; null, too, but for plain types within arrays and maps."""
    if pa.types.is_null(kind):
        return st.none()
    if pa.types.is_struct(kind):
        fields = {field.name: values(field.type) for field in kind}
        return st.none() | st.fixed_dictionaries(fields)
    if pa.types.is_map(kind):
        entries = st.dictionaries(st.text(max_size=3), values(kind.item_type, within=True))
        return st.none() | entries.map(lambda found: [*found.items()])
    if pa.types.is_list(kind):
        return st.none() | st.lists(values(kind.value_type, within=True), max_size=5)
    return PLAIN[kind] if within else st.none() | PLAIN[kind]


@st.composite
def tables(draw: st.DrawFn) -> tuple[pa.Schema, list[dict[str, Any]]]:
    """Draw columns and rows."""
    kind = structure(draw(st.lists(types(), min_size=1, max_size=3)))
    rows = st.lists(st.fixed_dictionaries({field.name: values(field.type) for field in kind}))
    return pa.schema(list(kind)), draw(rows)


@settings(deadline=None, max_examples=60)
@given(tables())
def test_what_was_written_comes_back(table: tuple[pa.Schema, list[dict[str, Any]]]) -> None:
    columns, rows = table
    if any(holds_void(field.type) for field in columns):
        return
    spans = Spans.of(plain(pa.struct(columns), row) for row in rows)
    array = decode_avro(spans, columns)
    array.validate(full=True)
    assert array.type == pa.struct(columns)
    assert array.to_pylist() == rows


def holds_void(kind: pa.DataType, *, within: bool = False) -> bool:
    """Tell whether an array or map holds nothing but nulls, which Spark does not keep in Avro."""
    if pa.types.is_null(kind):
        return within
    if pa.types.is_struct(kind):
        return any(holds_void(field.type) for field in kind)
    if pa.types.is_map(kind):
        return holds_void(kind.item_type, within=True)
    return bool(pa.types.is_list(kind)) and holds_void(kind.value_type, within=True)


COLUMNS = pa.schema(
    [
        ("name", pa.string()),
        ("count", pa.int64()),
        ("nothing", pa.null()),
        ("inner", pa.struct([("a", pa.int32()), ("b", pa.float64())])),
        ("list", pa.list_(pa.field("element", pa.string()))),
        ("map", pa.map_(pa.string(), pa.int16())),
        ("money", pa.decimal128(12, 2)),
    ]
)
ROW = {
    "name": "alder",
    "count": -5,
    "nothing": None,
    "inner": {"a": 7, "b": None},
    "list": ["x", "y", "z"],
    "map": [("k", 1)],
    "money": Decimal("12.50"),
}


def test_rows_in_another_order() -> None:
    rows = [{**ROW, "count": number} for number in range(5)]
    spans = Spans.of(plain(pa.struct(COLUMNS), row) for row in rows)
    turned = Spans(spans.data, spans.starts[::-1], spans.lengths[::-1])
    assert decode_avro(turned, COLUMNS).to_pylist() == rows[::-1]


def test_no_rows() -> None:
    assert len(decode_avro(Spans.of([]), COLUMNS)) == 0
    assert decode_avro_versions(Spans.of([]), {}, COLUMNS).type == pa.struct(COLUMNS)


def test_each_row_is_read_with_the_schema_that_it_names() -> None:
    first = pa.schema([("a", pa.int32()), ("gone", pa.string())])
    second = pa.schema([("a", pa.int64()), ("b", pa.string())])
    rows = [
        struct.pack("<h", 1) + plain(pa.struct(second), {"a": 2**40, "b": "x"}),
        struct.pack("<h", 0) + plain(pa.struct(first), {"a": 5, "gone": "y"}),
        struct.pack("<h", 1) + plain(pa.struct(second), {"a": None, "b": None}),
    ]
    found = decode_avro_versions(Spans.of(rows), {0: first, 1: second}, second)
    assert found.to_pylist() == [
        {"a": 2**40, "b": "x"},
        {"a": 5, "b": None},
        {"a": None, "b": None},
    ]


def test_nested_columns_are_added_too() -> None:
    first = pa.schema([("s", pa.struct([("a", pa.int32())]))])
    second = pa.schema([("s", pa.struct([("a", pa.int64()), ("b", pa.string())]))])
    rows = [struct.pack("<h", 0) + plain(pa.struct(first), {"s": s}) for s in ({"a": 1}, None)]
    found = decode_avro_versions(Spans.of(rows), {0: first}, second)
    assert found.to_pylist() == [{"s": {"a": 1, "b": None}}, {"s": None}]


def test_a_column_of_another_kind() -> None:
    first = pa.schema([("a", pa.string())])
    row = struct.pack("<h", 0) + plain(pa.struct(first), {"a": "x"})
    with pytest.raises(DecodeError) as caught:
        decode_avro_versions(Spans.of([row]), {0: first}, pa.schema([("a", pa.int64())]))
    assert caught.value.code.number == "HF2726"


def test_a_schema_that_is_not_there() -> None:
    with pytest.raises(DecodeError, match=r"row 1.*id is 3") as caught:
        decode_avro_versions(
            Spans.of([b"\0\0\0", b"\3\0\0"]), {0: pa.schema([("a", pa.int32())])}, COLUMNS
        )
    assert caught.value.code.number == "HF2727"


def test_a_row_too_short_to_name_its_schema() -> None:
    with pytest.raises(DecodeError) as caught:
        decode_avro_versions(Spans.of([b"\0"]), {}, COLUMNS)
    assert caught.value.code.number == "HF2726"


def refused(data: bytes, kind: pa.DataType) -> str:
    """Decode a column that must be refused."""
    with pytest.raises(DecodeError) as caught:
        decode_avro(Spans.of([b"\0", data]), pa.schema([("a", kind)]))
    assert caught.value.code.number == "HF2726"
    return caught.value.message


@pytest.mark.parametrize(
    ("data", "kind", "message"),
    [
        (b"", pa.int32(), "ends in the middle of a number"),
        (b"\2", pa.int32(), "ends in the middle of a number"),
        (b"\2\x80", pa.int32(), "ends in the middle of a number"),
        (b"\2" + b"\xff" * 10 + b"\1", pa.int64(), "more than 64 bits"),
        (b"\4\0", pa.int32(), "neither null nor a value"),
        (b"\1\0", pa.int32(), "neither null nor a value"),
        (b"\2" + number(2**31), pa.int32(), "too large"),
        (b"\2" + number(300), pa.int8(), "too large"),
        (b"\2\2", pa.bool_(), "neither true nor false"),
        (b"\2" + number(9) + b"short", pa.string(), "ends in the middle of a value"),
        (b"\2" + number(-1), pa.binary(), "ends in the middle of a value"),
        (b"\2" + number(2**62), pa.binary(), "ends in the middle of a value"),
        (b"\2" + number(1) + b"\xff", pa.string(), "not UTF-8"),
        (b"\2" + bytes(7), pa.float64(), "ends in the middle of a value"),
        (b"\2" + b"\x7f" * 4, pa.decimal128(9, 2), "is not a decimal"),
        (b"\0\0", pa.int32(), "continues after"),
        (b"\2" + number(2**60), pa.list_(pa.int32()), "too many items"),
        (b"\2" + number(-(2**63)) + number(0), pa.list_(pa.int32()), "too many items"),
        (b"\2\0", pa.duration("us"), "does not store duration"),
        (b"\2\0", pa.list_(pa.null()), "does not store list"),
    ],
)
def test_no_such_avro(data: bytes, kind: pa.DataType, message: str) -> None:
    assert message in refused(data, kind)


def test_any_damage_is_decoded_or_refused() -> None:
    """Damaged rows by the thousand; lengths that lie cost neither time nor memory."""
    good = plain(pa.struct(COLUMNS), ROW)
    source = random.Random(3)
    refusals = 0
    for _ in range(1500):
        damaged = bytearray(good)
        for _ in range(source.choice((1, 1, 2, 5))):
            damaged[source.randrange(len(good))] = source.randrange(256)
        data = bytes(damaged[: source.choice((len(good), source.randrange(len(good) + 1)))])
        try:
            decode_avro(Spans.of([good, data]), COLUMNS).validate(full=True)
        except DecodeError as error:
            assert error.code.number == "HF2726"
            assert "row 1" in error.message
            refusals += 1
    assert refusals > 700
