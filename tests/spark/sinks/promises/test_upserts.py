"""An upsert keeps one row a key: doubled and missing keys are found before anything is written."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.spark.sinks.deliveries import identity
from tests.spark.sinks.promises.delivering import SCHEMA, Tried, refused, subjects_with

pytestmark = pytest.mark.spark

upserting = subjects_with(lambda one: one.mode == "upsert")


@upserting
def test_the_row_that_order_by_names_wins(tried: Tried) -> None:
    """Inside a batch, whether the output knows the key or not; a later batch wins over all."""
    sink = tried.opened()
    frame = tried.spark.createDataFrame
    sink.write(frame([(1, "a"), (7, "a"), (None, "a"), (2, "b")], SCHEMA), identity(0))
    assert tried.rows() == Counter({(7, "a"): 1, (2, "b"): 1})
    sink.write(frame([(3, "a"), (5, "a"), (6, "c")], SCHEMA), identity(1))
    assert tried.rows() == Counter({(5, "a"): 1, (2, "b"): 1, (6, "c"): 1})


@upserting
def test_trouble_with_keys_writes_nothing(tried: Tried) -> None:
    """Two rows that nothing tells apart, a null key; not even an empty output is made."""
    frame = tried.spark.createDataFrame
    tied = frame([(1, "a"), (1, "a")], SCHEMA)
    without = frame([(1, None), (2, "b")], SCHEMA)
    for written in (False, True):
        sink = tried.filled(1) if written else tried.opened()
        seen = tried.seen()
        assert refused(lambda: sink.write(tied, identity(1))) == "HF5007"  # noqa: B023
        assert refused(lambda: sink.write(without, identity(1))) == "HF5008"  # noqa: B023
        assert tried.seen() == seen
    assert not tied.is_cached
    assert not tried.place.output.exists() or tried.subject.family == "delta"
