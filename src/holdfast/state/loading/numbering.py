"""Numbers for keys: equal bytes get one number, and no two keys ever share one.

Keys are sorted by a hash, which takes a fraction of the memory of a hash table. That neighbours of
one hash have the same bytes is verified; should two keys ever collide, Arrow's table decides.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from holdfast.format.arrowarrays import arrow_numbers, numbers_of
from holdfast.format.arrowkernels import taken
from holdfast.format.spans import Positions, Spans
from holdfast.state.loading.gathering import gathered
from holdfast.state.query.keyhashing import hashed

Numbers = npt.NDArray[np.int32]
"""Of keys and of places: what fits into memory is far from 2**31 rows."""

_COMPARED_AT_ONCE = 1 << 17


def numbered(keys: Sequence[Spans]) -> Numbers:
    """Give each key its number, from 0 without gaps; the same keys get the same numbers again."""
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
