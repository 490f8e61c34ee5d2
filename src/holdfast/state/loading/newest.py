"""What is left of a store after a row of changes: the newest value of each key, exactly.

Keys become numbers; everything after that is arithmetic on positions. A change is alive if nothing
later replaces, deletes or covers its key; of a list every piece since then is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from holdfast.format.spans import DELETE_RANGE, MERGE, PUT, Bytes, Changes, Positions
from holdfast.state.loading.gathering import spans_of
from holdfast.state.loading.joining import joined_small
from holdfast.state.loading.numbering import Numbers, numbered, picked
from holdfast.state.loading.rangedeletes import covered

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
