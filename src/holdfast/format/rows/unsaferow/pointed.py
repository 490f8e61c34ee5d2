"""Values that a cell points to and that hold no columns: text, bytes, wide decimals, intervals."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from holdfast.format.arrowarrays import arrow_numbers
from holdfast.format.arrowkernels import cast
from holdfast.format.rows.unsaferow.buffer import packed_values
from holdfast.format.rows.unsaferow.cells import (
    Blocks,
    Cells,
    first_invalid,
    refuse_invalid,
    spread,
)
from holdfast.format.spans import Bytes

_WIDEST = 16


def decode_bytes(kind: pa.DataType, cells: Cells) -> pa.Array:
    """Decode text or bytes. Bytes that are no UTF-8 are shown in text as Java shows them."""
    targets = cells.targets()
    valid = None if cells.valid.all() else cells.valid
    packed = packed_values(targets.buffer.data, targets.starts, targets.lengths, valid)
    array = cast(packed, pa.binary())
    return _text(array) if pa.types.is_string(kind) else array


def decode_wide_decimals(kind: pa.DataType, cells: Cells) -> pa.Array:
    """Decode decimals of more than 18 digits: big-endian, at most 16 bytes."""
    targets = cells.targets()
    wrong = (targets.lengths < 1) | (targets.lengths > _WIDEST)
    targets.refuse(wrong, f"column {cells.name!r} should be a decimal of 1 to 16 bytes")
    wide = pa.py_buffer(_little_endian(targets))
    present = pa.Array.from_buffers(kind, len(targets), [None, wide])
    array = spread(present, cells.valid)
    refuse_invalid(array, cells)
    return array


def decode_calendar_intervals(kind: pa.DataType, cells: Cells) -> pa.Array:
    """Decode months, days and microseconds."""
    targets = cells.targets()
    wrong = targets.lengths != _WIDEST
    targets.refuse(wrong, f"column {cells.name!r} should be an interval of 16 bytes")
    take = targets.buffer.take
    parts = [
        arrow_numbers(take(targets.starts, "<i4")),
        arrow_numbers(take(targets.starts + 4, "<i4")),
        arrow_numbers(take(targets.starts + 8, "<i8")),
    ]
    return spread(pa.Array.from_buffers(kind, len(targets), [None], children=parts), cells.valid)


def decode_variants(kind: pa.DataType, cells: Cells) -> pa.Array:
    """Decode the two parts of variants: value and metadata."""
    targets = cells.targets()
    message = f"column {cells.name!r} should be a variant with its size"
    targets.refuse(targets.lengths < 4, message)
    sizes = targets.buffer.take(targets.starts, "<i4").astype(np.int64)
    targets.refuse((sizes < 0) | (sizes + 4 > targets.lengths), message)
    values = packed_values(targets.buffer.data, targets.starts + 4, sizes)
    rest = targets.lengths - 4 - sizes
    metadata = packed_values(targets.buffer.data, targets.starts + 4 + sizes, rest)
    parts = [cast(values, pa.binary()), cast(metadata, pa.binary())]
    return spread(pa.Array.from_buffers(kind, len(targets), [None], children=parts), cells.valid)


def _little_endian(targets: Blocks) -> Bytes:
    """Turn big-endian numbers of 1 to 16 bytes around, filled up with their sign."""
    data, lengths = targets.buffer.data, targets.lengths
    wide: Bytes = np.empty((len(targets), _WIDEST), np.uint8)
    sign = np.where(data[targets.starts] >= 0x80, 0xFF, 0).astype(np.uint8)
    for byte in range(_WIDEST):
        inside = lengths > byte
        places = np.where(inside, targets.starts + lengths - 1 - byte, 0)
        wide[:, byte] = np.where(inside, data[places], sign)
    return wide


def _text(array: pa.Array) -> pa.Array:
    text = array.view(pa.string())
    if first_invalid(text) is None:
        return text
    shown = (
        None if value is None else value.decode("utf-8", "replace") for value in array.to_pylist()
    )
    return pa.array(shown, pa.string(), size=len(array))
