"""Ordered columns: every value comes back, and bytes are in the order of the values."""

from __future__ import annotations

import struct

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.errors import DecodeError
from holdfast.format.buffers import Spans
from holdfast.format.rocksdb.keys import ordered_columns

INTEGERS = {pa.int8(): "b", pa.int16(): "h", pa.int32(): "i", pa.int64(): "q"}
FRACTIONS = {pa.float32(): "f", pa.float64(): "d"}
LETTERS = {**INTEGERS, **FRACTIONS}


def part(kind: pa.DataType, value: float | None) -> bytes:
    """Encode a value as Spark does: its sign, then big-endian, negative fractions inverted."""
    letter = LETTERS[kind]
    if value is None:
        return b"\2" + bytes(struct.calcsize(letter))
    raw = struct.pack(f">{letter}", value)
    negative = raw[0] >= 0x80
    if negative and kind in FRACTIONS:
        raw = bytes(byte ^ 0xFF for byte in raw)
    return (b"\0" if negative else b"\1") + raw


def row(parts: list[bytes]) -> bytes:
    """Put byte strings into a row, with their places before them."""
    first = -(-len(parts) // 64) * 8
    at = first + 8 * len(parts)
    cells, tail = b"", b""
    for one in parts:
        cells += struct.pack("<q", at + len(tail) << 32 | len(one))
        tail += one.ljust(-(-len(one) // 8) * 8, b"\0")
    return bytes(first) + cells + tail


def avro(parts: list[bytes]) -> bytes:
    """Put them into an Avro record: marker and value of each, neither null."""
    return b"".join(
        b"\2\2" + one[:1] + b"\2" + bytes([2 * (len(one) - 1)]) + one[1:] for one in parts
    )


def value_of(kind: pa.DataType) -> st.SearchStrategy[float | None]:
    """Draw a value of a type, or null."""
    if kind in FRACTIONS:
        return st.none() | st.floats(width=kind.bit_width, allow_nan=False)
    bits = kind.bit_width - 1
    return st.none() | st.integers(-(2**bits), 2**bits - 1)


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[pa.DataType], list[list[float | None]]]:
    """Draw columns and rows."""
    types = draw(st.lists(st.sampled_from([*LETTERS]), min_size=1, max_size=3))
    rows = draw(st.lists(st.tuples(*map(value_of, types)), max_size=10))
    return types, [list(one) for one in rows]


@settings(deadline=None)
@given(tables(), st.booleans())
def test_values_come_back(
    table: tuple[list[pa.DataType], list[list[float | None]]], in_avro: bool
) -> None:
    types, rows = table
    encode = avro if in_avro else row
    spans = Spans.of(
        encode([part(*pair) for pair in zip(types, values, strict=True)]) for values in rows
    )
    columns = ordered_columns(spans, types, avro=in_avro)
    assert [one.type for one in columns] == types
    found = [one.to_pylist() for one in columns]
    assert found == [[values[index] for values in rows] for index in range(len(types))]


def test_many_columns() -> None:
    types = [pa.int32()] * 70
    columns = ordered_columns(Spans.of([row([part(pa.int32(), -n) for n in range(70)])]), types)
    assert [column.to_pylist() for column in columns] == [[-number] for number in range(70)]


def refused(data: bytes, kind: pa.DataType, *, in_avro: bool = False) -> str:
    """Decode bytes that must be refused, behind good ones."""
    good = (avro if in_avro else row)([part(kind, 1)])
    with pytest.raises(DecodeError) as caught:
        ordered_columns(Spans.of([good, data]), [kind], avro=in_avro)
    assert caught.value.code.number == "HF2722"
    return caught.value.message


GOOD = row([part(pa.int64(), 5)])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "too short"),
        (GOOD[:15], "too short"),
        (GOOD[:24], "is outside"),
        (row([part(pa.int32(), 5)]), "the width"),
        (row([b"\3" + bytes(8)]), "unknown sign"),
        (row([b"\0" + struct.pack(">q", 5)]), "contradicts"),
        (row([b"\1" + struct.pack(">q", -5)]), "contradicts"),
        (GOOD[:8] + struct.pack("<q", 8 << 32 | 9) + GOOD[16:], "is outside"),
        (GOOD[:8] + struct.pack("<q", -1) + GOOD[16:], "the width"),
    ],
)
def test_no_ordered_columns(data: bytes, message: str) -> None:
    told = refused(data, pa.int64())
    assert message in told
    assert "entry 1:" in told


@pytest.mark.parametrize("byte", [0, 1, 3, 4])
def test_avro_of_another_shape(byte: int) -> None:
    wrong = bytearray(avro([part(pa.int64(), 5)]))
    wrong[byte] ^= 2
    assert "Avro" in refused(bytes(wrong), pa.int64(), in_avro=True)
    assert "length" in refused(bytes(wrong[:-1]), pa.int64(), in_avro=True)


def test_a_type_that_can_not_be_ordered() -> None:
    with pytest.raises(DecodeError, match="bool"):
        ordered_columns(Spans.of([GOOD]), [pa.bool_()])


@given(st.lists(st.binary(max_size=40)), st.sampled_from([*LETTERS]), st.booleans())
def test_any_bytes_are_decoded_or_refused(
    rows: list[bytes], kind: pa.DataType, in_avro: bool
) -> None:
    try:
        ordered_columns(Spans.of(rows), [kind], avro=in_avro)
    except DecodeError as error:
        assert error.code.number == "HF2722"
