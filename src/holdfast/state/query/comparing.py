"""What differs between two states of a store, found by digests of rows in bounded memory.

A row is 32 bytes here, whatever its columns are: 128 bits of what identifies it, 64 bits of the
rest, and its place in the order of reading. Rows of equal digests are taken for equal.

Both sides are read once for digests, and as far as needed again for the rows that are shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from holdfast.errors import CheckpointError
from holdfast.format.buffers import Hashes, Positions, hashed, spans_of
from holdfast.state.layouts import Shown, StoreLayout
from holdfast.state.loading.spilling import temporary_folder
from holdfast.state.reading import StateView
from holdfast.state.results import MEMORY_BYTES

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


Mask = npt.NDArray[np.bool_]


def _none() -> Positions:
    return np.zeros(0, np.int64)


@dataclass
class Matches:
    """What was found in all buckets: numbers of rows, and the places of the first ones."""

    most: int
    """Of each kind so many places are kept."""
    added: int = 0
    changed: int = 0
    removed: int = 0
    added_at: Positions = field(default_factory=_none)
    """Places on the right, ascending."""
    removed_at: Positions = field(default_factory=_none)
    """Places on the left, ascending."""
    changed_at: Positions = field(default_factory=lambda: np.zeros((0, 2), np.int64))
    """Places on the left and on the right, ascending by the right one."""

    def take(self, left: Digests, right: Digests) -> None:
        """Match the two sides of one bucket; a key's n-th row belongs to its n-th one there."""
        both = np.concatenate([left, right])
        if not len(both):
            return
        order = _order(both)
        both = both[order]
        on_right = order >= len(left)
        starts = _group_starts(both)
        group = np.cumsum(starts) - 1
        begins = np.flatnonzero(starts)
        rights = np.bincount(group, on_right).astype(np.int64)
        lefts = np.diff(np.append(begins, len(both))) - rights
        rank = np.arange(len(both)) - begins[group] - np.where(on_right, lefts[group], 0)
        self._count(both, on_right, rank < np.where(on_right, lefts[group], rights[group]),
                    begins[group] + rank)  # fmt: skip

    def _count(self, both: Digests, on_right: Mask, matched: Mask, partners: Positions) -> None:
        places = both["place"]
        common = np.flatnonzero(on_right & matched)
        differs = common[both["rest"][common] != both["rest"][partners[common]]]
        added, removed = places[on_right & ~matched], places[~on_right & ~matched]
        self.added += len(added)
        self.removed += len(removed)
        self.changed += len(differs)
        self.added_at = np.sort(np.concatenate([self.added_at, added]))[: self.most]
        self.removed_at = np.sort(np.concatenate([self.removed_at, removed]))[: self.most]
        pairs = np.stack([places[partners[differs]], places[differs]], axis=1)
        pairs = np.concatenate([self.changed_at, pairs])
        self.changed_at = pairs[np.argsort(pairs[:, 1])][: self.most]


def _order(both: Digests) -> Positions:
    """Sort by key, the left before the right, each in the order of places."""
    order = np.argsort(both["first"], kind="stable")
    first, second = both["first"][order], both["second"][order]
    if np.any((first[1:] == first[:-1]) & (second[1:] != second[:-1])):
        return np.lexsort((both["second"], both["first"]))
    return order


def _group_starts(both: Digests) -> Mask:
    starts = np.ones(len(both), np.bool_)
    starts[1:] = (both["first"][1:] != both["first"][:-1]) | (
        both["second"][1:] != both["second"][:-1]
    )
    return starts


READING_BYTES = MEMORY_BYTES // 2
"""What a view that is to be compared may take of the memory; only one is read at a time."""
_DIGEST_BYTES = MEMORY_BYTES // 8
"""What digests may take; sorting a bucket of them takes as much again."""


@dataclass(frozen=True)
class Differences:
    """How two states of a store differ, seen from the left to the right."""

    left_rows: int
    right_rows: int
    added: int
    changed: int
    removed: int
    added_first: pa.Table
    """The first added rows, in the order of reading."""
    changed_first: tuple[pa.Table, pa.Table]
    """The first changed rows as they are on the left, and on the right, in the same order."""
    removed_first: pa.Table
    """The first removed rows."""


def compare_states(
    left: StateView, right: StateView, *, most: int, digest_bytes: int = _DIGEST_BYTES
) -> Differences:
    """Compare two views whose rows have the same columns; `most` rows of each kind are given."""
    matches = Matches(most)
    with temporary_folder() as folder:
        buckets = DigestBuckets(folder, digest_bytes)
        left_rows, right_rows = _take(left, 0, buckets), _take(right, 1, buckets)
        for pair in buckets.pairs():
            matches.take(*pair)
    on_left = rows_at(left, np.concatenate([matches.removed_at, matches.changed_at[:, 0]]))
    on_right = rows_at(right, np.concatenate([matches.added_at, matches.changed_at[:, 1]]))
    gone, new = len(matches.removed_at), len(matches.added_at)
    return Differences(
        left_rows=left_rows,
        right_rows=right_rows,
        added=matches.added,
        changed=matches.changed,
        removed=matches.removed,
        added_first=on_right.slice(0, new),
        changed_first=(on_left.slice(gone), on_right.slice(new)),
        removed_first=on_left.slice(0, gone),
    )


def rows_at(view: StateView, places: Positions) -> pa.Table:
    """Return the rows at places in the order of reading; nothing behind the last one is read."""
    order = np.argsort(places, kind="stable")
    wanted = places[order]
    found: list[pa.RecordBatch] = []
    for start, batch in _counted(view) if len(places) else ():
        low, high = np.searchsorted(wanted, [start, start + len(batch)])
        if low < high:
            found.append(batch.take(pa.array(wanted[low:high] - start)))
        if high == len(wanted):
            break
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return pa.Table.from_batches(found, view.schema).take(pa.array(back))


def _take(view: StateView, side: int, buckets: DigestBuckets) -> int:
    count = 0
    for start, batch in _counted(view):
        buckets.add(side, digests_of(view.layout, batch, start))
        count = start + len(batch)
    return count


def _counted(view: StateView) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yield batches with the place of their first row."""
    place = 0
    for batch in view.batches():
        yield place, batch
        place += len(batch)
