"""Damages to the text of an offsets entry."""

import re

from tests.restarts.damage import GARBAGE, Damage, either, named
from tests.restarts.edits import Edit, Files, line, newest, replaced, with_line, with_lines

_TEXT = named("stateless", "stateless-pending", "offsets-v2")
_SOURCE = either(_TEXT, named("aggregation", "union", "offsets-v2-pending"))


def _bytes(content: bytes = b"", back: int = 0) -> Edit:
    return lambda files: replaced(files, newest(files, "offsets", back), content)


def _rewritten(pattern: bytes, replacement: bytes, count: int = 0) -> Edit:
    def edit(files: Files) -> Files:
        path = newest(files, "offsets")
        return replaced(files, path, re.sub(pattern, replacement, files[path], count=count))

    return edit


def _framed(before: bytes, after: bytes) -> Edit:
    def edit(files: Files) -> Files:
        path = newest(files, "offsets")
        return replaced(files, path, before + files[path] + after)

    return edit


def _cut_in_line(number: int) -> Edit:
    def edit(files: Files) -> Files:
        path = newest(files, "offsets")
        lines = files[path].split(b"\n")[: number + 1]
        lines[number] = lines[number][: len(lines[number]) // 2]
        return replaced(files, path, b"\n".join(lines))

    return edit


def _line(number: int, text: bytes) -> Edit:
    return lambda files: with_line(files, newest(files, "offsets"), number, text)


def _source_value(value: bytes) -> Edit:
    def edit(files: Files) -> Files:
        path = newest(files, "offsets")
        prefix = b"0:" if line(files, path, 0) == b"v2" else b""
        return with_line(files, path, 2, prefix + value)

    return edit


def _last_source_gone(files: Files) -> Files:
    return with_lines(files, newest(files, "offsets"), lambda lines: lines[:-1])


def _source_added(files: Files) -> Files:
    def add(lines: list[bytes]) -> list[bytes]:
        prefix = f"{len(lines) - 2}:".encode() if lines[0] == b"v2" else b""
        return [*lines, prefix + b'{"logOffset":0}']

    return with_lines(files, newest(files, "offsets"), add)


def _no_version(files: Files) -> Files:
    return with_lines(files, newest(files, "offsets"), lambda lines: lines[1:])


def _zeros(files: Files) -> Files:
    path = newest(files, "offsets")
    return replaced(files, path, bytes(len(files[path])))


def _swapped(files: Files) -> Files:
    last, before = newest(files, "offsets"), newest(files, "offsets", 1)
    return replaced(replaced(files, last, files[before]), before, files[last])


def _same_as_before(files: Files) -> Files:
    return replaced(files, newest(files, "offsets"), files[newest(files, "offsets", 1)])


def _log_offset_moved(distance: int) -> Edit:
    def edit(files: Files) -> Files:
        path = newest(files, "offsets")

        def moved(found: re.Match[bytes]) -> bytes:
            return b'"logOffset":%d' % (int(found[1]) + distance)

        return replaced(files, path, re.sub(rb'"logOffset":(\d+)', moved, files[path]))

    return edit


OFFSET_DAMAGES: tuple[Damage, ...] = (
    Damage("offset-empty", "offsets/N has no bytes", _SOURCE, _bytes()),
    Damage(
        "offset-cut-in-version",
        "offsets/N ends after the first byte of line 1",
        _TEXT,
        _bytes(content=b"v"),
    ),
    Damage("offset-version-only", "offsets/N ends after line 1", _TEXT, _bytes(content=b"v1")),
    Damage(
        "offset-cut-in-metadata", "offsets/N ends in the middle of line 2", _TEXT, _cut_in_line(1)
    ),
    Damage(
        "offset-cut-in-source",
        "offsets/N ends in the middle of its first source line",
        _SOURCE,
        _cut_in_line(2),
    ),
    Damage("offset-garbage", "offsets/N holds garbage bytes", _TEXT, _bytes(content=GARBAGE)),
    Damage("offset-zeros", "offsets/N has its length and every byte is zero", _TEXT, _zeros),
    Damage(
        "offset-source-missing", "offsets/N has one source line too few", _SOURCE, _last_source_gone
    ),
    Damage("offset-source-added", "offsets/N has one source line too many", _SOURCE, _source_added),
    Damage("offset-version-9", "the version line of offsets/N is v9", _TEXT, _line(0, b"v9")),
    Damage(
        "offset-version-2",
        "the version line of offsets/N is v2, its lines stay",
        named("stateless", "stateless-pending"),
        _line(0, b"v2"),
    ),
    Damage(
        "offset-version-1",
        "the version line of offsets/N is v1, its lines stay",
        named("offsets-v2"),
        _line(0, b"v1"),
    ),
    Damage("offset-version-0", "the version line of offsets/N is v0", _TEXT, _line(0, b"v0")),
    Damage(
        "offset-version-padded", "the version line of offsets/N is v01", _TEXT, _line(0, b"v01")
    ),
    Damage("offset-version-missing", "offsets/N has no version line", _TEXT, _no_version),
    Damage(
        "offset-version-spaced", "a space follows the version of offsets/N", _TEXT, _line(0, b"v1 ")
    ),
    Damage("offset-version-upper", "the version line of offsets/N is V1", _TEXT, _line(0, b"V1")),
    Damage("offset-version-plus", "the version line of offsets/N is v+1", _TEXT, _line(0, b"v+1")),
    Damage("offset-metadata-array", "line 2 of offsets/N is []", _TEXT, _line(1, b"[]")),
    Damage(
        "offset-metadata-invalid", "line 2 of offsets/N is no JSON", _TEXT, _line(1, b"{not json}")
    ),
    Damage("offset-metadata-empty", "line 2 of offsets/N is empty", _TEXT, _line(1, b"")),
    Damage("offset-metadata-braces", "line 2 of offsets/N is {}", _TEXT, _line(1, b"{}")),
    Damage("offset-metadata-null", "line 2 of offsets/N is null", _TEXT, _line(1, b"null")),
    Damage(
        "offset-source-dash",
        "the first source line of offsets/N is -",
        _SOURCE,
        _source_value(b"-"),
    ),
    Damage(
        "offset-source-empty",
        "the first source line of offsets/N is empty",
        _SOURCE,
        _source_value(b""),
    ),
    Damage(
        "offset-source-null",
        "the first source line of offsets/N is null",
        _TEXT,
        _source_value(b"null"),
    ),
    Damage(
        "offset-source-number",
        "the first source line of offsets/N is the bare number 4",
        _TEXT,
        _source_value(b"4"),
    ),
    Damage(
        "offset-source-word",
        "the first source line of offsets/N is no JSON",
        _TEXT,
        _source_value(b"abc"),
    ),
    Damage(
        "offset-source-braces",
        "the first source line of offsets/N is {}",
        _TEXT,
        _source_value(b"{}"),
    ),
    Damage(
        "offset-source-array",
        "the first source line of offsets/N is [4]",
        _TEXT,
        _source_value(b"[4]"),
    ),
    Damage(
        "offset-log-negative",
        "logOffset in offsets/N is -1",
        _TEXT,
        _source_value(b'{"logOffset":-1}'),
    ),
    Damage(
        "offset-log-text",
        "logOffset in offsets/N is the text 4",
        _TEXT,
        _source_value(b'{"logOffset":"4"}'),
    ),
    Damage(
        "offset-log-fraction",
        "logOffset in offsets/N is 4.5",
        _TEXT,
        _source_value(b'{"logOffset":4.5}'),
    ),
    Damage(
        "offset-log-more-keys",
        "the source offset in offsets/N has an unknown key",
        _TEXT,
        _source_value(b'{"logOffset":4,"noSuchKey":1}'),
    ),
    Damage("offset-cr", "the lines of offsets/N end in CR", _TEXT, _rewritten(rb"\n", b"\r")),
    Damage("offset-crlf", "the lines of offsets/N end in CRLF", _TEXT, _rewritten(rb"\n", b"\r\n")),
    Damage(
        "offset-bom",
        "offsets/N begins with a byte order mark",
        _TEXT,
        _framed(b"\xef\xbb\xbf", b""),
    ),
    Damage(
        "offset-trailing-newline", "offsets/N ends with a newline", _SOURCE, _framed(b"", b"\n")
    ),
    Damage(
        "offset-trailing-blank-line",
        "offsets/N ends with two newlines",
        _TEXT,
        _framed(b"", b"\n\n"),
    ),
    Damage("offset-leading-newline", "offsets/N begins with a newline", _TEXT, _framed(b"\n", b"")),
    Damage("offset-swapped", "offsets/N and offsets/N-1 are swapped", _SOURCE, _swapped),
    Damage("offset-repeated", "offsets/N is the same as offsets/N-1", _SOURCE, _same_as_before),
    Damage(
        "offset-log-ahead",
        "every logOffset in offsets/N is 3 higher",
        _SOURCE,
        _log_offset_moved(3),
    ),
    Damage(
        "offset-log-back", "every logOffset in offsets/N is 2 lower", _SOURCE, _log_offset_moved(-2)
    ),
    Damage("second-offset-empty", "offsets/N-1 has no bytes", _SOURCE, _bytes(back=1)),
    Damage(
        "second-offset-garbage",
        "offsets/N-1 holds garbage bytes",
        _TEXT,
        _bytes(back=1, content=GARBAGE),
    ),
    Damage("older-offset-empty", "offsets/N-2 has no bytes", _SOURCE, _bytes(back=2)),
)
