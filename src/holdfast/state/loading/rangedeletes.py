"""Which keys a deletion of a whole range covers: RocksDB's order is that of the bytes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from holdfast.format.arrowarrays import numbers_of
from holdfast.format.spans import Positions


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
