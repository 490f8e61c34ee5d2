"""What differs between two states of a store: rows added, changed and removed, in bounded memory.

Both sides are read once for digests, and as far as needed again for the rows that are shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from holdfast.format.spans import Positions
from holdfast.state.loading.spilling import temporary_folder
from holdfast.state.options import MEMORY_BYTES
from holdfast.state.query.digests import DigestBuckets, Digests, digests_of
from holdfast.state.reading import StateView

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
