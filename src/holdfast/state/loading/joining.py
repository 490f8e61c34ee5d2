"""Small chunks put together: each step costs the same for a chunk, however small it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from holdfast.format.spans import Bytes, Changes, Spans

_SMALL_BYTES = 1 << 20


def joined_small(chunks: Iterable[Changes]) -> Iterator[Changes]:
    """Join neighbours while their buffers are small; a large chunk passes as it is."""
    held: list[Changes] = []
    used = 0
    for chunk in chunks:
        size = chunk.keys.data.nbytes
        if held and used + size > _SMALL_BYTES:
            yield _joined(held)
            held, used = [], 0
        held.append(chunk)
        used += size
    if held:
        yield _joined(held)


def _joined(chunks: Sequence[Changes]) -> Changes:
    if len(chunks) == 1:
        return chunks[0]
    kinds = np.concatenate([chunk.kinds for chunk in chunks])
    keys, values = [chunk.keys for chunk in chunks], [chunk.values for chunk in chunks]
    data = np.concatenate([one.data for one in keys])
    if all(chunk.keys.data is chunk.values.data for chunk in chunks):
        return Changes(kinds, _within(data, keys), _within(data, values))
    other = np.concatenate([one.data for one in values])
    return Changes(kinds, _within(data, keys), _within(other, values))


def _within(data: Bytes, parts: Sequence[Spans]) -> Spans:
    """See the strings of parts in their buffers, which now lie one behind another."""
    firsts = np.cumsum([0, *(part.data.nbytes for part in parts[:-1])])
    starts = [part.starts + first for part, first in zip(parts, firsts, strict=True)]
    return Spans(data, np.concatenate(starts), np.concatenate([part.lengths for part in parts]))
