"""Values of RocksDB: lists in both spellings, row checksums, and nothing read beyond the end."""

from __future__ import annotations

import struct

import google_crc32c
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import DecodeError
from holdfast.format.buffers import Spans
from holdfast.format.rocksdb.values import split_values

ROWS = st.binary(max_size=20)
LISTS = st.lists(st.lists(ROWS, max_size=6), max_size=150)
DELIMITERS = st.sampled_from((b"", b","))


def element(row: bytes) -> bytes:
    """Encode one element of a list."""
    return struct.pack("<i", len(row) + 1) + b"\0" + row


def summed(key: bytes, value: bytes) -> bytes:
    """Put checksum and length before a value."""
    return struct.pack("<Ii", google_crc32c.value(key + value), len(value)) + value


def found(keys: list[bytes], values: list[bytes], **options: object) -> list[list[bytes]]:
    """Take values apart, and gather the rows of each entry."""
    split = split_values(Spans.of(keys), Spans.of(values), **options)  # type: ignore[arg-type]
    rows: list[list[bytes]] = [[] for _ in keys]
    for index, owner in enumerate(split.owners.tolist()):
        rows[owner].append(split.rows.at(index))
    assert split.owners.tolist() == sorted(split.owners.tolist())
    return rows


def keys_for(values: list[object]) -> list[bytes]:
    """Name entries."""
    return [b"key %d" % index for index in range(len(values))]


@given(st.lists(ROWS), st.booleans())
def test_single_values(rows: list[bytes], row_checksum: bool) -> None:
    keys = keys_for([*rows])
    values = [b"\0" + row for row in rows]
    if row_checksum:
        values = [summed(*pair) for pair in zip(keys, values, strict=True)]
    assert found(keys, values, row_checksum=row_checksum) == [[row] for row in rows]


@given(LISTS, DELIMITERS, st.booleans())
def test_lists(lists: list[list[bytes]], delimiter: bytes, row_checksum: bool) -> None:
    keys = keys_for([*lists])
    values = [
        delimiter.join(summed(key, element(row)) if row_checksum else element(row) for row in rows)
        for key, rows in zip(keys, lists, strict=True)
    ]
    options = {"multiple": True, "delimiter": delimiter, "row_checksum": row_checksum}
    assert found(keys, values, **options) == lists


def test_one_long_list_among_many() -> None:
    lists = [[b"a"]] * 300 + [[b"%d" % number for number in range(5000)]] + [[b"b", b"c"]] * 300
    values = [b",".join(map(element, rows)) for rows in lists]
    assert found(keys_for([*lists]), values, multiple=True, delimiter=b",") == lists


@pytest.mark.parametrize("count", [3, 200])
@pytest.mark.parametrize(
    "wrong",
    [
        b"\0",
        struct.pack("<i", -1),
        struct.pack("<i", 2**31 - 1) + b"\0",
        struct.pack("<i", 9) + b"\0row",
        element(b"row") + b";" + element(b"row"),
        element(b"row") + element(b"row"),
        element(b"row") + b",\0",
        struct.pack("<i", 0),
        struct.pack("<i", 2) + b"\1a",
    ],
)
def test_no_list(wrong: bytes, count: int) -> None:
    values = [element(b"row")] * count + [wrong]
    with pytest.raises(DecodeError, match=f"entry {count}:") as caught:
        found(keys_for([*values]), values, multiple=True, delimiter=b",")
    assert caught.value.code.number == "HF2724"


def test_a_single_value_of_another_version() -> None:
    with pytest.raises(DecodeError, match="entry 1:") as caught:
        found([b"a", b"b"], [b"\0row", b"\1row"])
    assert caught.value.code.number == "HF2724"


def test_a_list_where_one_value_is_expected() -> None:
    value = summed(b"a", b"\0row")
    with pytest.raises(DecodeError, match="expected one value") as caught:
        found([b"b", b"a"], [summed(b"b", b"\0row"), value + value], row_checksum=True)
    assert caught.value.code.number == "HF2724"


@pytest.mark.parametrize("multiple", [False, True])
def test_a_row_that_was_changed(multiple: bool) -> None:
    row = element(b"row") if multiple else b"\0row"
    good = summed(b"key", row)
    for byte in (0, 3, len(good) - 1):
        wrong = bytearray(good)
        wrong[byte] ^= 4
        with pytest.raises(DecodeError, match="entry 1:") as caught:
            found([b"key"] * 2, [good, bytes(wrong)], multiple=multiple, row_checksum=True)
        assert caught.value.code.number == "HF2705"


def test_a_value_under_another_key() -> None:
    with pytest.raises(DecodeError) as caught:
        found([b"other"], [summed(b"key", b"\0row")], row_checksum=True)
    assert caught.value.code.number == "HF2705"


@given(st.lists(st.binary(max_size=40), max_size=90), DELIMITERS, st.booleans(), st.booleans())
def test_any_bytes_are_taken_apart_or_refused(
    values: list[bytes], delimiter: bytes, multiple: bool, row_checksum: bool
) -> None:
    options = {"multiple": multiple, "delimiter": delimiter, "row_checksum": row_checksum}
    try:
        found(keys_for([*values]), values, **options)
    except DecodeError as error:
        assert error.code.number in ("HF2705", "HF2724")
