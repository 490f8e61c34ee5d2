"""Java's text and integers are read and written as Java does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import DecodeError
from holdfast.format.state.javadata import (
    JavaInput,
    encode_int,
    encode_short,
    encode_text,
    java_units,
)


def java(data: bytes) -> JavaInput:
    return JavaInput(data, "file", "HF2115")


@pytest.mark.parametrize(
    ("text", "encoded"),
    [
        ("", b"\x00\x00"),
        ("v2", b"\x00\x02v2"),
        ("\0", b"\x00\x02\xc0\x80"),
        ("é€", b"\x00\x05\xc3\xa9\xe2\x82\xac"),
        ("\U0001f600", b"\x00\x06\xed\xa0\xbd\xed\xb8\x80"),
    ],
)
def test_text_is_modified_utf_8(text: str, encoded: bytes) -> None:
    assert encode_text(text) == encoded
    assert java(encoded).take_text() == text


@given(st.text(), st.integers(-(2**31), 2**31 - 1), st.integers(-(2**15), 2**15 - 1))
def test_both_ways(text: str, number: int, short: int) -> None:
    source = java(encode_text(text) + encode_int(number) + encode_short(short))
    assert (source.take_text(), source.take_int(), source.take_short()) == (text, number, short)
    assert source.byte == len(source.data)


def test_java_counts_halves() -> None:
    assert len(java_units("aé\U0001f600")) == 4


@pytest.mark.parametrize(
    ("data", "byte"),
    [
        (b"", 0),
        (b"\x00", 0),
        (b"\x00\x05ab", 2),
        (b"\xff\xff", 2),
        (b"\x00\x03a\x00b", 3),
        (b"\x00\x02a\xff", 3),
        (b"\x00\x04\xf0\x9f\x98\x80", 2),
        (b"\x00\x03\xed\xa0\xbd", 2),
        (b"\x00\x02\xc3a", 2),
    ],
)
def test_what_java_never_writes_is_refused_where_it_is(data: bytes, byte: int) -> None:
    with pytest.raises(DecodeError) as caught:
        java(data).take_text()
    assert (caught.value.code.number, caught.value.byte) == ("HF2115", byte)


def test_integers_need_their_bytes() -> None:
    for take in (JavaInput.take_int, JavaInput.take_short):
        with pytest.raises(DecodeError):
            take(java(b"\0"))


def test_text_has_a_longest_length() -> None:
    assert len(encode_text("x" * 65_535)) == 65_537
    with pytest.raises(ValueError, match="65536"):
        encode_text("x" * 65_536)
