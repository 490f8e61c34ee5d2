"""The entries that are alive in a partition at a version: files laid over one another.

A snapshot that few changes follow is not held in memory: the changes are, and of the snapshot's
entries, which stream by, those that were changed since are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain as chained

import numpy as np
import pyarrow as pa

from holdfast.format.arrowarrays import numbers_of
from holdfast.format.arrowkernels import among, distinct
from holdfast.format.spans import DELETE_RANGE, MERGE, Changes
from holdfast.state.loading.chains import Chain, Link
from holdfast.state.loading.gathering import gathered
from holdfast.state.loading.newest import newest
from holdfast.state.loading.overlay import Overlay, cost_of
from holdfast.state.loading.spilling import SpillFolder

_WORKING_BYTES = 225_000_000
"""Taken by Python with its libraries, and by the chunks that are being read, decoded and shown."""
_LEAST_BYTES = 16 << 20

ReadLink = Callable[[Link], Iterator[Changes]]


def living_entries(chain: Chain, read: ReadLink, memory_bytes: int) -> Iterator[Changes]:
    """Give what is alive at the end of a chain; pieces of one key's list follow one another."""
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
