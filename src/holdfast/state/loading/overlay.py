"""Changes laid over one another within a bound of memory; what does not fit goes to disk.

Chunks are kept as they come. When they reach the bound they are resolved: a store whose few keys
change in every batch shrinks to those keys. What is still large goes to files by the hash of the
key, and each file is later resolved by itself, in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from holdfast.format.spans import Changes
from holdfast.state.loading.gathering import gathered, spans_of
from holdfast.state.loading.newest import newest
from holdfast.state.loading.spilling import DEEPEST, Buckets

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
        """Give what is alive in the end. Nothing can be added after this."""
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
