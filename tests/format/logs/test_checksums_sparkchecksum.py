"""Spark's own checksum files survive both ways and fit the bytes that they were made of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.format.logs.checksums import (
    SparkChecksum,
    decode_spark_checksum,
    encode_spark_checksum,
    matches_spark_checksum,
)
from tests.format.expecting import refusal
from tests.format.strategies import INT32, INT64, JSON, TEXTS, extras

REAL = (
    b'{"algorithm":"CRC32C","value":-486108541,"mainFileSize":9,"timestampMs":5,'
    b'"creator":{"executorId":"driver","taskInfo":"Task= 0.0, Stage= 2.0"}}'
)
KEYS = ("algorithm", "value", "mainFileSize", "timestampMs", "creator")
CHECKSUMS = st.builds(
    SparkChecksum,
    st.just("CRC32C"),
    INT32,
    INT64,
    INT64,
    st.dictionaries(TEXTS, JSON, max_size=2),
    extras(*KEYS),
)


def test_the_sum_is_a_signed_crc32c() -> None:
    checksum = decode_spark_checksum(REAL)
    assert checksum.creator == {"executorId": "driver", "taskInfo": "Task= 0.0, Stage= 2.0"}
    assert matches_spark_checksum(checksum, b"123456789")
    assert not matches_spark_checksum(checksum, b"123456780")
    assert not matches_spark_checksum(checksum, b"1234567890")
    assert encode_spark_checksum(checksum) == REAL


def test_a_sum_of_another_length_does_not_fit() -> None:
    assert not matches_spark_checksum(SparkChecksum("CRC32C", -486108541, 8, 5, {}), b"123456789")


@given(CHECKSUMS)
def test_both_ways(checksum: SparkChecksum) -> None:
    assert decode_spark_checksum(encode_spark_checksum(checksum)) == checksum


@pytest.mark.parametrize(
    ("data", "line", "byte"),
    [
        (b"", None, 0),
        (REAL[:-1], 1, len(REAL) - 1),
        (REAL + b"}", 1, len(REAL)),
        (REAL.replace(b"value", b"Value"), 1, 0),
        (REAL.replace(b"-486108541", b"2147483648"), 1, 0),
        (REAL.replace(b"CRC32C", b"CRC32D"), 1, 0),
        (REAL.replace(b'"driver"', b'"\xff"'), 1, REAL.index(b'"driver"') + 1),
        (b"crc\0\0\0\2\0", 1, 3),
        (b"[]", 1, 0),
    ],
)
def test_damage_is_refused_where_it_is(data: bytes, line: int | None, byte: int) -> None:
    assert refusal(decode_spark_checksum, data) == ("HF2113", line, byte)
