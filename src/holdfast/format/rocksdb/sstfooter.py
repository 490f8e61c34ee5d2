"""The last bytes of an SST file: whether RocksDB can be let at it.

RocksDB trusts them: a size in them that lies ends the whole process, for want of memory. All that
stands before them it verifies itself, block by block, unless they say that there are no checksums.
"""

from __future__ import annotations

import struct

from holdfast.errors import DecodeError

FOOTER_LENGTH = 53
"""One byte for the kind of checksums, 40 for two places, 4 for the version, 8 for the magic."""

_DAMAGED = "HF2720"
_MAGIC = 0x88E241B785F4CFF7
_KINDS_OF_CHECKSUMS = (1, 2, 3, 4)
_OLDEST, _NEWEST = 2, 7
_FIRST_WITH_OWN_CHECKSUM = 6
_NO_MORE = 1 << 63


def check_footer(footer: bytes, size: int) -> None:
    """Raise DecodeError where the last 53 bytes of a table of `size` bytes are no footer."""
    start = size - len(footer)
    if len(footer) < FOOTER_LENGTH:
        raise _damaged("it is too short to be one", 0)
    version, magic = struct.unpack_from("<IQ", footer, 41)
    if magic != _MAGIC:
        raise _damaged("it does not end as one", start + 45)
    if not _OLDEST <= version <= _NEWEST:
        raise _damaged(f"its format version is {version}", start + 41)
    if footer[0] not in _KINDS_OF_CHECKSUMS:
        raise _damaged("it says that its blocks have no checksums, or unknown ones", start)
    if version >= _FIRST_WITH_OWN_CHECKSUM:
        (length,) = struct.unpack_from("<I", footer, 13)
        _check_place(0, length, size, start + 13)
    else:
        _check_places(footer[1:41], size, start + 1)


def _check_places(places: bytes, size: int, start: int) -> None:
    """Two places follow each other, of the list of other blocks and of the index."""
    at = 0
    for _ in range(2):
        begin = at
        offset, at = _number(places, at, start)
        length, at = _number(places, at, start)
        _check_place(offset, length, size, start + begin)


def _check_place(offset: int, length: int, size: int, byte: int) -> None:
    if offset + length > size - FOOTER_LENGTH:
        raise _damaged(f"a block of {length} bytes at {offset} lies outside of it", byte)


def _number(places: bytes, at: int, start: int) -> tuple[int, int]:
    value, shift = 0, 1
    while at < len(places):
        byte = places[at]
        value += (byte & 0x7F) * shift
        at += 1
        if byte < 0x80:
            return value, at
        shift <<= 7
        if shift > _NO_MORE:
            break
    raise _damaged("a place in its end is no number", start)


def _damaged(message: str, byte: int) -> DecodeError:
    return DecodeError(_DAMAGED, f"RocksDB table: {message}", byte=byte)
