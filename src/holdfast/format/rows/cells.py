"""UnsafeRows in one aligned buffer: their cells, and the values that live in a cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from holdfast.errors import DecodeError
from holdfast.format.buffers import Bytes, Positions, Spans, Valid, arrow_bits, arrow_numbers, taken

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
        """Return the little-endian values at positions that are multiples of their width."""
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
        raise ValueError("a span begins or ends outside its data")
    lengths = rows.lengths & -WORD
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    if total > _MOST_BYTES:
        raise ValueError(f"{total} bytes are too many for one call; pass fewer rows")
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
    """Return whether each value begins at or after the end of the one before."""
    return bool((starts[1:] >= starts[:-1] + lengths[:-1]).all())


def packed_values(
    data: Bytes, starts: Positions, lengths: Positions, valid: Valid | None = None
) -> pa.Array:
    """Return ascending byte strings as one Arrow array; with `valid`, nulls stand between them."""
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


_LOW_HALF = 0xFFFFFFFF


@dataclass(frozen=True)
class Blocks:
    """Rows or arrays in a buffer, at any depth: what an offset in them counts from."""

    buffer: RowBuffer
    starts: Positions
    lengths: Positions
    origins: Positions | None = None
    """The cells that point to them; nothing for rows, which nobody points to."""

    def __len__(self) -> int:
        return len(self.starts)

    def refuse(self, wrong: Valid, message: str) -> None:
        """Raise at the first block that is wrong, where there is one."""
        if not wrong.any():
            return
        index = int(wrong.argmax())
        text = f"{message}, in {int(self.lengths[index])} bytes"
        if self.origins is None:
            raise row_error(text, index, 0)
        raise self.buffer.error(text, int(self.origins[index]))


@dataclass(frozen=True)
class Cells:
    """The fixed parts of one column, each in a block of its own or of its array."""

    name: str
    blocks: Blocks
    fixed: Positions
    """How long the fixed part of each block is: values lie behind it."""
    positions: Positions
    valid: Valid

    def __len__(self) -> int:
        return len(self.positions)

    def validity(self) -> pa.Buffer | None:
        """Return Arrow's bitmap, or nothing where no value is null."""
        return None if self.valid.all() else arrow_bits(self.valid)

    def targets(self) -> Blocks:
        """Return what the cells that are not null point to; refuse what lies outside its block."""
        some = np.flatnonzero(self.valid)
        cells = self.blocks.buffer.take(self.positions[some], "<u8")
        offsets = (cells >> np.uint64(32)).astype(np.int64)
        lengths = (cells & np.uint64(_LOW_HALF)).astype(np.int64)
        wrong = offsets % WORD != 0
        wrong |= offsets < self.fixed[some]
        wrong |= offsets + lengths > self.blocks.lengths[some]
        if wrong.any():
            self._refuse(int(wrong.argmax()), some, offsets, lengths)
        starts = self.blocks.starts[some] + offsets
        # Spark appends: going back would let few bytes claim to be any number of values.
        overlapping = starts[1:] < starts[:-1] + lengths[:-1]
        if overlapping.any():
            self._refuse(int(overlapping.argmax()) + 1, some, offsets, lengths)
        return Blocks(self.blocks.buffer, starts, lengths, self.positions[some])

    def _refuse(self, index: int, some: Positions, offsets: Positions, lengths: Positions) -> None:
        cell, offset, length = int(some[index]), int(offsets[index]), int(lengths[index])
        whole = int(self.blocks.lengths[cell])
        raise self.blocks.buffer.error(
            f"column {self.name!r} points to {length} bytes at byte {offset}, which is outside "
            f"the {whole} bytes of the row",
            int(self.positions[cell]),
        )


def spread(values: pa.Array, valid: Valid) -> pa.Array:
    """Put nulls between values that were decoded without them."""
    if valid.all():
        return values
    return taken(values, arrow_numbers(np.cumsum(valid) - 1, valid=valid))


def first_invalid(array: pa.Array) -> int | None:
    """Find the first value that its type can't hold, such as bytes that are no UTF-8."""
    if _is_valid(array):
        return None
    start, end = 0, len(array)
    while end - start > 1:
        middle = (start + end) // 2
        if _is_valid(array[start:middle]):
            start = middle
        else:
            end = middle
    return start


def refuse_invalid(array: pa.Array, cells: Cells) -> None:
    """Raise where a value is not one of its type."""
    index = first_invalid(array)
    if index is not None:
        raise cells.blocks.buffer.error(
            f"column {cells.name!r} has a value that is not a {array.type}",
            int(cells.positions[index]),
        )


def _is_valid(array: pa.Array) -> bool:
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


MOST_DIGITS_IN_CELL = 18

_STORED: Mapping[pa.DataType, str] = {
    pa.bool_(): "<u1",
    pa.int8(): "<i1",
    pa.int16(): "<i2",
    pa.int32(): "<i4",
    pa.int64(): "<i8",
    pa.float32(): "<f4",
    pa.float64(): "<f8",
    pa.date32(): "<i4",
    pa.timestamp("us"): "<i8",
    pa.timestamp("us", tz="UTC"): "<i8",
    pa.time64("ns"): "<i8",
    pa.duration("us"): "<i8",
}


def stored_as(kind: pa.DataType) -> str | None:
    """Return the numbers that a type has in its cell; None where the cell only points."""
    if pa.types.is_decimal(kind):
        return "<i8" if kind.precision <= MOST_DIGITS_IN_CELL else None
    return _STORED.get(kind)


def cell_width(kind: pa.DataType) -> int:
    """Return how many bytes an element of an array takes in its fixed part."""
    stored = stored_as(kind)
    return WORD if stored is None else np.dtype(stored).itemsize


def decode_fixed(kind: pa.DataType, stored: str, cells: Cells) -> pa.Array:
    """Decode cells that hold the values themselves."""
    values = cells.blocks.buffer.take(cells.positions, stored)
    if pa.types.is_boolean(kind):
        data = arrow_bits(values != 0)
    elif pa.types.is_decimal(kind):
        data = pa.py_buffer(_sixteen_bytes(values))
    else:
        data = pa.py_buffer(values)
    array = pa.Array.from_buffers(kind, len(cells), [cells.validity(), data])
    if pa.types.is_decimal(kind) or pa.types.is_time(kind):
        refuse_invalid(array, cells)
    return array


def _sixteen_bytes(values: Positions) -> Positions:
    wide = np.empty((len(values), 2), "<i8")
    wide[:, 0] = values
    wide[:, 1] = values >> 63
    return wide
