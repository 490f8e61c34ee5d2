"""Batches that were planned and not committed, because the sink raised."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import DataFrame

from tests.corpus.bench import Bench
from tests.corpus.shapes.aggregations import totals
from tests.corpus.shapes.shape import CHANGELOG, EVERY, FORMAT_2, NEWEST, ROCKSDB, Shape

LAST = 2


def fail_in_last(batch: DataFrame, number: int) -> None:
    """Takes every batch but the last one."""
    batch.count()
    if number == LAST:
        raise RuntimeError("the sink refuses this batch")


def run_into(bench: Bench, change: Callable[[DataFrame], DataFrame], mode: str) -> None:
    """Runs a query whose third batch fails in the sink."""
    frame = change(bench.events(LAST + 1))
    bench.fail(frame.writeStream.foreachBatch(fail_in_last).outputMode(mode))


def pending(bench: Bench) -> None:
    """A stateless job."""
    run_into(bench, lambda frame: frame, "append")


def pending_first(bench: Bench) -> None:
    """A job whose very first batch failed: no commit at all."""

    def refuse(batch: DataFrame, number: int) -> None:
        raise RuntimeError("the sink refuses this batch")

    bench.fail(bench.events(1).writeStream.foreachBatch(refuse))


def pending_stateful(bench: Bench) -> None:
    """An aggregation: the state of the pending batch is written already."""
    run_into(bench, totals, "update")


SHAPES = (
    Shape("pending", "the last batch failed in the sink", pending, EVERY),
    Shape("pending-first", "the only batch failed in the sink", pending_first, EVERY),
    Shape("pending-stateful", "the last batch of totals failed", pending_stateful, EVERY),
    Shape(
        "pending-rocksdb-format-2",
        "the last batch of totals failed, state checkpoint format 2",
        pending_stateful,
        NEWEST,
        {**ROCKSDB, **CHANGELOG, **FORMAT_2},
    ),
)
