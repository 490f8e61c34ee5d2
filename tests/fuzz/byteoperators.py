"""Operators that damage the bytes of one file, as disks, copies and crashes do."""

from __future__ import annotations

import struct
from collections.abc import Callable

from tests.fuzz.drawing import Drawing, Operator

Files = dict[str, bytes]
_BINARY = frozenset({"state schema", "delta", "snapshot", "changelog", "zip", "SST"})


def _rewrite(
    draw: Drawing, change: Callable[[bytes], bytes], among: frozenset[str] | None = None
) -> Files | None:
    path = draw.path(among)
    return None if path is None else draw.changed(path, change(draw.files[path]))


def truncate(draw: Drawing) -> Files | None:
    """Cut a file off somewhere."""
    return _rewrite(draw, lambda data: data[: draw.position(data)])


def truncate_a_little(draw: Drawing) -> Files | None:
    """Cut the last few bytes off."""
    return _rewrite(draw, lambda data: data[: -draw.random.randint(1, 4)])


def truncate_at_block(draw: Drawing) -> Files | None:
    """Cut a file off at a sector or block of a disk."""
    block = draw.random.choice((64, 128, 512, 4096))
    return _rewrite(draw, lambda data: data[: len(data) // block * block])


def empty(draw: Drawing) -> Files | None:
    """Leave nothing of a file's content."""
    return _rewrite(draw, lambda data: b"")


def zero_all(draw: Drawing) -> Files | None:
    """Fill a file with zeros: blocks that never reached the disk."""
    return _rewrite(draw, lambda data: bytes(len(data)))


def zero_range(draw: Drawing) -> Files | None:
    """Fill a part of a file with zeros."""

    def change(data: bytes) -> bytes:
        start = draw.position(data)
        count = min(draw.random.randint(1, 64), len(data) - start)
        return data[:start] + bytes(count) + data[start + count :]

    return _rewrite(draw, change)


def flip_bit(draw: Drawing) -> Files | None:
    """Flip one bit."""
    return _flip(draw, 1)


def flip_bits(draw: Drawing) -> Files | None:
    """Flip up to sixteen bits."""
    return _flip(draw, draw.random.randint(2, 16))


def _flip(draw: Drawing, count: int) -> Files | None:
    def change(data: bytes) -> bytes:
        flipped = bytearray(data)
        for _ in range(count):
            flipped[draw.position(data)] ^= 1 << draw.random.randrange(8)
        return bytes(flipped)

    return _rewrite(draw, change)


def insert_bytes(draw: Drawing) -> Files | None:
    """Insert random bytes."""
    more = draw.random.randbytes(draw.random.randint(1, 8))
    place = draw.random.random()
    return _rewrite(draw, lambda data: _inserted(data, int(place * (len(data) + 1)), more))


def insert_text(draw: Drawing) -> Files | None:
    """Insert a printable character: what a slip in an editor does."""
    more = bytes([draw.random.randint(32, 126)])
    place = draw.random.random()
    return _rewrite(draw, lambda data: _inserted(data, int(place * (len(data) + 1)), more))


def _inserted(data: bytes, place: int, more: bytes) -> bytes:
    return data[:place] + more + data[place:]


def delete_bytes(draw: Drawing) -> Files | None:
    """Take a few bytes out of the middle."""

    def change(data: bytes) -> bytes:
        start = draw.position(data)
        return data[:start] + data[start + draw.random.randint(1, 12) :]

    return _rewrite(draw, change)


def change_digit(draw: Drawing) -> Files | None:
    """Replace a digit by another one."""

    def change(data: bytes) -> bytes:
        places = [at for at, byte in enumerate(data) if 48 <= byte <= 57]
        if not places:
            return data
        at = draw.random.choice(places)
        return (
            data[:at]
            + bytes([48 + (data[at] - 48 + draw.random.randint(1, 9)) % 10])
            + data[at + 1 :]
        )

    return _rewrite(draw, change)


def change_letter(draw: Drawing) -> Files | None:
    """Replace a letter by another one."""

    def change(data: bytes) -> bytes:
        places = [at for at, byte in enumerate(data) if 97 <= byte <= 122]
        if not places:
            return data
        at = draw.random.choice(places)
        return (
            data[:at]
            + bytes([97 + (data[at] - 97 + draw.random.randint(1, 25)) % 26])
            + data[at + 1 :]
        )

    return _rewrite(draw, change)


def random_bytes(draw: Drawing) -> Files | None:
    """Replace a file by noise of its own size."""
    return _rewrite(draw, lambda data: draw.random.randbytes(len(data)))


def repeat_content(draw: Drawing) -> Files | None:
    """Write a file's content twice in a row."""
    return _rewrite(draw, lambda data: data + data)


def huge_length(draw: Drawing) -> Files | None:
    """Declare a length of gigabytes somewhere in a binary file."""
    length = draw.random.choice((0x7FFFFFFF, 0x40000000, 0xFFFFFFFF, 0x80000000))

    def change(data: bytes) -> bytes:
        start = draw.random.choice((0, 4, draw.position(data)))
        return data[:start] + struct.pack(">I", length) + data[start + 4 :]

    return _rewrite(draw, change, _BINARY)


BYTE_OPERATORS: tuple[Operator, ...] = (
    truncate,
    truncate_a_little,
    truncate_at_block,
    empty,
    zero_all,
    zero_range,
    flip_bit,
    flip_bits,
    insert_bytes,
    insert_text,
    delete_bytes,
    change_digit,
    change_letter,
    random_bytes,
    repeat_content,
    huge_length,
)
