"""Strings are copied as they are, wherever they lie."""

from __future__ import annotations

import random

import numpy as np
import pytest

from holdfast.format.buffers import Spans, gathered, spans_of


@pytest.mark.parametrize("seed", range(10))
def test_strings_in_any_order_are_copied_in_that_order(seed: int) -> None:
    """With gaps, with empty ones that claim any place, and read back where they are then."""
    chance = random.Random(seed)
    strings = [chance.randbytes(chance.choice((0, 0, 1, 8, 30))) for _ in range(200)]
    spread = Spans.of([part for one in strings for part in (one, b"gap")])
    whole = spread.take(np.arange(0, 400, 2))
    starts = np.where(whole.lengths == 0, chance.randrange(10**9), whole.starts)
    order = np.array(chance.sample(range(200), 150))
    for indices in (order, np.sort(order)):
        found = gathered(Spans(whole.data, starts, whole.lengths).take(indices))
        assert found.to_pylist() == [strings[index] for index in indices]
        again = spans_of(found.slice(3, 50))
        assert [again.at(at) for at in range(50)] == found.to_pylist()[3:53]


def test_nothing_is_copied_of_nothing() -> None:
    """An empty chunk stays one."""
    assert gathered(Spans.of([])).to_pylist() == []
