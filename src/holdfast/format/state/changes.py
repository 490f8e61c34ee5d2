"""State files: `<version>.delta` and `.snapshot` (HDFS-backed), `<version>.changelog` (RocksDB)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import google_crc32c
import numpy as np
import numpy.typing as npt

from holdfast.errors import DecodeError
from holdfast.format.buffers import DELETE, DELETE_RANGE, Changes, Positions, Spans
from holdfast.format.state.codecs import decompressed
from holdfast.format.state.javadata import JavaInput
from holdfast.format.state.records import Feed, RecordFile, RecordPiece
from holdfast.format.strictjson import Fields, decode_json, kind_of

_SUM_BYTES = 4


def split_number(piece: RecordPiece, strings: Spans) -> tuple[Positions, Spans]:
    """Take the checksum, or a length, off the front of each string."""
    short = np.flatnonzero(strings.lengths < _SUM_BYTES)
    if len(short):
        place = int(strings.starts[short[0]])
        raise piece.error("HF2705", "a row is too short to have a checksum", place)
    places = strings.starts[:, np.newaxis] + np.arange(_SUM_BYTES)
    numbers = strings.data[places].view("<u4").ravel().astype(np.int64)
    rest = Spans(strings.data, strings.starts + _SUM_BYTES, strings.lengths - _SUM_BYTES)
    return numbers, rest


def verify_sums(
    piece: RecordPiece, sums: Positions, keys: Spans, values: Spans | None = None
) -> None:
    """Demand that each checksum is that of its key, followed by its value."""
    data = keys.data.tobytes()
    found = [google_crc32c.value(data[start:end]) for start, end in _bounds(keys)]
    if values is not None:
        found = [
            google_crc32c.extend(begun, data[start:end])
            for begun, (start, end) in zip(found, _bounds(values), strict=True)
        ]
    wrong = np.flatnonzero(np.array(found, np.int64) != sums)
    if len(wrong):
        place = int(keys.starts[wrong[0]])
        raise piece.error("HF2705", "a row does not match its checksum", place)


def _bounds(strings: Spans) -> Iterator[tuple[int, int]]:
    ends = strings.starts + strings.lengths
    return zip(strings.starts.tolist(), ends.tolist(), strict=True)


def verified_deletions(piece: RecordPiece, keys: Spans, deletions: npt.NDArray[np.bool_]) -> Spans:
    """Verify the keys of deletions, which carry the checksum themselves, and take it off."""
    sums, bare = split_number(piece, keys.take(deletions))
    verify_sums(piece, sums, bare)
    return replaced(keys, deletions, bare)


def replaced(strings: Spans, which: npt.NDArray[np.bool_], others: Spans) -> Spans:
    """Put others in the place of some strings; all are of one buffer."""
    starts, lengths = strings.starts.copy(), strings.lengths.copy()
    starts[which], lengths[which] = others.starts, others.lengths
    return Spans(strings.data, starts, lengths)


_DELTA = RecordFile("state delta", typed=False)
_SNAPSHOT = RecordFile("state snapshot", typed=False)


def read_changes(
    data: bytes, *, snapshot: bool, row_checksum: bool = False, chunk_bytes: int = 8 << 20
) -> Iterator[Changes]:
    """Yield the rows that a file puts and deletes, in its order, some at a time.

    An error tells its byte of the decompressed file; one of the codec, HF2701, that of the file.
    Damage that Spark does not notice is raised after the last change, as overlooked.
    """
    file = _SNAPSHOT if snapshot else _DELTA
    for piece in file.read(Feed(decompressed(data)), chunk_bytes=chunk_bytes):
        if snapshot:
            _refuse_deletions(piece)
        changes = _verified_rows(piece) if row_checksum else piece.changes
        yield Changes(changes.kinds, changes.keys, _whole_words(changes.values))


def _refuse_deletions(piece: RecordPiece) -> None:
    deletions = np.flatnonzero(piece.changes.kinds == DELETE)
    if len(deletions):
        place = int(piece.changes.values.starts[deletions[0]]) - 4
        raise piece.error("HF2704", "a row without a value", place)


def _whole_words(values: Spans) -> Spans:
    # Spark before 2.3 wrote four bytes too many after a value; every reader since drops them.
    return Spans(values.data, values.starts, values.lengths & ~7)


def _verified_rows(piece: RecordPiece) -> Changes:
    """Verify the rows and take the checksums off: of a put, it stands before the value."""
    changes = piece.changes
    deletions = changes.kinds == DELETE
    keys = verified_deletions(piece, changes.keys, deletions)
    sums, values = split_number(piece, changes.values.take(~deletions))
    verify_sums(piece, sums, keys.take(~deletions), values)
    return Changes(changes.kinds, keys, replaced(changes.values, ~deletions, values))


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
        yield _verified_changes(piece) if row_checksum else piece.changes


def _take_version(source: JavaInput) -> int:
    # Format 1 has no header. Like Spark, take one for format 2 whose first key's length reads "v2".
    digit = source.data[3:4]
    if not source.data.startswith(_VERSION_START) or not digit.isdigit():
        return 1
    if int(digit) not in _VERSIONS:
        raise source.error(f"no Spark release writes the version {source.take_text()!r}", 2)
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


def _verified_changes(piece: RecordPiece) -> Changes:
    """Verify the rows; take the checksums off keys, where RocksDB does not hold them."""
    changes = piece.changes
    deletions = changes.kinds == DELETE
    keys = verified_deletions(piece, changes.keys, deletions)
    sums, rest = split_number(piece, changes.values.take(~deletions))
    lengths, rest = split_number(piece, rest)
    long = np.flatnonzero(lengths > rest.lengths)
    if len(long):
        message = "a value is shorter than its declared length"
        raise piece.error("HF2705", message, int(rest.starts[long[0]]) - 4)
    # Of several values in one record Spark verifies the first; so do we.
    values = Spans(rest.data, rest.starts, lengths)
    verify_sums(piece, sums, keys.take(~deletions), values)
    ranges = changes.kinds == DELETE_RANGE
    ends = values.take(ranges[~deletions])
    return Changes(changes.kinds, keys, replaced(changes.values, ranges, ends))
