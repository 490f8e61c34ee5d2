"""`<version>.changelog`: what a batch changed in a RocksDB state store, in formats 1 to 4."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from holdfast.errors import DecodeError
from holdfast.format.fields import Fields
from holdfast.format.rows.checksum import (
    replaced,
    split_number,
    verified_deletions,
    verify_sums,
)
from holdfast.format.spans import DELETE, DELETE_RANGE, Changes, Spans
from holdfast.format.state.codecs import decompressed
from holdfast.format.state.javadata import JavaInput
from holdfast.format.state.records import Feed, RecordFile, RecordPiece
from holdfast.format.strictjson import decode_json, kind_of

_WHAT = "changelog"
_LONGEST_HEADER = 4 + 2 + 65_535
_VERSION_START = b"\0\2v"
_VERSIONS = (2, 3, 4)
_TYPED = (2, 4)
_WITH_LINEAGE = (3, 4)


@dataclass(frozen=True)
class LineageItem:
    """One version of the store that a changelog builds upon, and the id that it was saved under."""

    version: int
    unique_id: str


@dataclass(frozen=True)
class Changelog:
    """The header of a changelog, and its changes, which are read while they are asked for."""

    version: int
    """Of the format, not of the store."""
    lineage: tuple[LineageItem, ...]
    changes: Iterator[Changes]
    """Keys and values as RocksDB holds them; the value of a range's deletion is its last key."""


def read_changelog(
    data: bytes, *, row_checksum: bool = False, chunk_bytes: int = 8 << 20
) -> Changelog:
    """Read a changelog's header; its changes follow in their order, some at a time.

    An error tells its byte of the decompressed file; one of the codec, HF2701, that of the file.
    Damage that Spark does not notice is raised after the last change, as overlooked. Row checksums
    are verified; they stay before values that are put or merged, as in RocksDB itself.
    """
    feed = Feed(decompressed(data))
    head = feed.take(_LONGEST_HEADER)
    source = JavaInput(head, _WHAT, "HF2707")
    try:
        version = _take_version(source)
        lineage = _take_lineage(source) if version in _WITH_LINEAGE else ()
    except DecodeError:
        if feed.failure:
            raise feed.failure from None
        raise
    feed.give_back(head[source.byte :])
    file = RecordFile(_WHAT, typed=version in _TYPED)
    pieces = file.read(feed, chunk_bytes=chunk_bytes, byte=source.byte)
    return Changelog(version, lineage, _changes(pieces, row_checksum))


def _changes(pieces: Iterator[RecordPiece], row_checksum: bool) -> Iterator[Changes]:
    for piece in pieces:
        yield _verified(piece) if row_checksum else piece.changes


def _take_version(source: JavaInput) -> int:
    # Format 1 has no header. Like Spark, take one for format 2 whose first key's length reads "v2".
    digit = source.data[3:4]
    if not source.data.startswith(_VERSION_START) or not digit.isdigit():
        return 1
    if int(digit) not in _VERSIONS:
        raise source.error(f"no Spark writes the version {source.take_text()!r}", 2)
    source.take_text()
    return int(digit)


def _take_lineage(source: JavaInput) -> tuple[LineageItem, ...]:
    byte = source.byte + 2
    text = source.take_text()
    try:
        items = decode_json(text, what=_WHAT, byte=byte)
        if not isinstance(items, list):
            raise source.error(f"the lineage is {kind_of(items)}, not a list", byte)
        return tuple(_lineage_item(item, byte) for item in items)
    except DecodeError as error:
        raise DecodeError("HF2707", error.message, byte=error.byte) from error


def _lineage_item(item: object, byte: int) -> LineageItem:
    fields = Fields({}, _WHAT, byte=byte).inner("lineage", item)
    return LineageItem(fields.take_integer("version"), fields.take_text("checkpointUniqueId"))


def _verified(piece: RecordPiece) -> Changes:
    """Verify the rows; take the checksums off keys, where RocksDB does not hold them."""
    changes = piece.changes
    deletions = changes.kinds == DELETE
    keys = verified_deletions(piece, changes.keys, deletions)
    sums, rest = split_number(piece, changes.values.take(~deletions))
    lengths, rest = split_number(piece, rest)
    long = np.flatnonzero(lengths > rest.lengths)
    if len(long):
        message = "a value is shorter than it says"
        raise piece.error("HF2705", message, int(rest.starts[long[0]]) - 4)
    # Of several values in one record Spark verifies the first; so do we.
    values = Spans(rest.data, rest.starts, lengths)
    verify_sums(piece, sums, keys.take(~deletions), values)
    ranges = changes.kinds == DELETE_RANGE
    ends = values.take(ranges[~deletions])
    return Changes(changes.kinds, keys, replaced(changes.values, ranges, ends))
