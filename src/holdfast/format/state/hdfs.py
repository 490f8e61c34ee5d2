"""`<version>.delta` and `<version>.snapshot`: what the HDFS-backed state store keeps."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from holdfast.format.rows.checksum import (
    replaced,
    split_number,
    verified_deletions,
    verify_sums,
)
from holdfast.format.spans import DELETE, Changes, Spans
from holdfast.format.state.codecs import decompressed
from holdfast.format.state.records import Feed, RecordFile, RecordPiece

_DELTA = RecordFile("state delta", typed=False)
_SNAPSHOT = RecordFile("state snapshot", typed=False)


def read_changes(
    data: bytes, *, snapshot: bool, row_checksum: bool = False, chunk_bytes: int = 8 << 20
) -> Iterator[Changes]:
    """Give the rows that a file puts and deletes, in its order, some at a time.

    An error tells its byte of the decompressed file; one of the codec, HF2701, that of the file.
    Damage that Spark does not notice is raised after the last change, as overlooked.
    """
    file = _SNAPSHOT if snapshot else _DELTA
    for piece in file.read(Feed(decompressed(data)), chunk_bytes=chunk_bytes):
        if snapshot:
            _refuse_deletions(piece)
        changes = _verified(piece) if row_checksum else piece.changes
        yield Changes(changes.kinds, changes.keys, _whole_words(changes.values))


def _refuse_deletions(piece: RecordPiece) -> None:
    deletions = np.flatnonzero(piece.changes.kinds == DELETE)
    if len(deletions):
        place = int(piece.changes.values.starts[deletions[0]]) - 4
        raise piece.error("HF2704", "a row without a value", place)


def _whole_words(values: Spans) -> Spans:
    # Spark before 2.3 wrote four bytes too many after a value; every reader since drops them.
    return Spans(values.data, values.starts, values.lengths & ~7)


def _verified(piece: RecordPiece) -> Changes:
    """Verify the rows and take the checksums off: of a put, it stands before the value."""
    changes = piece.changes
    deletions = changes.kinds == DELETE
    keys = verified_deletions(piece, changes.keys, deletions)
    sums, values = split_number(piece, changes.values.take(~deletions))
    verify_sums(piece, sums, keys.take(~deletions), values)
    return Changes(changes.kinds, keys, replaced(changes.values, ~deletions, values))
