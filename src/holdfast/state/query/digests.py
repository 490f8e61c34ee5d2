"""Digests of the rows of two states, in buckets by key; what exceeds memory waits on disk.

A row is 32 bytes here, whatever its columns are: 128 bits of what identifies it, 64 bits of the
rest, and its place in the order of reading. Rows of equal digests are taken for equal.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from holdfast.errors import CheckpointError
from holdfast.state.bytestrings import Hashes, hashed, spans_of
from holdfast.state.layouts import Shown, StoreLayout

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
    """Return rows of one width, each behind a byte that tells null from a value of zeros."""
    rows = np.zeros((len(present), 1 + data.shape[1]), np.uint8)
    rows[:, 0] = present
    np.multiply(data, present[:, None], out=rows[:, 1:])
    bounds = np.arange(len(present) + 1, dtype=np.int64) * rows.shape[1]
    buffers = [None, pa.py_buffer(bounds), pa.py_buffer(rows.reshape(-1))]
    return pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(present), buffers)


Digests = npt.NDArray[np.void]

RECORD = np.dtype([("first", "<u8"), ("second", "<u8"), ("rest", "<u8"), ("place", "<i8")])
_BUCKET_BITS = 5
BUCKETS = 1 << _BUCKET_BITS
_SALT = pa.scalar(b"another", pa.large_binary())
"""Shifts the words of what is hashed, so that the second hash knows nothing of the first."""


def digests_of(layout: StoreLayout, batch: pa.RecordBatch, start: int) -> Digests:
    """Return the digests of rows, which are the `start`-th and following ones of their store."""
    identity = ["key", "user_map_key"]
    if layout.shown is Shown.TIMER:
        identity.append("value")
    own: list[pa.LargeBinaryArray] = []
    rest: list[pa.LargeBinaryArray] = []
    for name in batch.schema.names[1:]:
        (own if name in identity else rest).append(row_bytes(batch.column(name)))
    key = joined(own)
    found = np.zeros(len(batch), RECORD)
    found["first"] = _hashed(key)
    found["second"] = _hashed(joined([pa.repeat(_SALT, len(batch)), key]))
    found["rest"] = _hashed(joined(rest)) if rest else 0
    found["place"] = np.arange(start, start + len(batch))
    return found


class DigestBuckets:
    """The digests of both sides; each bucket holds every row of the keys that it holds."""

    def __init__(self, folder: Path, memory_bytes: int) -> None:
        self._folder = folder
        self._memory_bytes = memory_bytes
        self._held: dict[tuple[int, int], list[Digests]] = {}
        self._used = 0

    def add(self, side: int, digests: Digests) -> None:
        """Take digests of side 0 or 1, in the order of their places."""
        buckets = (digests["first"] >> np.uint64(64 - _BUCKET_BITS)).astype(np.uint8)
        order = np.argsort(buckets, kind="stable")
        cuts = np.searchsorted(buckets[order], np.arange(BUCKETS + 1))
        ordered = digests[order]
        for bucket in range(BUCKETS):
            piece = ordered[cuts[bucket] : cuts[bucket + 1]]
            if len(piece):
                self._held.setdefault((side, bucket), []).append(piece)
        self._used += digests.nbytes
        if self._used > self._memory_bytes:
            self._write()

    def pairs(self) -> Iterator[tuple[Digests, Digests]]:
        """Yield both sides of each bucket, in the order of their places."""
        for bucket in range(BUCKETS):
            yield self._side(0, bucket), self._side(1, bucket)

    def _side(self, side: int, bucket: int) -> Digests:
        path = self._path(side, bucket)
        parts = self._held.pop((side, bucket), [])
        with self._disk():
            if path.exists():
                parts.insert(0, np.fromfile(path, RECORD))
                path.unlink()
        return np.concatenate(parts) if parts else np.zeros(0, RECORD)

    def _write(self) -> None:
        with self._disk():
            for (side, bucket), parts in self._held.items():
                with self._path(side, bucket).open("ab") as file:
                    file.write(np.concatenate(parts).tobytes())
        self._held.clear()
        self._used = 0

    def _path(self, side: int, bucket: int) -> Path:
        return self._folder / f"{side}-{bucket}.digests"

    @contextmanager
    def _disk(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            message = f"the digests of the rows fit neither into memory nor there: {error}"
            raise CheckpointError("HF2790", message, at=str(self._folder)) from error


def _hashed(strings: pa.LargeBinaryArray) -> Hashes:
    return hashed(spans_of(strings))
