"""Offline repartitioning, done and refused."""

from __future__ import annotations

from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from tests.corpus.bench import Bench
from tests.corpus.shapes.aggregations import totals
from tests.corpus.shapes.shape import CHANGELOG, ROCKSDB, SINCE_4_2, Shape


def repartitioned(bench: Bench) -> None:
    """Two batches on two partitions, then three partitions and one more batch."""
    run(bench, 0, 2)
    repartition(bench, 3)
    run(bench, 2, 1)


def refused(bench: Bench) -> None:
    """Spark refuses an HDFS-backed state only after it has written a batch without a commit."""
    run(bench, 0, 2)
    try:
        repartition(bench, 3)
    except (PySparkException, Py4JError) as refusal:
        text = str(refusal).splitlines()[0]
        bench.runs.append({**bench.runs[-1], "run_id": None, "failure": text, "progress": []})
        return
    raise AssertionError("the repartitioning was meant to be refused")


def run(bench: Bench, start: int, count: int) -> None:
    """Runs the totals over some more batches."""
    frame = totals(bench.events(count, start=start))
    bench.finish(frame.writeStream.format("noop").outputMode("update"))


def repartition(bench: Bench, partitions: int) -> None:
    """Calls Spark's private manager."""
    spark: Any = bench.spark
    spark._streamingCheckpointManager.repartition(str(bench.checkpoint), partitions)


SHAPES = (
    Shape(
        "repartitioned",
        "2 to 3 partitions offline, then one more batch",
        repartitioned,
        SINCE_4_2,
        {**ROCKSDB, **CHANGELOG},
    ),
    Shape("repartition-refused", "2 to 3 partitions, HDFS-backed", refused, SINCE_4_2),
)
