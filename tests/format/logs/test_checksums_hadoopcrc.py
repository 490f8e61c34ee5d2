"""Hadoop's checksums show which chunk of a file is not as it was written."""

from __future__ import annotations

import zlib

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from holdfast.format.logs.checksums import (
    HadoopChecksum,
    decode_hadoop_checksum,
    encode_hadoop_checksum,
    first_mismatch,
)
from tests.format.expecting import refusal

DATA = st.binary(max_size=2_000)
SIZES = st.integers(1, 700)


def test_the_bytes_are_hadoop_s() -> None:
    data = b"a" * 512 + b"b"
    encoded = encode_hadoop_checksum(data)
    sums = zlib.crc32(b"a" * 512).to_bytes(4, "big") + zlib.crc32(b"b").to_bytes(4, "big")
    assert encoded == b"crc\x00\x00\x00\x02\x00" + sums
    assert encode_hadoop_checksum(b"") == b"crc\x00\x00\x00\x02\x00"


@given(DATA, SIZES)
def test_both_ways(data: bytes, size: int) -> None:
    encoded = encode_hadoop_checksum(data, size)
    checksum = decode_hadoop_checksum(encoded)
    assert checksum.bytes_per_sum == size
    assert first_mismatch(checksum, data) is None


@given(DATA, SIZES, st.data())
def test_the_first_changed_chunk_is_found(data: bytes, size: int, draw: st.DataObject) -> None:
    assume(data)
    place = draw.draw(st.integers(0, len(data) - 1))
    flipped = data[:place] + bytes([data[place] ^ 0x40]) + data[place + 1 :]
    checksum = decode_hadoop_checksum(encode_hadoop_checksum(data, size))
    assert first_mismatch(checksum, flipped) == place // size * size


@given(DATA, SIZES, st.binary(min_size=1, max_size=50))
def test_more_bytes_do_not_fit(data: bytes, size: int, more: bytes) -> None:
    checksum = decode_hadoop_checksum(encode_hadoop_checksum(data, size))
    assert first_mismatch(checksum, data + more) == len(data) // size * size


@given(DATA, SIZES, st.data())
def test_fewer_bytes_do_not_fit(data: bytes, size: int, draw: st.DataObject) -> None:
    assume(data)
    end = draw.draw(st.integers(0, len(data) - 1))
    checksum = decode_hadoop_checksum(encode_hadoop_checksum(data, size))
    assert first_mismatch(checksum, data[:end]) == end // size * size


def test_the_sum_of_nothing_fits_no_chunk() -> None:
    assert zlib.crc32(b"") == 0
    assert first_mismatch(HadoopChecksum(512, (zlib.crc32(b"abc"), 0)), b"abc") == 3


def test_a_huge_chunk_size_reads_only_what_is_there() -> None:
    assert first_mismatch(HadoopChecksum(2**31 - 1, (zlib.crc32(b"abc"),)), b"abc") is None


@pytest.mark.parametrize(
    ("data", "byte"),
    [
        (b"", 0),
        (b"crc\0\0\0\2", 7),
        (b"crd\0\0\0\2\0", 0),
        (b"crc\0\0\0\0\0", 4),
        (b"crc\0\xff\xff\xff\xff", 4),
        (b"crc\0\0\0\2\0abcde", 12),
    ],
)
def test_damage_is_refused_where_it_is(data: bytes, byte: int) -> None:
    assert refusal(decode_hadoop_checksum, data) == ("HF2112", None, byte)
