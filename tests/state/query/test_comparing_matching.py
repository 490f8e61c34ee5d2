"""Rows of two sides matched by their digests, against a count by hand."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from holdfast.state.query.comparing import RECORD, Digests, Matches

KEY = st.tuples(st.integers(0, 3), st.integers(0, 2))
ROWS = st.lists(st.tuples(KEY, st.integers(0, 2)), max_size=12)
Row = tuple[tuple[int, int], int]


def digests(rows: list[Row]) -> Digests:
    """Give rows the digests that are asked for, many of them with one first half."""
    found = np.zeros(len(rows), RECORD)
    for place, ((first, second), rest) in enumerate(rows):
        found[place] = (first, second, rest, place)
    return found


def by_key(rows: list[Row]) -> dict[tuple[int, int], list[tuple[int, int]]]:
    """Give the values of each key with their places, in order."""
    found = defaultdict(list)
    for place, (key, rest) in enumerate(rows):
        found[key].append((rest, place))
    return found


@given(left=ROWS, right=ROWS, most=st.integers(0, 4))
def test_the_nth_row_of_a_key_is_compared_with_its_nth(
    left: list[Row], right: list[Row], most: int
) -> None:
    """Counts are exact, and the first places of each kind are given."""
    matches = Matches(most)
    matches.take(digests(left), digests(right))
    before, after = by_key(left), by_key(right)
    added, removed, changed = [], [], []
    for key in before.keys() | after.keys():
        ours, theirs = before.get(key, []), after.get(key, [])
        pairs = zip(ours, theirs, strict=False)
        changed += [(one[1], other[1]) for one, other in pairs if one[0] != other[0]]
        removed += [place for _, place in ours[len(theirs) :]]
        added += [place for _, place in theirs[len(ours) :]]
    assert (matches.added, matches.changed, matches.removed) == (
        len(added),
        len(changed),
        len(removed),
    )
    assert matches.added_at.tolist() == sorted(added)[:most]
    assert matches.removed_at.tolist() == sorted(removed)[:most]
    changed.sort(key=lambda pair: pair[1])
    assert matches.changed_at.tolist() == [list(pair) for pair in changed[:most]]


def test_buckets_add_up() -> None:
    """What is kept are the first places of all."""
    matches = Matches(2)
    matches.take(digests([]), digests([((1, 1), 0), ((1, 2), 0)])[1:])
    matches.take(digests([]), digests([((2, 1), 0)]))
    assert matches.added == 2
    assert matches.added_at.tolist() == [0, 1]
