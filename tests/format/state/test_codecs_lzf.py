"""LZF in each of its forms, and what is not LZF."""

from __future__ import annotations

import struct

import pytest

from holdfast.format.state.codecs import decompressed
from tests.format.expecting import refusal


def whole(data: bytes) -> bytes:
    return b"".join(decompressed(data))


def chunk(packed: bytes, length: int) -> bytes:
    return b"ZV\1" + struct.pack(">HH", len(packed), length) + packed


@pytest.mark.parametrize(
    ("packed", "plain"),
    [
        (b"\4alder", b"alder"),
        (b"\4alder\x20\4", b"alderald"),
        (b"\0a\x80\0", b"aaaaaaa"),
        (b"\1ab\xe0\0\1", b"ab" + b"ab" * 4 + b"a"),
        (b"\1ab\xe0\xff\1", b"ab" * 133),
        (b"\x1f" + bytes(range(32)) + b"\0 \x20\x20", bytes(range(33)) + b"\0\1\2"),
    ],
)
def test_each_form(packed: bytes, plain: bytes) -> None:
    assert whole(chunk(packed, len(plain)) + b"ZV\0\0\3end") == plain + b"end"


@pytest.mark.parametrize(
    ("data", "byte"),
    [
        (b"ZV\2\0\3end", 0),
        (b"ZV\0\0\3endZW\0\0\3end", 8),
        (b"ZV\0\0\4end", 8),
        (b"ZV\1\0\4\0", 6),
        (b"ZV", 0),
        (chunk(b"\4alder", 6), 13),
        (chunk(b"\5alder", 5), 13),
        (chunk(b"\4alder\x20\5", 8), 14),
        (chunk(b"\4alder\x20", 8), 14),
        (chunk(b"\4alder\xe0", 14), 14),
        (chunk(b"\x20\0", 3), 8),
    ],
)
def test_damage(data: bytes, byte: int) -> None:
    assert refusal(whole, data) == ("HF2701", None, byte)
