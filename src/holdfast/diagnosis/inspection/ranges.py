"""Folds ids into inclusive ranges."""

from __future__ import annotations

from collections.abc import Iterable


def id_ranges(ids: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Fold ascending ids into inclusive ranges.

    >>> id_ranges([0, 1, 2, 5])
    ((0, 2), (5, 5))
    """
    ranges: list[tuple[int, int]] = []
    for one in ids:
        if ranges and one == ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], one)
        else:
            ranges.append((one, one))
    return tuple(ranges)
