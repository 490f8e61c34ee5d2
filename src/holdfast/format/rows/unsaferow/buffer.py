"""Rows side by side in one aligned buffer, where each value is found by its position."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from holdfast.errors import DecodeError
from holdfast.format.arrowarrays import Valid, arrow_numbers
from holdfast.format.arrowkernels import taken
from holdfast.format.spans import Bytes, Positions, Spans

WORD = 8
_CODE = "HF2730"
_MOST_BYTES = 2**31 - 1


@dataclass(frozen=True)
class RowBuffer:
    """Whole rows without gaps; each begins at a multiple of eight, so that words can be taken."""

    data: Bytes
    starts: Positions
    lengths: Positions

    def take(self, positions: Positions, kind: str) -> npt.NDArray[Any]:
        """Give the little-endian values at positions that are multiples of their width."""
        dtype = np.dtype(kind)
        values: npt.NDArray[Any] = self.data.view(dtype)[positions // dtype.itemsize]
        return values

    def error(self, message: str, position: int) -> DecodeError:
        """Make an error that names the row and the byte in it."""
        row = int(np.searchsorted(self.starts, position, side="right")) - 1
        return row_error(message, row, position - int(self.starts[row]))


def row_error(message: str, row: int, byte: int) -> DecodeError:
    """Make an error at a byte of a row; rows count from 0."""
    return DecodeError(_CODE, f"state row {row}, byte {byte}: {message}", byte=byte)


def aligned(rows: Spans) -> RowBuffer:
    """Put rows side by side; bytes beyond a multiple of eight are no part of a row."""
    if len(rows) and _leaves_data(rows):
        raise ValueError("a span begins or ends outside of its data")
    lengths = rows.lengths & -WORD
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    if total > _MOST_BYTES:
        raise ValueError(f"{total} bytes are too many for one call; give fewer rows")
    return RowBuffer(_compacted(rows.data, rows.starts, lengths, total), ends - lengths, lengths)


def _leaves_data(rows: Spans) -> bool:
    last = int((rows.starts + rows.lengths).max())
    return int(rows.starts.min()) < 0 or int(rows.lengths.min()) < 0 or last > len(rows.data)


def _compacted(data: Bytes, starts: Positions, lengths: Positions, total: int) -> Bytes:
    if ascending(starts, lengths):
        packed = packed_values(data, starts, lengths).buffers()[2]
        return np.frombuffer(packed, np.uint8, total) if total else np.empty(0, np.uint8)
    words = lengths // WORD
    shifts = starts - WORD * (np.cumsum(words) - words)
    places = np.repeat(shifts, words)
    places += WORD * np.arange(len(places))
    words_anywhere = np.ndarray((max(len(data) - WORD + 1, 0),), "<u8", data, strides=(1,))
    compacted: Bytes = words_anywhere[places].view(np.uint8)
    return compacted


def ascending(starts: Positions, lengths: Positions) -> bool:
    """Tell whether each value begins at or after the end of the one before."""
    return bool((starts[1:] >= starts[:-1] + lengths[:-1]).all())


def packed_values(
    data: Bytes, starts: Positions, lengths: Positions, valid: Valid | None = None
) -> pa.Array:
    """Give ascending byte strings as one Arrow array; with `valid`, nulls stand between them."""
    count = len(starts)
    bounds = np.empty(2 * count, np.int64)
    bounds[0::2] = starts
    bounds[1::2] = starts + lengths
    # Values and the gaps between them alternate: taking every second is one pass in C++.
    both = pa.Array.from_buffers(
        pa.large_binary(), max(2 * count - 1, 0), [None, pa.py_buffer(bounds), pa.py_buffer(data)]
    )
    if valid is None:
        return taken(both, arrow_numbers(np.arange(0, 2 * count, 2)))
    return taken(both, arrow_numbers(2 * (np.cumsum(valid) - 1), valid=valid))
