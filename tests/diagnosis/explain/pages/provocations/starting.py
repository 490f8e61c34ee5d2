"""Queries that Spark refuses to start."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.diagnosis.explain.pages.provocations.provocation import provokes
from tests.diagnosis.explain.pages.provocations.queries import copied, having, lines, run, texts


@provokes("checkpoint-location-not-given")
def no_checkpoint(spark: Any, folder: Path) -> None:
    stream = texts(spark, lines(folder))
    stream.writeStream.format("parquet").option("path", str(folder / "out")).start()


@provokes("output-mode-unknown")
def mode_unknown(spark: Any, folder: Path) -> None:
    run(texts(spark, lines(folder)), folder, mode="upsert")


@provokes("append-without-watermark")
def append_without_watermark(spark: Any, folder: Path) -> None:
    run(texts(spark, lines(folder)).groupBy("value").count(), folder)


@provokes("complete-without-aggregation")
def complete_without_aggregation(spark: Any, folder: Path) -> None:
    run(texts(spark, lines(folder)), folder, mode="complete")


@provokes("outer-join-without-watermark")
def outer_join(spark: Any, folder: Path) -> None:
    left, right = texts(spark, lines(folder)), texts(spark, lines(folder, "other"))
    run(left.join(right, "value", "left"), folder)


FORMAT_ONE = {"spark.sql.streaming.join.stateFormatVersion": "1"}


@provokes("join-state-format-one")
def outer_join_in_format_one(spark: Any, folder: Path) -> None:
    left, right = texts(spark, lines(folder)), texts(spark, lines(folder, "other"))
    left = left.selectExpr("value", "timestamp_seconds(1) as at").withWatermark("at", "1 minute")
    right = right.selectExpr("value", "timestamp_seconds(1) as at").withWatermark("at", "1 minute")
    with having(spark, FORMAT_ONE):
        run(left.join(right, ["value", "at"], "left"), folder)


@provokes("join-schema-writer", since="4.1")
def inner_join_in_format_one(spark: Any, folder: Path) -> None:
    left, right = texts(spark, lines(folder)), texts(spark, lines(folder, "other"))
    with having(spark, FORMAT_ONE):
        run(left.join(right, "value"), folder)


@provokes("join-without-equality")
def join_by_range(spark: Any, folder: Path) -> None:
    left, right = texts(spark, lines(folder)), texts(spark, lines(folder, "other"))
    run(left.join(right, left["value"] < right["value"]), folder)


@provokes("sort-in-stream")
def sort(spark: Any, folder: Path) -> None:
    run(texts(spark, lines(folder)).orderBy("value"), folder)


@provokes("distinct-aggregation")
def distinct(spark: Any, folder: Path) -> None:
    from pyspark.sql.functions import count_distinct

    run(
        texts(spark, lines(folder)).groupBy("value").agg(count_distinct("value")),
        folder,
        mode="update",
    )


@provokes("window-function-in-stream")
def window_function(spark: Any, folder: Path) -> None:
    run(texts(spark, lines(folder)).selectExpr("row_number() over (order by value) as n"), folder)


@provokes("event-time-type")
def event_time_type(spark: Any, folder: Path) -> None:
    run(texts(spark, lines(folder)).withWatermark("value", "1 minute"), folder)


@provokes("watermark-missing")
def watermark_twice(spark: Any, folder: Path) -> None:
    timed = texts(spark, lines(folder)).selectExpr("current_timestamp() as at", "value")
    twice = timed.withWatermark("at", "1 minute").withWatermark("at", "2 minutes")
    run(twice.groupBy("at").count(), folder)


@provokes("operation-not-streamed")
def pivot(spark: Any, folder: Path) -> None:
    run(texts(spark, lines(folder)).groupBy("value").pivot("value").count(), folder)


@provokes("read-a-stream-like-a-table")
def collected(spark: Any, folder: Path) -> None:
    texts(spark, lines(folder)).collect()


@provokes("write-a-table-like-a-stream")
def write_stream_of_batch(spark: Any, folder: Path) -> None:
    run(spark.range(3), folder)


@provokes("trigger-not-supported")
def continuous_trigger(spark: Any, folder: Path) -> None:
    writer = texts(spark, lines(folder)).writeStream.format("parquet")
    writer = writer.option("checkpointLocation", str(folder / "c")).trigger(continuous="1 second")
    writer.start(str(folder / "out")).awaitTermination()


@provokes("same-query-twice")
def same_query_twice(spark: Any, folder: Path) -> None:
    spark.conf.set("spark.sql.streaming.stopActiveRunOnRestart", "false")
    stream = texts(spark, lines(folder))
    for _ in range(2):
        writer = stream.writeStream.format("noop").option("checkpointLocation", str(folder / "c"))
        writer.start()


@provokes("same-name-twice")
def same_name_twice(spark: Any, folder: Path) -> None:
    stream = texts(spark, lines(folder))
    for at in range(2):
        writer = stream.writeStream.format("noop").queryName("orders")
        writer.option("checkpointLocation", str(folder / f"c{at}")).start()


@provokes("file-manager-class")
def file_manager(spark: Any, folder: Path) -> None:
    spark.conf.set("spark.sql.streaming.checkpointFileManagerClass", "org.example.Missing")
    copied(spark, folder)
