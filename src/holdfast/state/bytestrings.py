"""Many byte strings at once: gathered into Arrow's arrays, compared, hashed."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from holdfast.format.arrow import arrow_numbers, taken
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


_COMPARED = 8


def equal_to(strings: Spans, wanted: bytes) -> npt.NDArray[np.bool_]:
    """Return which of the strings are these bytes; eight bytes of all candidates in each turn."""
    found = np.flatnonzero(strings.lengths == len(wanted))
    # Keys of one store begin alike and differ at their ends: these leave few candidates.
    for end in range(len(wanted), 0, -_COMPARED):
        if not len(found):
            break
        start = max(end - _COMPARED, 0)
        found = found[_at(strings, found, start, end) == np.void(wanted[start:end])]
    mask = np.zeros(len(strings), np.bool_)
    mask[found] = True
    return mask


def _at(strings: Spans, chosen: Positions, start: int, end: int) -> npt.NDArray[np.void]:
    """Return the bytes from start to end of each chosen string, which all reach that far."""
    width = end - start
    count = len(strings.data) - width + 1
    anywhere: npt.NDArray[np.void] = np.ndarray((count,), f"V{width}", strings.data, strides=(1,))
    return anywhere[strings.starts[chosen] + start]


Hashes = npt.NDArray[np.uint64]

_LONG = 1_024
"""Longer strings are hashed one by one: they are few where there are many bytes of them."""
_FACTOR = np.uint64(0x9E37_79B9_7F4A_7C15)
_SECOND_FACTOR = np.uint64(0xBF58_476D_1CE4_E5B9)
_SHIFT = np.uint64(29)


def hashed(spans: Spans) -> Hashes:
    """Hash each string: eight bytes of all of them in each turn."""
    lengths = spans.lengths
    hashes = lengths.astype(np.uint64) * _FACTOR
    padded = np.concatenate([spans.data, np.zeros(8, np.uint8)])
    words: Hashes = np.ndarray((len(padded) - 7,), "<u8", padded, strides=(1,))
    short = np.flatnonzero(lengths <= _LONG)
    shared = int(lengths.min()) // 8 * 8 if len(short) == len(lengths) > 0 else 0
    for start in range(0, shared, 8):
        hashes = _mixed(hashes ^ words[spans.starts + start])
    for start in range(shared, int(lengths[short].max(initial=0)), 8):
        active = short[lengths[short] > start]
        word = words[spans.starts[active] + start]
        left = np.minimum(lengths[active] - start, 8).astype(np.uint64)
        word &= np.uint64(0xFFFF_FFFF_FFFF_FFFF) >> (np.uint64(64) - left * np.uint64(8))
        hashes[active] = _mixed(hashes[active] ^ word)
    for index in np.flatnonzero(lengths > _LONG):
        hashes[index] = np.uint64(_digest(spans.at(int(index))))
    return _mixed(hashes)


def _digest(long: bytes) -> int:
    # Few stores have strings as long as that, and OpenSSL takes its time to load.
    from hashlib import blake2b

    return int.from_bytes(blake2b(long, digest_size=8).digest(), "little")


def _mixed(hashes: Hashes) -> Hashes:
    for factor in (_FACTOR, _SECOND_FACTOR):
        hashes = (hashes ^ (hashes >> _SHIFT)) * factor
    return hashes
