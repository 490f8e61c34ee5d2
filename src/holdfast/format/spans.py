"""Many byte strings in one buffer: how state rows travel, without a Python object for each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Positions = npt.NDArray[np.int64]

PUT, DELETE, MERGE, DELETE_RANGE = 0x01, 0x10, 0x11, 0x20
"""Kinds of a change, by the numbers that Spark's changelogs give them."""


@dataclass(frozen=True)
class Spans:
    """Byte strings: where each begins in `data`, and how long it is."""

    data: Bytes
    starts: Positions
    lengths: Positions

    def __len__(self) -> int:
        return len(self.starts)

    def at(self, index: int) -> bytes:
        """Return one string."""
        start = int(self.starts[index])
        return self.data[start : start + int(self.lengths[index])].tobytes()

    def take(self, indices: npt.NDArray[np.int64] | npt.NDArray[np.bool_]) -> Spans:
        """Return some of the strings, in this order; the buffer is shared."""
        return Spans(self.data, self.starts[indices], self.lengths[indices])

    @staticmethod
    def of(strings: Iterable[bytes]) -> Spans:
        """Put strings one after another."""
        parts = list(strings)
        lengths = np.fromiter(map(len, parts), np.int64, len(parts))
        starts = np.cumsum(lengths) - lengths
        return Spans(np.frombuffer(b"".join(parts), np.uint8), starts, lengths)


@dataclass(frozen=True)
class Changes:
    """What a file does to a store, in its order. A deletion has an empty value."""

    kinds: Bytes
    keys: Spans
    values: Spans

    def __len__(self) -> int:
        return len(self.kinds)

    def take(self, indices: npt.NDArray[np.int64] | npt.NDArray[np.bool_]) -> Changes:
        """Return some of the changes, in this order; the buffers are shared."""
        return Changes(self.kinds[indices], self.keys.take(indices), self.values.take(indices))
