"""Bytes for decoded values: equal values give equal bytes, whoever wrote them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from holdfast.state.loading.gathering import spans_of

_NOTHING = pa.scalar(b"", pa.large_binary())
_LENGTH = np.dtype("<i8")


def row_bytes(values: pa.Array) -> pa.LargeBinaryArray:
    """Encode each value so that no two different ones of its type have the same bytes."""
    kind = values.type
    if pa.types.is_null(kind):
        return _fixed(np.zeros((len(values), 0), np.uint8), np.zeros(len(values), np.bool_))
    present = np.asarray(pc.is_valid(values))
    if pa.types.is_struct(kind):
        empty = np.zeros((len(values), 0), np.uint8)
        return joined([_fixed(empty, present), *map(row_bytes, values.flatten())])
    if pa.types.is_list(kind) or pa.types.is_map(kind):
        return _lists(values, present)
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        content = pc.fill_null(values.cast(pa.binary()).cast(pa.large_binary()), b"")
        return joined([_lengths(spans_of(content).lengths, present), content])
    if pa.types.is_boolean(kind):
        values, kind = values.cast(pa.uint8()), pa.uint8()
    width = kind.bit_width // 8
    if not present.any():
        return _fixed(np.zeros((len(values), width), np.uint8), present)
    data = np.frombuffer(values.buffers()[1], np.uint8)
    used = data[values.offset * width : (values.offset + len(values)) * width]
    return _fixed(used.reshape(len(values), width), present)


def joined(columns: list[pa.LargeBinaryArray]) -> pa.LargeBinaryArray:
    """Put the bytes of several columns one behind another, row by row."""
    return pc.binary_join_element_wise(*columns, _NOTHING) if len(columns) > 1 else columns[0]


def _lists(values: pa.Array, present: npt.NDArray[np.bool_]) -> pa.LargeBinaryArray:
    """The bytes of a list are those of its elements, which follow one another already."""
    offsets = values.offsets.to_numpy().astype(np.int64)
    if pa.types.is_map(values.type):
        entries = [row_bytes(part) for part in (values.keys, values.items)]
        elements = joined(entries)
    else:
        elements = row_bytes(values.values)
    spans = spans_of(elements)
    ends = np.append(spans.starts, spans.starts[-1:] + spans.lengths[-1:]) if len(spans) else [0]
    bounds = pa.py_buffer(np.asarray(ends, np.int64)[offsets])
    buffers = [None, bounds, pa.py_buffer(spans.data)]
    content = pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(values), buffers)
    return joined([_lengths(np.diff(offsets), present), content])


def _lengths(lengths: npt.NDArray[np.int64], present: npt.NDArray[np.bool_]) -> pa.LargeBinaryArray:
    stored = np.ascontiguousarray(lengths, _LENGTH)
    return _fixed(stored.view(np.uint8).reshape(len(lengths), _LENGTH.itemsize), present)


def _fixed(data: npt.NDArray[np.uint8], present: npt.NDArray[np.bool_]) -> pa.LargeBinaryArray:
    """Give rows of one width, each behind a byte that tells null from a value of zeros."""
    rows = np.zeros((len(present), 1 + data.shape[1]), np.uint8)
    rows[:, 0] = present
    np.multiply(data, present[:, None], out=rows[:, 1:])
    bounds = np.arange(len(present) + 1, dtype=np.int64) * rows.shape[1]
    buffers = [None, pa.py_buffer(bounds), pa.py_buffer(rows.reshape(-1))]
    return pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(present), buffers)
