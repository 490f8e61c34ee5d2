"""Damages to the file metadata, which holds the query's id."""

import json

from tests.restarts.damage import GARBAGE, Damage, either, every, named
from tests.restarts.edits import Edit, Files, replaced, with_stale_checksum, without

_PLAIN = named("stateless")


def _content(content: bytes) -> Edit:
    return lambda files: replaced(files, "metadata", content)


def _framed(before: bytes, after: bytes) -> Edit:
    return lambda files: replaced(files, "metadata", before + files["metadata"] + after)


def _fields(**more: object) -> Edit:
    def edit(files: Files) -> Files:
        known = json.loads(files["metadata"])
        return replaced(files, "metadata", json.dumps({**known, **more}).encode())

    return edit


def _edited(files: Files) -> Files:
    content = files["metadata"]
    digit = b"1" if content[-3:-2] == b"0" else b"0"
    return with_stale_checksum(files, "metadata", content[:-3] + digit + content[-2:])


METADATA_DAMAGES: tuple[Damage, ...] = (
    Damage(
        "metadata-missing",
        "the file metadata is removed",
        every,
        lambda files: without(files, "metadata"),
    ),
    Damage(
        "metadata-empty",
        "the file metadata has no bytes",
        either(_PLAIN, named("aggregation")),
        _content(b""),
    ),
    Damage(
        "metadata-cut",
        "the file metadata ends in the middle of the id",
        _PLAIN,
        _content(b'{"id":"8a5c'),
    ),
    Damage("metadata-garbage", "the file metadata holds garbage bytes", _PLAIN, _content(GARBAGE)),
    Damage("metadata-zeros", "the file metadata is zero bytes", _PLAIN, _content(bytes(45))),
    Damage("metadata-not-uuid", "the id in metadata is no uuid", _PLAIN, _fields(id="not-a-uuid")),
    Damage("metadata-id-number", "the id in metadata is a number", _PLAIN, _fields(id=7)),
    Damage("metadata-id-null", "the id in metadata is null", _PLAIN, _fields(id=None)),
    Damage("metadata-braces", "the file metadata is {}", _PLAIN, _content(b"{}")),
    Damage(
        "metadata-more-keys",
        "the file metadata has a key that Spark does not know",
        _PLAIN,
        _fields(noSuchKey=1),
    ),
    Damage(
        "metadata-trailing-newline",
        "the file metadata ends with a newline",
        _PLAIN,
        _framed(b"", b"\n"),
    ),
    Damage(
        "metadata-bom",
        "the file metadata begins with a byte order mark",
        _PLAIN,
        _framed(b"\xef\xbb\xbf", b""),
    ),
    Damage(
        "metadata-stale-crc",
        "a digit of the id is changed, the .crc tells of the old one",
        _PLAIN,
        _edited,
    ),
)
