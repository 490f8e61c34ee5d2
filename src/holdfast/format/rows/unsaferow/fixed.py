"""Values that live in their cell: numbers, dates, times, and decimals of up to 18 digits."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from holdfast.format.arrowarrays import arrow_bits
from holdfast.format.rows.unsaferow.buffer import WORD
from holdfast.format.rows.unsaferow.cells import Cells, refuse_invalid
from holdfast.format.spans import Positions

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
    """Tell as which numbers a type lies in its cell; nothing where the cell only points."""
    if pa.types.is_decimal(kind):
        return "<i8" if kind.precision <= MOST_DIGITS_IN_CELL else None
    return _STORED.get(kind)


def cell_width(kind: pa.DataType) -> int:
    """Tell how many bytes an element of an array takes in its fixed part."""
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
