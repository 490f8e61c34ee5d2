"""Session windows and chains of stateful operators."""

from __future__ import annotations

from pyspark.sql import functions as f

from tests.corpus.bench import Bench
from tests.corpus.inputs import row, write_file
from tests.corpus.shapes.aggregations import windowed
from tests.corpus.shapes.shape import CHANGELOG, EVERY, OLDEST_AND_NEWEST, ROCKSDB, SINCE_4_0, Shape


def session_window(bench: Bench) -> None:
    """Sessions that grow, merge and end."""
    for number in range(4):
        rows = [row("alder", number, number * 60), row("birch", number, number * 300)]
        write_file(bench.source, number, rows)
    frame = bench.events().withWatermark("at", "1 minute")
    grouped = frame.groupBy(f.session_window("at", "90 seconds"), "key").agg(
        f.count("*").alias("count"), f.sum("value").alias("sum")
    )
    bench.finish(grouped.writeStream.format("noop").outputMode("append"))


def two_aggregations(bench: Bench) -> None:
    """An aggregation of an aggregation: operators 0 and 1 in one plan."""
    wide = windowed(bench.events(5)).groupBy(f.window("window", "4 minutes"))
    frame = wide.agg(f.sum("count").alias("count"), f.max("max").alias("max"))
    bench.finish(frame.writeStream.format("noop").outputMode("append"))


def deduplicate_then_count(bench: Bench) -> None:
    """Two different operators in one plan."""
    frame = bench.events(3).withWatermark("at", "1 minute").dropDuplicates(["key", "at"])
    counted = frame.groupBy(f.window("at", "2 minutes")).agg(f.count("*").alias("count"))
    bench.finish(counted.writeStream.format("noop").outputMode("append"))


def idle_batch(bench: Bench) -> None:
    """The watermark jumps: a batch without data empties the state."""
    for number, seconds in enumerate((0, 30, 7200)):
        write_file(bench.source, number, [row("alder", number, seconds)])
    frame = windowed(bench.events())
    bench.finish(frame.writeStream.format("noop").outputMode("append"))


SHAPES = (
    Shape("session-window", "session window, HDFS-backed", session_window, EVERY),
    Shape("session-window-rocksdb", "session window", session_window, OLDEST_AND_NEWEST, ROCKSDB),
    Shape(
        "session-window-rocksdb-changelog",
        "session window, changelogs",
        session_window,
        SINCE_4_0,
        {**ROCKSDB, **CHANGELOG},
    ),
    Shape("two-operators", "an aggregation of an aggregation", two_aggregations, EVERY),
    Shape("two-kinds-of-operators", "dropDuplicates, then a count", deduplicate_then_count, EVERY),
    Shape("no-data-batch", "a batch without data removes state", idle_batch, EVERY),
)
