"""Keys of RocksDB are taken apart as Spark put them together, and refused where they are not."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import DecodeError
from holdfast.format.buffers import Spans
from holdfast.format.rocksdb.keys import (
    KeyEncoder,
    KeyLayout,
    decode_key_encoder,
    family_prefix,
    split_families,
    split_keys,
)

ROWS = st.binary(max_size=40)
NO_PREFIX = KeyEncoder()
PREFIX = KeyEncoder(KeyLayout.PREFIX_SCAN, 1)
RANGE = KeyEncoder(KeyLayout.RANGE_SCAN, ordinals=(0,))
FIRST = KeyEncoder(KeyLayout.TIMESTAMP_FIRST)
LAST = KeyEncoder(KeyLayout.TIMESTAMP_LAST)
INT64 = st.integers(-(2**63), 2**63 - 1)


def strings(spans: Spans) -> list[bytes]:
    """Give every string."""
    return [spans.at(index) for index in range(len(spans))]


def ordered(timestamp: int) -> bytes:
    """Encode so that bytes are in the order of the numbers."""
    return struct.pack(">Q", (timestamp & (2**64 - 1)) ^ (1 << 63))


def with_prefix(first: bytes, rest: bytes) -> bytes:
    """Put the length of the prefix before it."""
    return struct.pack("<i", len(first) + 1) + b"\0" + first + b"\0" + rest


@pytest.mark.parametrize(
    ("text", "encoder"),
    [
        ('{"keyStateEncoderType":"NoPrefixKeyStateEncoderSpec"}', NO_PREFIX),
        (
            '{"keyStateEncoderType":"PrefixKeyScanStateEncoderSpec","numColsPrefixKey":1}',
            PREFIX,
        ),
        (
            '{"keyStateEncoderType":"RangeKeyScanStateEncoderSpec","orderingOrdinals":[0]}',
            RANGE,
        ),
        ('{"keyStateEncoderType":"TimestampAsPrefixKeyStateEncoderSpec"}', FIRST),
        ('{"keyStateEncoderType":"TimestampAsPostfixKeyStateEncoderSpec"}', LAST),
    ],
)
def test_encoders(text: str, encoder: KeyEncoder) -> None:
    assert decode_key_encoder(text) == encoder


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{}", "HF2106"),
        ("[]", "HF2106"),
        ("{", "HF2105"),
        ('{"keyStateEncoderType":"Another"}', "HF2723"),
        ('{"keyStateEncoderType":"PrefixKeyScanStateEncoderSpec"}', "HF2106"),
        (
            '{"keyStateEncoderType":"RangeKeyScanStateEncoderSpec","orderingOrdinals":[true]}',
            "HF2106",
        ),
    ],
)
def test_no_encoders(text: str, code: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decode_key_encoder(text)
    assert caught.value.code.number == code


@given(st.lists(st.tuples(st.integers(-(2**15), 2**15 - 1), ROWS)))
def test_families(keys: list[tuple[int, bytes]]) -> None:
    ids, rest = split_families(Spans.of(family_prefix(one) + key for one, key in keys))
    assert list(zip(ids.tolist(), strings(rest), strict=True)) == keys


@given(st.lists(ROWS))
def test_rows_alone(rows: list[bytes]) -> None:
    parts = split_keys(Spans.of(b"\0" + row for row in rows), NO_PREFIX)
    assert [strings(part) for part in parts.rows] == [rows]


@given(st.lists(st.tuples(ROWS, ROWS)), st.sampled_from((PREFIX, RANGE)))
def test_prefixes(keys: list[tuple[bytes, bytes]], encoder: KeyEncoder) -> None:
    parts = split_keys(Spans.of(with_prefix(*key) for key in keys), encoder)
    assert list(zip(*map(strings, parts.rows), strict=True)) == keys


@given(st.lists(ROWS, min_size=1))
def test_ordered_columns_alone(rows: list[bytes]) -> None:
    keys = Spans.of(struct.pack("<i", len(row) + 1) + b"\0" + row for row in rows)
    assert [strings(part) for part in split_keys(keys, RANGE).rows] == [rows]


@given(st.lists(st.tuples(INT64, ROWS)))
def test_timestamps_before_and_behind(keys: list[tuple[int, bytes]]) -> None:
    before = split_keys(Spans.of(ordered(at) + b"\0" + row for at, row in keys), FIRST)
    behind = split_keys(Spans.of(b"\0" + row + ordered(at) for at, row in keys), LAST)
    for parts in (before, behind):
        assert parts.timestamps is not None
        assert parts.timestamps.tolist() == [at for at, _ in keys]
        assert strings(parts.rows[0]) == [row for _, row in keys]


@pytest.mark.parametrize(
    ("key", "encoder"),
    [
        (b"", NO_PREFIX),
        (b"\1row", NO_PREFIX),
        (b"\0\0\0", PREFIX),
        (struct.pack("<i", 0) + b"\0", PREFIX),
        (struct.pack("<i", -1) + b"\0\0", PREFIX),
        (struct.pack("<i", 9) + b"\0row", PREFIX),
        (struct.pack("<i", 2**31 - 1) + b"\0row", PREFIX),
        (struct.pack("<i", 4) + b"\0row", PREFIX),
        (struct.pack("<i", 4) + b"\1row\0", PREFIX),
        (struct.pack("<i", 4) + b"\0row\1", RANGE),
        (bytes(7), FIRST),
        (bytes(8), FIRST),
        (bytes(8) + b"\1", FIRST),
        (b"\1" + bytes(8), LAST),
        (bytes(8), LAST),
    ],
)
def test_keys_of_another_layout(key: bytes, encoder: KeyEncoder) -> None:
    good = {
        KeyLayout.NO_PREFIX: b"\0",
        KeyLayout.TIMESTAMP_FIRST: bytes(9),
        KeyLayout.TIMESTAMP_LAST: bytes(9),
    }.get(encoder.layout, with_prefix(b"a", b"b"))
    with pytest.raises(DecodeError, match="entry 1:") as caught:
        split_keys(Spans.of([good, key, good]), encoder)
    assert caught.value.code.number == "HF2722"


def test_a_key_too_short_for_its_family() -> None:
    with pytest.raises(DecodeError, match="entry 1:"):
        split_families(Spans.of([b"\1\0", b"\1"]))


@pytest.mark.parametrize("encoder", [NO_PREFIX, PREFIX, RANGE, FIRST, LAST])
def test_no_keys(encoder: KeyEncoder) -> None:
    assert all(not len(part) for part in split_keys(Spans.of([]), encoder).rows)


@given(st.lists(st.binary(max_size=30)), st.sampled_from((NO_PREFIX, PREFIX, RANGE, FIRST, LAST)))
def test_any_bytes_are_taken_apart_or_refused(keys: list[bytes], encoder: KeyEncoder) -> None:
    try:
        split_keys(Spans.of(keys), encoder)
    except DecodeError as error:
        assert error.code.number == "HF2722"
