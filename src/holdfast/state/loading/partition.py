"""The entries that are alive in a partition at a version: the newest value of each key, exactly.

Keys become numbers; everything after that is arithmetic on positions. A change is alive if nothing
later replaces, deletes or covers its key; of a list every piece since then is.

Keys are sorted by a hash, which takes a fraction of the memory of a hash table. That neighbours of
one hash have the same bytes is verified; should two keys ever collide, Arrow's table decides.

A snapshot that few changes follow is not held in memory: the changes are, and of the snapshot's
entries, which stream by, those that were changed since are left out.

Chunks are kept as they come. When they reach the bound they are resolved: a store whose few keys
change in every batch shrinks to those keys. What is still large goes to files by the hash of the
key, and each file is later resolved by itself, in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain as chained
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from holdfast.format.buffers import (
    DELETE_RANGE,
    MERGE,
    PUT,
    Bytes,
    Changes,
    Positions,
    Spans,
    among,
    arrow_numbers,
    distinct,
    gathered,
    hashed,
    numbers_of,
    spans_of,
    taken,
)
from holdfast.state.loading.chains import Chain, Link
from holdfast.state.loading.spilling import DEEPEST, Buckets, SpillFolder

_SMALL_BYTES = 1 << 20


def joined_small(chunks: Iterable[Changes]) -> Iterator[Changes]:
    """Join neighbours while their buffers are small; a large chunk passes as it is."""
    held: list[Changes] = []
    used = 0
    for chunk in chunks:
        size = chunk.keys.data.nbytes
        if held and used + size > _SMALL_BYTES:
            yield _joined(held)
            held, used = [], 0
        held.append(chunk)
        used += size
    if held:
        yield _joined(held)


def _joined(chunks: Sequence[Changes]) -> Changes:
    if len(chunks) == 1:
        return chunks[0]
    kinds = np.concatenate([chunk.kinds for chunk in chunks])
    keys, values = [chunk.keys for chunk in chunks], [chunk.values for chunk in chunks]
    data = np.concatenate([one.data for one in keys])
    if all(chunk.keys.data is chunk.values.data for chunk in chunks):
        return Changes(kinds, _within(data, keys), _within(data, values))
    other = np.concatenate([one.data for one in values])
    return Changes(kinds, _within(data, keys), _within(other, values))


def _within(data: Bytes, parts: Sequence[Spans]) -> Spans:
    """See the strings of parts in their buffers, which now lie one behind another."""
    firsts = np.cumsum([0, *(part.data.nbytes for part in parts[:-1])])
    starts = [part.starts + first for part, first in zip(parts, firsts, strict=True)]
    return Spans(data, np.concatenate(starts), np.concatenate([part.lengths for part in parts]))


Numbers = npt.NDArray[np.int32]
"""Of keys and of places: what fits into memory is far from 2**31 rows."""

_COMPARED_AT_ONCE = 1 << 17


def numbered(keys: Sequence[Spans]) -> Numbers:
    """Return the number of each key, from 0 without gaps; equal keys get equal numbers."""
    hashes = np.concatenate([hashed(part) for part in keys])
    order = np.argsort(hashes)
    hashes = hashes[order]
    differs = np.zeros(len(hashes), np.bool_)
    np.not_equal(hashes[1:], hashes[:-1], out=differs[1:])
    if not _all_equal(keys, order, np.flatnonzero(~differs[1:])):
        return _numbered_by_table(keys)
    numbers = np.empty(len(hashes), np.int32)
    numbers[order] = np.cumsum(differs, dtype=np.int32)
    return numbers


def picked(parts: Sequence[Spans], places: Positions) -> pa.LargeBinaryArray:
    """Copy strings at places counted over all parts, in this order."""
    bounds = np.cumsum([0, *map(len, parts)])
    order = np.argsort(places, kind="stable")
    ascending = places[order]
    cuts = np.searchsorted(ascending, bounds)
    copies = [
        gathered(part.take(ascending[cuts[index] : cuts[index + 1]] - bounds[index]))
        for index, part in enumerate(parts)
    ]
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return taken(pa.concat_arrays(copies), arrow_numbers(back))


def _all_equal(keys: Sequence[Spans], order: Positions, twins: Positions) -> bool:
    """Compare the bytes of each key with those of the next one of its hash."""
    for start in range(0, len(twins), _COMPARED_AT_ONCE):
        some = twins[start : start + _COMPARED_AT_ONCE]
        first, second = picked(keys, order[some]), picked(keys, order[some + 1])
        if not first.equals(second):
            return False
    return True


def _numbered_by_table(keys: Sequence[Spans]) -> Numbers:
    encoded = pa.chunked_array([gathered(part) for part in keys]).dictionary_encode()
    indices = [numbers_of(chunk.indices) for chunk in encoded.chunks]
    return np.concatenate(indices)


def covered(
    keys: pa.LargeBinaryArray,
    begins: pa.LargeBinaryArray,
    ends: pa.LargeBinaryArray,
    places: Positions,
) -> Positions:
    """Give, for each of the distinct keys, the place of the newest range over it, or -1.

    A range holds its begin and not its end. `places` ascend.
    """
    # Few stores delete ranges, and these kernels take their time to import.
    import pyarrow.compute as pc

    together = pa.concat_arrays([keys, begins, ends])
    ranks = numbers_of(pc.rank(together, sort_keys="ascending", tiebreaker="dense"))
    order = np.argsort(ranks[: len(keys)], kind="stable")
    ranked = ranks[: len(keys)][order]
    firsts = np.searchsorted(ranked, ranks[len(keys) : len(keys) + len(begins)])
    lasts = np.searchsorted(ranked, ranks[len(keys) + len(begins) :])
    newest = np.full(len(keys), -1, np.int64)
    for first, last, place in zip(firsts, lasts, places, strict=True):
        newest[first:last] = place
    found = np.empty_like(newest)
    found[order] = newest
    return found


_ROWS_COPIED = 1 << 16
"""Lists are copied into chunks of so many pieces, to be decoded one after another."""


def newest(chunks: Sequence[Changes]) -> list[Changes]:
    """Leave only what is alive, in a fixed order; the pieces of one key's list stay together."""
    kept = list(joined_small(chunk for chunk in chunks if len(chunk)))
    if not kept:
        return []
    kinds = np.concatenate([chunk.kinds for chunk in kept])
    numbers = numbered([chunk.keys for chunk in kept])
    last = _resets(kept, kinds, numbers)[numbers]
    places = np.arange(len(kinds), dtype=np.int32)
    alive = ((kinds == PUT) & (places == last)) | ((kinds == MERGE) & (places > last))
    chosen = np.flatnonzero(alive)
    if not np.any(kinds == MERGE):
        return _selected(kept, chosen)
    chosen = chosen[np.argsort(numbers[chosen], kind="stable")]
    starts = range(0, len(chosen), _ROWS_COPIED)
    return [_reordered(kept, chosen[start : start + _ROWS_COPIED]) for start in starts]


def _resets(chunks: Sequence[Changes], kinds: Bytes, numbers: Numbers) -> Numbers:
    """Tell, for each key's number, where it was last put, deleted or covered by a range."""
    resets = np.full(int(numbers.max()) + 1, -1, np.int32)
    simple = np.flatnonzero((kinds != MERGE) & (kinds != DELETE_RANGE))
    # Of several places for one key numpy keeps the last, which is the newest.
    resets[numbers[simple]] = simple
    ranges = np.flatnonzero(kinds == DELETE_RANGE)
    if not len(ranges):
        return resets
    somewhere = np.empty(len(resets), np.int64)
    somewhere[numbers] = np.arange(len(numbers))
    keys, ends = [chunk.keys for chunk in chunks], [chunk.values for chunk in chunks]
    covers = covered(picked(keys, somewhere), picked(keys, ranges), picked(ends, ranges), ranges)
    return np.maximum(resets, covers).astype(np.int32)


def _selected(chunks: Sequence[Changes], chosen: Positions) -> list[Changes]:
    """Take the chosen changes out of each chunk, without a copy."""
    bounds = np.cumsum([0, *map(len, chunks)])
    cuts = np.searchsorted(chosen, bounds)
    return [
        chunk.take(chosen[cuts[index] : cuts[index + 1]] - bounds[index])
        for index, chunk in enumerate(chunks)
        if cuts[index] < cuts[index + 1]
    ]


def _reordered(chunks: Sequence[Changes], chosen: Positions) -> Changes:
    """Copy the chosen changes, which may stand in any order, into one chunk."""
    kinds = np.concatenate([chunk.kinds for chunk in chunks])[chosen]
    keys = picked([chunk.keys for chunk in chunks], chosen)
    values = picked([chunk.values for chunk in chunks], chosen)
    return Changes(kinds, spans_of(keys), spans_of(values))


_ROW_BYTES = 130
"""What a row costs beside its bytes while it is resolved: positions, hashes, numbers."""


class Overlay:
    """A store that changes are put into, the oldest first."""

    def __init__(self, memory_bytes: int, folder: Callable[[], Path], depth: int = 0) -> None:
        self._memory_bytes = memory_bytes
        self._folder = folder
        self._depth = depth
        self._chunks: list[Changes] = []
        self._held_bytes = 0
        self._buckets: Buckets | None = None

    def add(self, changes: Changes) -> None:
        """Take changes that are newer than all before."""
        if not len(changes):
            return
        self._hold(_without_waste(changes))
        if self._held_bytes <= self._memory_bytes:
            return
        if self._buckets is None:
            self._resolve()
            if self._held_bytes <= self._memory_bytes // 2 or self._depth > DEEPEST:
                return
            self._buckets = Buckets(self._folder(), self._depth)
        self._spill(self._buckets)

    def entries(self) -> Iterator[Changes]:
        """Yield what is alive in the end. Nothing can be added after this."""
        if self._buckets is None:
            self._resolve()
            while self._chunks:
                yield self._chunks.pop(0)
            return
        self._spill(self._buckets)
        for bucket in self._buckets.read():
            inner = Overlay(self._memory_bytes, self._folder, self._depth + 1)
            for changes in bucket:
                inner.add(changes)
            yield from inner.entries()

    def _hold(self, changes: Changes) -> None:
        self._chunks.append(changes)
        self._held_bytes += cost_of(changes)

    def _resolve(self) -> None:
        chunks = newest(self._chunks)
        self._chunks, self._held_bytes = [], 0
        for chunk in chunks:
            self._hold(_without_waste(chunk))

    def _spill(self, buckets: Buckets) -> None:
        for chunk in self._chunks:
            buckets.write(chunk)
        self._chunks, self._held_bytes = [], 0


def cost_of(changes: Changes) -> int:
    """Estimate what holding and resolving a chunk takes."""
    buffers = {id(one.data): one.data.nbytes for one in (changes.keys, changes.values)}
    return sum(buffers.values()) + _ROW_BYTES * len(changes)


def _without_waste(changes: Changes) -> Changes:
    """Copy strings out of buffers that mostly hold others."""
    used = int(changes.keys.lengths.sum() + changes.values.lengths.sum())
    if changes.keys.data.nbytes <= 2 * used:
        return changes
    return Changes(
        changes.kinds, spans_of(gathered(changes.keys)), spans_of(gathered(changes.values))
    )


_WORKING_BYTES = 225_000_000
"""Taken by Python with its libraries, and by the chunks that are being read, decoded and shown."""
_LEAST_BYTES = 16 << 20

ReadLink = Callable[[Link], Iterator[Changes]]


def living_entries(chain: Chain, read: ReadLink, memory_bytes: int) -> Iterator[Changes]:
    """Yield what is alive at the end of a chain; pieces of one key's list follow one another."""
    base = [link for link in chain.links if link.whole]
    later = chained.from_iterable(read(link) for link in chain.links if not link.whole)
    if base and len(chain.links) == 1:
        yield from read(base[0])
        return
    largest = max((link.size for link in chain.links), default=0)
    budget = max(memory_bytes - largest - _WORKING_BYTES, _LEAST_BYTES)
    held: list[Changes] = []
    if base and _take_few(later, held, budget // 2):
        yield from _streamed(read(base[0]), held)
        return
    with SpillFolder() as folder:
        overlay = Overlay(budget, folder)
        for changes in chained(read(base[0]) if base else (), held, later):
            overlay.add(changes)
        held.clear()
        yield from overlay.entries()


def _take_few(changes: Iterator[Changes], held: list[Changes], most_bytes: int) -> bool:
    """Hold all changes, if they are few and each replaces or deletes one key."""
    used = 0
    for chunk in changes:
        held.append(chunk)
        used += cost_of(chunk)
        if used > most_bytes or np.any((chunk.kinds == MERGE) | (chunk.kinds == DELETE_RANGE)):
            return False
    return True


def _streamed(base: Iterable[Changes], later: list[Changes]) -> Iterator[Changes]:
    """Let entries pass that did not change, then give what the changes left."""
    empty = pa.nulls(0, pa.large_binary())
    changed = distinct(pa.chunked_array([empty, *(gathered(chunk.keys) for chunk in later)]))
    for chunk in base:
        kept = ~numbers_of(among(gathered(chunk.keys), changed))
        yield chunk if kept.all() else chunk.take(kept)
    yield from newest(later)
