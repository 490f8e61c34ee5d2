"""Stream-stream joins in every state format that Spark has had."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from tests.corpus.bench import Bench
from tests.corpus.shapes.shape import (
    CHANGELOG,
    EVERY,
    FORMAT_2,
    ROCKSDB,
    SINCE_4_0,
    SINCE_4_1,
    Shape,
)


def sides(bench: Bench, count: int = 3) -> tuple[DataFrame, DataFrame]:
    """Returns the two inputs, each with its watermark; the right one lags behind."""
    left = bench.events(count, "in").withWatermark("at", "1 minute")
    right = bench.events(count - 1, "in-2").withWatermark("at", "2 minutes")
    return left, right.toDF("other_key", "other_value", "other_at")


def within_a_minute() -> Column:
    """Returns the join condition: the same key, at most a minute apart."""
    apart = f.expr("other_at between at - interval 1 minute and at + interval 1 minute")
    return (f.col("key") == f.col("other_key")) & apart


def inner(bench: Bench) -> None:
    """An inner join with bounded state."""
    left, right = sides(bench)
    joined = left.join(right, within_a_minute(), "inner")
    bench.finish(joined.writeStream.format("noop").outputMode("append"))


def outer(bench: Bench) -> None:
    """A left outer join: unmatched rows leave with the watermark."""
    left, right = sides(bench)
    joined = left.join(right, within_a_minute(), "left_outer")
    bench.finish(joined.writeStream.format("noop").outputMode("append"))


def state_format(number: int) -> dict[str, str]:
    """Returns the setting for the join's state format."""
    return {"spark.sql.streaming.join.stateFormatVersion": str(number)}


SHAPES = (
    Shape("join", "inner join, state format 2, HDFS-backed", inner, EVERY),
    Shape("join-outer", "left outer join, state format 2, HDFS-backed", outer, EVERY),
    # A new one fails on 4.1 and later; 4.2 says "Unsupported schema writer version: 1".
    Shape(
        "join-format-1",
        "inner join, state format 1",
        inner,
        ("3.5.9", "4.0.5"),
        state_format(1),
    ),
    Shape("join-rocksdb", "inner join, format 2, RocksDB", inner, ("4.3.0",), ROCKSDB),
    Shape(
        "join-rocksdb-changelog",
        "inner join, format 2, RocksDB with changelogs",
        inner,
        EVERY,
        {**ROCKSDB, **CHANGELOG},
    ),
    Shape(
        "join-rocksdb-format-2",
        "inner join, format 2, state checkpoint format 2 with changelogs",
        inner,
        SINCE_4_0,
        {**ROCKSDB, **CHANGELOG, **FORMAT_2},
    ),
    Shape(
        "join-format-3",
        "left outer join, state format 3 (column families)",
        outer,
        SINCE_4_1,
        {**ROCKSDB, **CHANGELOG, **state_format(3)},
    ),
    Shape(
        "join-format-4",
        "left outer join, state format 4 (event time in the key)",
        outer,
        ("4.3.0",),
        {**ROCKSDB, **CHANGELOG, **state_format(4)},
    ),
)
