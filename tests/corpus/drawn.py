"""Runs a test over the corpus: one release per shape, or every checkpoint with `--whole`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter

from tests.corpus.loading import Sample
from tests.drawing import Test, draw_one_per_group


def over_samples(name: str, samples: Sequence[Sample]) -> Callable[[Test], Test]:
    """Run a test over one sample of each shape, so that every test meets every release."""
    shape = attrgetter("name")
    return draw_one_per_group(name, samples, ids=str, group=shape, staggered=True)
