"""A batch is computed once, and its columns are those of the batches before it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.spark.sinks.deliveries import QUERY, identity
from tests.spark.sinks.promises.delivering import (
    SCHEMA,
    Tried,
    every_subject,
    outcome,
    refused,
    subjects_with,
)

pytestmark = pytest.mark.spark


@every_subject
def test_a_batch_is_computed_once(tried: Tried) -> None:
    """Written or skipped, every row of the source is evaluated exactly once."""
    evaluated = tried.spark.sparkContext.accumulator(0)

    def counted(parts: Iterator[Any]) -> Iterator[Any]:
        for part in parts:
            evaluated.add(part.num_rows)
            yield part

    sink = tried.filled(1)
    batch = tried.batch(1).mapInArrow(counted, SCHEMA)
    assert not sink.write(batch, identity(1)).skipped
    assert evaluated.value == 2
    assert sink.write(batch, identity(1)).skipped
    assert evaluated.value == 4
    assert not batch.is_cached
    assert tried.rows() == tried.state(0, 1)


CHANGED = {
    "one column more": (f"{SCHEMA}, more int", (9, "z", 1)),
    "one column less": ("k string, other long", ("z", 9)),
    "another type": ("n string, k string", ("nine", "z")),
}


@subjects_with(lambda one: one.family not in ("custom", "memory") and not one.is_sibling)
def test_a_batch_whose_schema_changed_writes_nothing(tried: Tried) -> None:
    """Told before a query starts, and again where such a batch comes all the same."""
    sink = tried.filled(1)
    seen = tried.seen()
    for change, (schema, row) in CHANGED.items():
        batch = tried.spark.createDataFrame([row], schema)
        refusal = refused(lambda: tried.opened().prepare(batch.schema, begun=True))  # noqa: B023
        told = outcome(lambda: sink.write(batch, identity(1)))  # noqa: B023
        assert (refusal, told) == ("HF5005", "HF5005"), change
    assert (tried.seen(), sink.last_committed(QUERY).value) == (seen, 0)
    assert not sink.write(tried.batch(1), identity(1)).skipped
