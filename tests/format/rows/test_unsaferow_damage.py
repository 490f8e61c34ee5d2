"""Damaged rows: an error at the row and byte, or values of these bytes alone; nothing else."""

from __future__ import annotations

import random
import struct
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from holdfast.errors import DecodeError
from holdfast.format.buffers import Spans
from holdfast.format.rows.types import arrow_schema
from holdfast.format.rows.unsaferow import decode_rows
from tests.corpus.loading import sample
from tests.drawing import seeds
from tests.format.realrows import real_stores
from tests.format.rows.slowencoder import slow_array, slow_row
from tests.format.rows.typedvalues import schema_json, struct_of

CODE = "HF2730"
LONGS = {"type": "array", "elementType": "long", "containsNull": True}
TEXTS = {"type": "array", "elementType": "string", "containsNull": True}
MAP = {"type": "map", "keyType": "string", "valueType": LONGS, "valueContainsNull": True}
NESTED: list[Any] = [
    "string",
    "decimal(38,4)",
    "interval",
    "variant",
    {"type": "array", "elementType": struct_of(["string", TEXTS]), "containsNull": True},
    MAP,
    "time(6)",
    "boolean",
]
NESTED_ROW = [
    "alder",
    Decimal("-12345678901234567890.1234"),
    {"months": 1, "days": -2, "microseconds": 3},
    {"value": b"\x0c\x01", "metadata": b"\x01\0\0"},
    [{"c0": "birch", "c1": ["a", None, "b" * 20]}, None, {"c0": None, "c1": []}],
    [("k", [1, None]), ("", None)],
    None,
    True,
]


def pointer(offset: int, length: int) -> bytes:
    return struct.pack("<II", length, offset)


def expect(types: list[Any], row: bytes, byte: int, words: str) -> None:
    """Decode the row between two others that are all nulls, and expect it refused."""
    null = slow_row(types, [None] * len(types))
    with pytest.raises(DecodeError, match=f"state row 1, byte {byte}: .*{words}") as caught:
        decode_rows(Spans.of([null, row, null]), arrow_schema(schema_json(types)))
    assert (caught.value.code.number, caught.value.byte) == (CODE, byte)


@pytest.mark.parametrize("length", [0, 8, 16, 23])
def test_a_row_that_is_too_short(length: int) -> None:
    """Two columns need 24 bytes."""
    expect(["long", "long"], bytes(length), 0, "should have")


def test_a_struct_that_is_too_short() -> None:
    """The cell that points to it is the place."""
    row = bytes(8) + pointer(16, 8) + bytes(8)
    expect([struct_of(["long"])], row, 8, "should have")
    expect([struct_of(["long"])], bytes(8) + pointer(16, 0), 8, "should have")


@pytest.mark.parametrize(
    ("offset", "length"),
    [(24, 9), (32, 1), (16, 0), (25, 4), (0, 8), (2**32 - 8, 2**32 - 1), (24, 2**31)],
)
def test_values_outside_of_a_row(offset: int, length: int) -> None:
    """Behind its end, in its fixed part, or at an odd byte."""
    row = bytes(16) + pointer(offset, length) + b"abcdefgh"
    expect(["long", "string"], row, 16, "which is outside")


def test_elements_upon_each_other() -> None:
    """Few bytes can't claim to be many values."""
    array = slow_array("string", ["abc", "def"])
    twice = array[:16] + array[16:24] * 2 + array[32:]
    row = bytes(8) + pointer(16, len(twice)) + twice
    expect([TEXTS], row, 16 + 24, "which is outside")


@pytest.mark.parametrize("count", [-1, 3, 2**31, 2**62, -(2**63)])
def test_an_array_that_counts_wrong(count: int) -> None:
    """Its length leaves room for two."""
    array = struct.pack("<q", count) + slow_array("long", [1, 2])[8:]
    expect([LONGS], bytes(8) + pointer(16, len(array)) + array, 8, "should be an? (array|map)")


def test_an_array_without_a_count() -> None:
    """It has no bytes at all."""
    expect([LONGS], bytes(8) + pointer(16, 0), 8, "should be an? (array|map)")


@pytest.mark.parametrize("size", [-8, 7, 4, 1000, 2**62])
def test_a_map_whose_keys_do_not_end_within_it(size: int) -> None:
    """Nor at a word's end."""
    map_row = slow_row([MAP], [[("k", [1])]])
    expect(
        [MAP], map_row[:16] + struct.pack("<q", size) + map_row[24:], 8, "should be an? (array|map)"
    )


def test_a_map_with_more_keys_than_values_or_a_null_key() -> None:
    """Both arrays must be of one length, and keys are never null."""
    for keys, values in ((["a", "b"], [None]), ([None], [[1]])):
        arrays = slow_array("string", keys), slow_array(LONGS, values)
        data = struct.pack("<q", len(arrays[0])) + arrays[0] + arrays[1]
        expect([MAP], bytes(8) + pointer(16, len(data)) + data, 8, "should be an? (array|map)")


@pytest.mark.parametrize(
    ("kind", "cell", "data"),
    [
        ("decimal(3,1)", struct.pack("<q", 1000), b""),
        ("decimal(19,0)", pointer(16, 17), bytes(24)),
        ("decimal(19,0)", pointer(16, 0), bytes(16)),
        ("decimal(19,0)", pointer(16, 16), b"\x7f" + bytes(15)),
        ("interval", pointer(16, 8), bytes(16)),
        ("variant", pointer(16, 3), bytes(8)),
        ("variant", pointer(16, 8), struct.pack("<ii", 5, 0)),
        ("variant", pointer(16, 8), struct.pack("<ii", -1, 0)),
        ("time(6)", struct.pack("<q", 24 * 3600 * 10**9), b""),
    ],
)
def test_values_that_are_none_of_their_type(kind: str, cell: bytes, data: bytes) -> None:
    """Too many digits, no digits, beyond a day, cut off."""
    expect([kind], bytes(8) + cell + data, 8, "should be|holds a value that is no")


def test_dates_and_times_may_be_any_number() -> None:
    """Arrow holds them, Spark reads them: there is nothing to refuse."""
    row = bytes(8) + b"\xff" * 8 + b"\x7f" * 8
    decoded = decode_rows(Spans.of([row]), arrow_schema(schema_json(["date", "timestamp"])))
    assert decoded.field(0).to_pylist() == [date(1969, 12, 31)]
    assert decoded.field(1).cast(pa.int64()).to_pylist() == [0x7F7F7F7F7F7F7F7F]


def rows_to_damage() -> list[tuple[pa.Schema, bytes]]:
    """Give real rows of every type, and one with what they lack."""
    (store,) = real_stores(sample("types", "4.3.0"))
    schemas = arrow_schema(store.schema.key_json), arrow_schema(store.schema.value_json)
    found = [(arrow_schema(schema_json(NESTED)), slow_row(NESTED, NESTED_ROW))]
    for key, value in list(store.partitions[0].items())[:3]:
        found += [(schemas[0], key), (schemas[1], value)]
    return found


def damaged(row: bytes, chance: random.Random) -> bytes:
    """Flip bits, write extreme numbers, cut, or swap words."""
    data = bytearray(row)
    for _ in range(chance.choice([1, 1, 2, 8])):
        kind, place = chance.randrange(4), chance.randrange(len(data))
        if kind == 0:
            data[place] ^= 1 << chance.randrange(8)
        elif kind == 1:
            extreme = chance.choice([0, 1, 8, 2**31 - 1, 2**31, 2**32 - 1])
            data[place & ~3 : (place & ~3) + 4] = extreme.to_bytes(4, "little")
        elif kind == 2:
            other = chance.randrange(len(data)) & ~7
            data[place & ~7 : (place & ~7) + 8] = data[other : other + 8]
        else:
            data = data[: max(place, 1)]
    return bytes(data)


def outcome(row: bytes, around: bytes, columns: pa.Schema) -> object:
    """Decode the row in the middle of other bytes; give its columns, or the error's place."""
    data = np.frombuffer(around * 64 + row + around * 64, np.uint8)
    spans = Spans(data, np.array([64]), np.array([len(row)]))
    try:
        decoded = decode_rows(spans, columns)
    except DecodeError as error:
        assert error.code.number == CODE
        assert error.byte is not None
        assert 0 <= error.byte <= len(row)
        return error.message
    decoded.validate(full=True)
    return pa.RecordBatch.from_struct_array(decoded).serialize().to_pybytes()


@pytest.mark.parametrize("seed", seeds(6, drawn=2))
def test_any_damage(seed: int) -> None:
    """No other exception, no value that its type can't hold, no byte from outside of the row."""
    chance = random.Random(seed)
    rows = rows_to_damage()
    refused = 0
    for _ in range(800):
        columns, row = chance.choice(rows)
        broken = damaged(row, chance)
        first = outcome(broken, b"\0", columns)
        assert first == outcome(broken, b"\xff", columns)
        refused += isinstance(first, str)
    assert 200 < refused < 800


@pytest.mark.parametrize("seed", range(2))
def test_damage_in_one_row_names_that_row(seed: int) -> None:
    """Whatever stands before and behind it."""
    chance = random.Random(seed)
    columns, row = rows_to_damage()[0]
    named = 0
    for _ in range(200):
        place = chance.randrange(5)
        rows = [row] * 5
        rows[place] = damaged(row, chance)
        try:
            decode_rows(Spans.of(rows), columns)
        except DecodeError as error:
            assert error.message.startswith(f"state row {place}, byte {error.byte}:")
            named += 1
    assert named > 50
