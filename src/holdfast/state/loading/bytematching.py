"""Which of many byte strings are given bytes, all of them compared at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from holdfast.format.spans import Positions, Spans

_COMPARED = 8


def equal_to(strings: Spans, wanted: bytes) -> npt.NDArray[np.bool_]:
    """Tell which of the strings are these bytes; eight bytes of all candidates in each turn."""
    found = np.flatnonzero(strings.lengths == len(wanted))
    # Keys of one store begin alike and differ at their ends: these leave few candidates.
    for end in range(len(wanted), 0, -_COMPARED):
        if not len(found):
            break
        start = max(end - _COMPARED, 0)
        found = found[_at(strings, found, start, end) == np.void(wanted[start:end])]
    mask = np.zeros(len(strings), np.bool_)
    mask[found] = True
    return mask


def _at(strings: Spans, chosen: Positions, start: int, end: int) -> npt.NDArray[np.void]:
    """Give the bytes from start to end of each chosen string, which all reach that far."""
    width = end - start
    count = len(strings.data) - width + 1
    anywhere: npt.NDArray[np.void] = np.ndarray((count,), f"V{width}", strings.data, strides=(1,))
    return anywhere[strings.starts[chosen] + start]
