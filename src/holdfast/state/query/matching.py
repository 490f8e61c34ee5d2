"""Which rows two sides share, which one side has alone, and which differ: by their digests."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from holdfast.format.spans import Positions
from holdfast.state.query.rowdigests import Digests

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
