"""Byte strings copied one behind another, as Arrow's binary arrays: no Python object for each."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from holdfast.format.arrowarrays import arrow_numbers
from holdfast.format.arrowkernels import taken
from holdfast.format.spans import Bytes, Positions, Spans


def gathered(spans: Spans) -> pa.LargeBinaryArray:
    """Copy the strings, of which no two overlap, into one array; the copying itself is Arrow's."""
    empty = spans.lengths == 0
    ends = np.where(empty, 0, spans.starts + spans.lengths)
    # An empty string may claim to begin anywhere; it is put where those before it end.
    reached = np.maximum.accumulate(ends) if len(ends) else ends
    starts, ends = np.where(empty, reached, spans.starts), np.where(empty, reached, ends)
    if np.all(starts[1:] >= ends[:-1]):
        return _in_order(spans.data, starts, ends)
    order = np.lexsort((ends, starts))
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return taken(_in_order(spans.data, starts[order], ends[order]), arrow_numbers(back))


def spans_of(array: pa.LargeBinaryArray) -> Spans:
    """See an array's strings where they are."""
    _, offsets, data = array.buffers()
    places = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
    content = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
    return Spans(content, places[:-1], np.diff(places))


def _in_order(data: Bytes, starts: Positions, ends: Positions) -> pa.LargeBinaryArray:
    """Strings and the gaps between them are one binary array; every second of it is taken."""
    if not len(starts):
        return pa.nulls(0, pa.large_binary())
    bounds = np.empty(2 * len(starts), np.int64)
    bounds[0::2], bounds[1::2] = starts, ends
    whole = pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), len(bounds) - 1, [None, pa.py_buffer(bounds), pa.py_buffer(data)]
    )
    return taken(whole, arrow_numbers(np.arange(0, len(bounds), 2)))
