"""Operators that damage text as editors, copying tools and other programs do."""

from __future__ import annotations

import re
from collections.abc import Callable

from tests.fuzz.drawing import JSON_LINES, TEXT_KINDS, Drawing, Operator

Files = dict[str, bytes]
_VERSIONED = JSON_LINES
_NUMBER = re.compile(rb"(?<=:)-?[0-9]+")


def _edit(draw: Drawing, change: Callable[[bytes], bytes], among: frozenset[str]) -> Files | None:
    path = draw.path(among)
    return None if path is None else draw.changed(path, change(draw.files[path]))


def version_line(draw: Drawing) -> Files | None:
    """Write another version line: future, zero, negative, none at all."""
    lines = (b"v0", b"v9", b"v-1", b"v", b"1", b"V1", b"v1.0", b"v99999999999", b"", b"v 1", b"v1 ")
    line = draw.random.choice(lines)
    return _edit(draw, lambda data: line + b"\n" + data.partition(b"\n")[2], _VERSIONED)


def known_version_line(draw: Drawing) -> Files | None:
    """Write a version line that Spark knows, but not of this entry."""
    line = draw.random.choice((b"v1", b"v2", b"v3"))
    return _edit(draw, lambda data: line + b"\n" + data.partition(b"\n")[2], _VERSIONED)


def missing_newline(draw: Drawing) -> Files | None:
    """Join two lines."""
    return _edit(draw, lambda data: data.replace(b"\n", b"", 1), _VERSIONED)


def missing_line(draw: Drawing) -> Files | None:
    """Leave a line out."""

    def change(data: bytes) -> bytes:
        lines = data.split(b"\n")
        del lines[draw.random.randrange(len(lines))]
        return b"\n".join(lines)

    return _edit(draw, change, _VERSIONED)


def repeated_line(draw: Drawing) -> Files | None:
    """Write a line twice."""

    def change(data: bytes) -> bytes:
        lines = data.split(b"\n")
        at = draw.random.randrange(len(lines))
        return b"\n".join([*lines[:at], lines[at], *lines[at:]])

    return _edit(draw, change, _VERSIONED)


def windows_line_ends(draw: Drawing) -> Files | None:
    """End lines as Windows does."""
    return _edit(draw, lambda data: data.replace(b"\n", b"\r\n") + b"\r\n", TEXT_KINDS)


def byte_order_mark(draw: Drawing) -> Files | None:
    """Begin with a byte order mark."""
    return _edit(draw, lambda data: b"\xef\xbb\xbf" + data, TEXT_KINDS)


def zero_byte(draw: Drawing) -> Files | None:
    """Put a zero byte somewhere."""
    return _put(draw, b"\0")


def invalid_utf8(draw: Drawing) -> Files | None:
    """Put bytes somewhere that are no UTF-8."""
    return _put(draw, draw.random.choice((b"\xff", b"\xc3", b"\xed\xa0\x80", b"\x80\x80")))


def _put(draw: Drawing, more: bytes) -> Files | None:
    def change(data: bytes) -> bytes:
        at = draw.position(data)
        return data[:at] + more + data[at:]

    return _edit(draw, change, TEXT_KINDS)


def final_newline(draw: Drawing) -> Files | None:
    """End with a line feed: what an editor adds; it means the same."""
    return _edit(draw, lambda data: data + b"\n", TEXT_KINDS)


def white_space(draw: Drawing) -> Files | None:
    """Put a space after a colon or comma of JSON; it means the same."""
    sign = draw.random.choice((b":", b","))
    return _edit(draw, lambda data: data.replace(b'"' + sign, b'"' + sign + b" ", 1), TEXT_KINDS)


def deep_json(draw: Drawing) -> Files | None:
    """Nest a value ten thousand levels deep."""
    opening, closing = draw.random.choice(((b"[", b"]"), (b'{"a":', b"}")))
    deep = opening * 10_000 + b"1" + closing * draw.random.choice((10_000, 0))
    return _edit(draw, lambda data: _replaced_number(draw, data, deep), TEXT_KINDS)


def huge_number(draw: Drawing) -> Files | None:
    """Write a number that no 64 bits hold."""
    number = draw.random.choice((b"9223372036854775808", b"-9223372036854775809", b"9" * 5000))
    return _edit(draw, lambda data: _replaced_number(draw, data, number), TEXT_KINDS)


def odd_number(draw: Drawing) -> Files | None:
    """Write a number in a form that is not an integer's."""
    number = draw.random.choice((b"1e3", b"0.5", b"NaN", b"-", b"true", b"null", b'"5"', b"01"))
    return _edit(draw, lambda data: _replaced_number(draw, data, number), TEXT_KINDS)


def _replaced_number(draw: Drawing, data: bytes, by: bytes) -> bytes:
    found = list(_NUMBER.finditer(data))
    if not found:
        return data + by
    chosen = draw.random.choice(found)
    return data[: chosen.start()] + by + data[chosen.end() :]


def duplicate_key(draw: Drawing) -> Files | None:
    """Name a key of a JSON object twice."""

    def change(data: bytes) -> bytes:
        found = re.search(rb'\{("[A-Za-z]+":(?:"[^"]*"|-?[0-9]+))', data)
        return data if found is None else data.replace(found[1], found[1] + b"," + found[1], 1)

    return _edit(draw, change, TEXT_KINDS)


def missing_field(draw: Drawing) -> Files | None:
    """Leave a field of a JSON object out."""

    def change(data: bytes) -> bytes:
        found = list(re.finditer(rb'"[A-Za-z0-9_.]+":(?:"[^"]*"|-?[0-9]+),?', data))
        if not found:
            return data
        gone = draw.random.choice(found)
        return (data[: gone.start()] + data[gone.end() :]).replace(b",}", b"}")

    return _edit(draw, change, TEXT_KINDS)


def renamed_field(draw: Drawing) -> Files | None:
    """Give a field of a JSON object another name."""

    def change(data: bytes) -> bytes:
        found = list(re.finditer(rb'"[A-Za-z][A-Za-z0-9_.]*":', data))
        at = draw.random.choice(found).start() + 1 if found else 0
        return data[:at] + b"x" + data[at:]

    return _edit(draw, change, TEXT_KINDS)


TEXT_OPERATORS: tuple[Operator, ...] = (
    version_line,
    known_version_line,
    missing_newline,
    missing_line,
    repeated_line,
    windows_line_ends,
    byte_order_mark,
    zero_byte,
    invalid_utf8,
    final_newline,
    white_space,
    deep_json,
    huge_number,
    odd_number,
    duplicate_key,
    missing_field,
    renamed_field,
)
