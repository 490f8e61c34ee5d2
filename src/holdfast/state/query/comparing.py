"""What differs between two states of a store: rows added, changed and removed, in bounded memory.

Both sides are read once for digests, and as far as needed again for the rows that are shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from holdfast.format.spans import Positions
from holdfast.state.bounds import MEMORY_BYTES
from holdfast.state.loading.spilling import temporary_folder
from holdfast.state.query.matching import Matches
from holdfast.state.query.rowdigests import DigestBuckets, digests_of
from holdfast.state.reading import StateView

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
        left_rows,
        right_rows,
        matches.added,
        matches.changed,
        matches.removed,
        on_right.slice(0, new),
        (on_left.slice(gone), on_right.slice(new)),
        on_left.slice(0, gone),
    )


def rows_at(view: StateView, places: Positions) -> pa.Table:
    """Give the rows at places in the order of reading; nothing behind the last one is read."""
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
    """Give batches with the place of their first row."""
    place = 0
    for batch in view.batches():
        yield place, batch
        place += len(batch)
