"""Windowed aggregations under every state store provider and every codec."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from tests.corpus.bench import Bench
from tests.corpus.shapes.shape import (
    CHANGELOG,
    EVERY,
    FORMAT_2,
    OLDEST_AND_NEWEST,
    ROCKSDB,
    SINCE_4_0,
    SINCE_4_2,
    STATE,
    Shape,
)
from tests.corpus.shapes.stateless import PURGE


def windowed(frame: DataFrame) -> DataFrame:
    """Counts and sums per key and window of two minutes, one minute of lateness allowed."""
    grouped = frame.withWatermark("at", "1 minute").groupBy(f.window("at", "2 minutes"), "key")
    return grouped.agg(
        f.count("*").alias("count"),
        f.sum("value").alias("sum"),
        f.max("value").alias("max"),
        f.avg("value").alias("mean"),
    )


def totals(frame: DataFrame) -> DataFrame:
    """Counts and sums per key, for ever."""
    return frame.groupBy("key").agg(f.count("*").alias("count"), f.sum("value").alias("sum"))


def append(bench: Bench) -> None:
    """Five batches and the no-data batch that the watermark asks for; old windows are removed."""
    bench.finish(windowed(bench.events(5)).writeStream.format("noop").outputMode("append"))


def append_to_files(bench: Bench) -> None:
    """As `append`, into the file sink."""
    writer = windowed(bench.events(5)).writeStream.format("json").outputMode("append")
    bench.finish(writer.option("path", str(bench.output)))


def update(bench: Bench) -> None:
    """Three batches that change the same four keys, without a watermark."""
    bench.finish(totals(bench.events(3)).writeStream.format("noop").outputMode("update"))


def many_updates(bench: Bench) -> None:
    """Nine batches in three runs, so that the maintenance thread writes snapshots between."""
    for start in (0, 3, 6):
        slow = totals(bench.events(3, start=start)).writeStream.format("noop")
        query = bench.start(slow.outputMode("update").trigger(processingTime="900 milliseconds"))
        query.processAllAvailable()
        query.stop()
        bench.record(query)


def complete_mode(bench: Bench) -> None:
    """A complete-mode aggregation with buffers of many types."""
    grouped = (
        bench.events(3)
        .groupBy("key")
        .agg(
            f.min("at").alias("first"),
            f.collect_list("value").alias("values"),
            f.approx_count_distinct("value").alias("distinct"),
            f.stddev("value").alias("deviation"),
            f.sum(f.col("value").cast("decimal(30,2)")).alias("exact"),
        )
    )
    bench.finish(grouped.writeStream.format("noop").outputMode("complete"))


def legacy(bench: Bench) -> None:
    """State format 1, where the value row repeats the key."""
    update(bench)


def codec(name: str) -> dict[str, str]:
    """Returns the setting for the codec of state files."""
    return {f"{STATE}.compression.codec": name}


SNAPSHOTS = {f"{STATE}.minDeltasForSnapshot": "3"}
ROW_CHECKSUM = {f"{STATE}.rowChecksum.enabled": "true"}

SHAPES = (
    Shape("aggregation-hdfs-lz4", "windows with watermark", append_to_files, EVERY, codec("lz4")),
    Shape("aggregation-hdfs-zstd", "windows with watermark", append, EVERY, codec("zstd")),
    Shape("aggregation-hdfs-snappy", "windows with watermark", append, EVERY, codec("snappy")),
    Shape("aggregation-hdfs-lzf", "windows with watermark", append, EVERY, codec("lzf")),
    Shape(
        "aggregation-hdfs-snapshots",
        "9 batches of totals, snapshots every 3 deltas",
        many_updates,
        EVERY,
        SNAPSHOTS,
    ),
    Shape(
        "aggregation-hdfs-purged",
        "9 batches of totals, 2 retained, snapshots",
        many_updates,
        OLDEST_AND_NEWEST,
        {**SNAPSHOTS, **PURGE},
    ),
    Shape("aggregation-complete", "buffers of many types", complete_mode, OLDEST_AND_NEWEST),
    Shape(
        "aggregation-format-1",
        "aggregation state format 1",
        legacy,
        OLDEST_AND_NEWEST,
        {"spark.sql.streaming.aggregation.stateFormatVersion": "1"},
    ),
    Shape("aggregation-rocksdb", "windows with watermark", append, EVERY, ROCKSDB),
    Shape(
        "aggregation-rocksdb-changelog",
        "windows with watermark, changelogs only",
        append,
        EVERY,
        {**ROCKSDB, **CHANGELOG},
    ),
    Shape(
        "aggregation-rocksdb-changelog-snapshots",
        "9 batches of totals, changelogs and some zips",
        many_updates,
        EVERY,
        {**ROCKSDB, **CHANGELOG, **SNAPSHOTS},
    ),
    Shape(
        "aggregation-rocksdb-format-2",
        "totals, state checkpoint format 2",
        update,
        SINCE_4_0,
        {**ROCKSDB, **FORMAT_2},
    ),
    Shape(
        "aggregation-rocksdb-format-2-changelog",
        "windows with watermark, state checkpoint format 2",
        append,
        SINCE_4_0,
        {**ROCKSDB, **CHANGELOG, **FORMAT_2},
    ),
    Shape(
        "aggregation-rocksdb-format-2-snapshots",
        "9 batches of totals, state checkpoint format 2, changelogs and some zips",
        many_updates,
        OLDEST_AND_NEWEST[1:],
        {**ROCKSDB, **CHANGELOG, **FORMAT_2, **SNAPSHOTS},
    ),
    Shape("row-checksum-hdfs", "row checksums", append, SINCE_4_2, ROW_CHECKSUM),
    Shape(
        "row-checksum-rocksdb",
        "row checksums, changelogs",
        append,
        SINCE_4_2,
        {**ROCKSDB, **CHANGELOG, **ROW_CHECKSUM},
    ),
)
