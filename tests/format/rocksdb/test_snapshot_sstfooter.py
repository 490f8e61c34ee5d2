"""Footers of real tables pass; one that would make RocksDB end the process does not."""

from __future__ import annotations

import struct

import pytest

from holdfast.format.rocksdb.snapshot import FOOTER_LENGTH, check_footer
from tests.format.expecting import refusal
from tests.state.realtables import samples_with_tables

MAGIC = 0x88E241B785F4CFF7
SIZE = 1000


def number(value: int) -> bytes:
    """Encode as RocksDB does: seven bits a byte."""
    encoded = b""
    while value >= 0x80:
        encoded += bytes([value & 0x7F | 0x80])
        value >>= 7
    return encoded + bytes([value])


def footer(
    *places: int, kind: int = 4, version: int = 5, magic: int = MAGIC, padding: bytes = b"\0"
) -> bytes:
    """Build a footer of four numbers: where the list of blocks and the index are, how long."""
    handles = b"".join(map(number, places or (900, 40, 500, 300)))
    padded = handles + padding * (40 - len(handles))
    return bytes([kind]) + padded[:40] + struct.pack("<IQ", version, magic)


def check(data: bytes) -> None:
    """Check a footer of a table of a thousand bytes."""
    check_footer(data, SIZE)


def test_real_footers() -> None:
    seen = 0
    for one in samples_with_tables():
        for path, data in one.files().items():
            if path.endswith(".sst"):
                check_footer(data[-FOOTER_LENGTH:], len(data))
                seen += 1
    assert seen > 100


@pytest.mark.parametrize("version", [2, 5])
def test_a_footer(version: int) -> None:
    check(footer(version=version))
    check(footer(900, 47, 0, 900, version=version))


def test_a_footer_with_its_own_checksum() -> None:
    data = bytes([4]) + bytes(12) + struct.pack("<I", 80) + bytes(24) + struct.pack("<IQ", 6, MAGIC)
    check(data)
    lying = data[:13] + struct.pack("<I", 2**31) + data[17:]
    assert refusal(check, lying) == ("HF2720", None, SIZE - 40)


@pytest.mark.parametrize(
    ("data", "byte"),
    [
        (b"", 0),
        (footer()[1:], 0),
        (footer(magic=MAGIC ^ 1), 992),
        (footer(version=1), 988),
        (footer(version=8), 988),
        (footer(version=2**31), 988),
        (footer(kind=0), 947),
        (footer(kind=5), 947),
        (footer(900, 48, 0, 1), 948),
        (footer(0, 2**63 - 1, 0, 1), 948),
        (footer(2**64 - 1, 2**64 - 1, 0, 1), 948),
        (footer(900, 40, 0, 2**40), 951),
        (footer(900, 40, 948, 0), 951),
        (footer(padding=b"\xff")[:1] + b"\xff" * 40 + footer()[41:], 948),
    ],
)
def test_no_footer(data: bytes, byte: int) -> None:
    assert refusal(check, data) == ("HF2720", None, byte)
