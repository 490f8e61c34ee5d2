"""The entries that are alive in a partition at a version: files laid over one another.

A snapshot that few changes follow is not held in memory: the changes are, and of the snapshot's
entries, which stream by, those that were changed since are left out.

Chunks are kept as they come. When they reach the bound they are resolved: a store whose few keys
change in every batch shrinks to those keys. What is still large goes to files by the hash of the
key, and each file is later resolved by itself, in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain as chained
from pathlib import Path

import numpy as np
import pyarrow as pa

from holdfast.format.arrow import among, distinct, numbers_of
from holdfast.format.spans import DELETE_RANGE, MERGE, Changes
from holdfast.state.bytestrings import gathered, spans_of
from holdfast.state.loading.chains import Chain, Link
from holdfast.state.loading.newest import newest
from holdfast.state.loading.spilling import DEEPEST, Buckets, SpillFolder

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
