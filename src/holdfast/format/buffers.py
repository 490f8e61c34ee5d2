"""Many values at once: numbers and byte strings of numpy as Arrow's and back, without objects.

Not `pyarrow.array`, `pyarrow.scalar` and `to_numpy`: they import pandas wherever it is installed,
which takes longer than reading a million rows.

`pyarrow.compute` makes a documented function for each of some 300 kernels when it is imported,
which takes as long as a hundred thousand rows; an array's own `take`, `cast`, `filter` and
`is_null` import it too. What it calls itself, `pyarrow._compute`, is there at once. Showing rows
and looking for a key use them; conditions and summaries, which need more kernels, import it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow._compute import (
    CastOptions,
    ReplaceSubstringOptions,
    SetLookupOptions,
    StrftimeOptions,
    call_function,
)

Bytes = npt.NDArray[np.uint8]
Positions = npt.NDArray[np.int64]

PUT, DELETE, MERGE, DELETE_RANGE = 0x01, 0x10, 0x11, 0x20
"""Kinds of a change, by the numbers that Spark's changelogs give them."""


@dataclass(frozen=True)
class Spans:
    """Byte strings: where each begins in `data`, and how long it is."""

    data: Bytes
    starts: Positions
    lengths: Positions

    def __len__(self) -> int:
        return len(self.starts)

    def at(self, index: int) -> bytes:
        """Return one string."""
        start = int(self.starts[index])
        return self.data[start : start + int(self.lengths[index])].tobytes()

    def take(self, indices: npt.NDArray[np.int64] | npt.NDArray[np.bool_]) -> Spans:
        """Return some of the strings, in this order; the buffer is shared."""
        return Spans(self.data, self.starts[indices], self.lengths[indices])

    @staticmethod
    def of(strings: Iterable[bytes]) -> Spans:
        """Put strings one after another."""
        parts = list(strings)
        lengths = np.fromiter(map(len, parts), np.int64, len(parts))
        starts = np.cumsum(lengths) - lengths
        return Spans(np.frombuffer(b"".join(parts), np.uint8), starts, lengths)


@dataclass(frozen=True)
class Changes:
    """What a file does to a store, in its order. A deletion has an empty value."""

    kinds: Bytes
    keys: Spans
    values: Spans

    def __len__(self) -> int:
        return len(self.kinds)

    def take(self, indices: npt.NDArray[np.int64] | npt.NDArray[np.bool_]) -> Changes:
        """Return some of the changes, in this order; the buffers are shared."""
        return Changes(self.kinds[indices], self.keys.take(indices), self.values.take(indices))


Valid = npt.NDArray[np.bool_]


def arrow_numbers(
    values: npt.NDArray[Any], kind: pa.DataType | None = None, valid: Valid | None = None
) -> pa.Array:
    """Return numbers as an Arrow array, by default of the type of the same name."""
    stored = pa.from_numpy_dtype(values.dtype) if kind is None else kind
    bits = None if valid is None else arrow_bits(valid)
    if pa.types.is_boolean(stored):
        return pa.Array.from_buffers(stored, len(values), [bits, arrow_bits(values)])
    buffer = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(stored, len(values), [bits, buffer])


def arrow_bits(flags: Valid) -> pa.Buffer:
    """Return flags as one bit each, as Arrow keeps booleans and what is not null."""
    return pa.py_buffer(np.packbits(flags, bitorder="little"))


def arrow_text(value: str) -> pa.StringArray:
    """Return one text as an Arrow array."""
    data = value.encode("utf-8")
    ends = pa.py_buffer(np.array([0, len(data)], np.int32))
    return pa.Array.from_buffers(pa.string(), 1, [None, ends, pa.py_buffer(data)])


def numbers_of(array: pa.Array) -> npt.NDArray[Any]:
    """See an array's numbers, which none is null of, where they are; flags are copied."""
    kind, end = array.type, array.offset + len(array)
    data = array.buffers()[1] or b""
    if pa.types.is_boolean(kind):
        bits = np.frombuffer(data, np.uint8)
        return np.unpackbits(bits, count=end, bitorder="little")[array.offset :].view(np.bool_)
    sort = "f" if pa.types.is_floating(kind) else "u" if pa.types.is_unsigned_integer(kind) else "i"
    return np.frombuffer(data, f"<{sort}{kind.bit_width // 8}", end)[array.offset :]


def taken(values: Any, places: pa.Array) -> Any:
    """Return the values at these places, of an array or of a batch; null where a place is null."""
    return call_function("take", [values, places])


def cast(values: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return the values as those of another type; raise ArrowInvalid where one is none."""
    return call_function("cast", [values], CastOptions.safe(kind))


def equal(values: pa.Array, wanted: pa.Scalar) -> pa.BooleanArray:
    """Return which values are the wanted one; null where either is."""
    return call_function("equal", [values, wanted])


def present(values: pa.Array) -> pa.BooleanArray:
    """Return which values are not null."""
    return call_function("is_valid", [values])


def distinct(values: pa.ChunkedArray) -> pa.Array:
    """Return each value once."""
    return call_function("unique", [values])


def among(values: pa.Array, known: pa.Array) -> pa.BooleanArray:
    """Return which values are known."""
    return call_function("is_in", [values], SetLookupOptions(known, skip_nulls=False))


def time_texts(values: pa.Array, form: str) -> pa.StringArray:
    """Write times in a form of `strftime`."""
    return call_function("strftime", [values], StrftimeOptions(form))


def replaced(texts: pa.StringArray, pattern: str, by: str) -> pa.StringArray:
    """Return the texts with every match of a regular expression replaced."""
    return call_function("replace_substring_regex", [texts], ReplaceSubstringOptions(pattern, by))


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
