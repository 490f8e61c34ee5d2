"""CRC-32C of single rows, which Spark 4.2 and later can keep within state files."""

from __future__ import annotations

from collections.abc import Iterator

import google_crc32c
import numpy as np
import numpy.typing as npt

from holdfast.format.spans import Positions, Spans
from holdfast.format.state.records import RecordPiece

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
