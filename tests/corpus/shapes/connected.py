"""Sources and sinks that need more than Spark itself: Kafka and Delta, on one version."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as f
from pyspark.sql.streaming.readwriter import DataStreamWriter

from tests.corpus.bench import Bench
from tests.corpus.inputs import batch
from tests.corpus.shapes.aggregations import totals
from tests.corpus.shapes.shape import CHANGELOG, FORMAT_2, ROCKSDB, Shape
from tests.parts.kafka import running_broker
from tests.parts.libraries import CONNECTED_VERSION

HERE = (CONNECTED_VERSION,)


def kafka(bench: Bench) -> None:
    """Two topics of two partitions, four rows a batch."""
    with running_broker(bench.folder / "broker") as address:
        produce(bench, address, "orders", range(2))
        produce(bench, address, "refunds", range(1))
        frame = subscribe(bench, address, "orders,refunds")
        bench.finish(frame.writeStream.format("noop"))
        produce(bench, address, "orders", range(2, 3))
        frame = subscribe(bench, address, "orders,refunds")
        bench.finish(frame.writeStream.format("noop"))


def kafka_to_kafka(bench: Bench) -> None:
    """One topic counted into another one."""
    with running_broker(bench.folder / "broker") as address:
        produce(bench, address, "orders", range(2))
        counted = subscribe(bench, address, "orders").groupBy("key").agg(f.count("*").alias("n"))
        bench.finish(into_topic(as_messages(counted, "n"), address))


def real_time(bench: Bench) -> None:
    """Real-time mode: the offsets of a batch are written at its end."""
    with running_broker(bench.folder / "broker") as address:
        produce(bench, address, "orders", range(2))
        reader = bench.spark.readStream.format("kafka").option("subscribe", "orders")
        reader = reader.option("kafka.bootstrap.servers", address)
        frame = reader.option("startingOffsets", "earliest").load().select("key", "value")
        writer: Any = into_topic(frame, address)
        bench.run_until(writer.trigger(realTime="5 seconds"), 1)


def into_topic(frame: DataFrame, address: str) -> DataStreamWriter:
    """Returns the writer of a Kafka sink."""
    writer = frame.writeStream.format("kafka").outputMode("update")
    return writer.option("kafka.bootstrap.servers", address).option("topic", "results")


def produce(bench: Bench, address: str, topic: str, numbers: range) -> None:
    """Writes batches of events as messages."""
    rows = [(row["key"], row["value"]) for number in numbers for row in batch(number)]
    frame = bench.spark.createDataFrame(rows, "key string, value long")
    writer = as_messages(frame, "value").coalesce(1).write.format("kafka")
    writer.option("kafka.bootstrap.servers", address).option("topic", topic).save()


def as_messages(frame: DataFrame, value: str) -> DataFrame:
    """Returns key and value as the text that Kafka's writer wants."""
    return frame.select("key", f.col(value).cast("string").alias("value"))


def subscribe(bench: Bench, address: str, topics: str) -> DataFrame:
    """Returns a stream over the topics from their beginning."""
    reader = bench.spark.readStream.format("kafka").option("kafka.bootstrap.servers", address)
    reader = reader.option("subscribe", topics).option("startingOffsets", "earliest")
    return reader.option("maxOffsetsPerTrigger", "4").load()


def delta(bench: Bench) -> None:
    """A Delta table with three versions into another one, one file a batch."""
    frame = delta_stream(bench, range(3))
    bench.finish(frame.writeStream.format("delta").option("path", str(bench.output)))


def delta_restarted(bench: Bench) -> None:
    """Two runs; the table grows and its first version is read as a whole."""
    for numbers in (range(2), range(2, 3)):
        frame = delta_stream(bench, numbers)
        bench.finish(frame.writeStream.format("delta").option("path", str(bench.output)))


def delta_totals(bench: Bench) -> None:
    """Totals of a Delta table, the result rewritten at every batch."""
    writer = totals(delta_stream(bench, range(2))).writeStream.format("delta")
    bench.finish(writer.option("path", str(bench.output)).outputMode("complete"))


def delta_pending(bench: Bench) -> None:
    """A Delta source whose last batch failed in the sink."""

    def fail_in_second(rows: DataFrame, number: int) -> None:
        if number == 1:
            raise RuntimeError("the sink refuses this batch")

    bench.fail(delta_stream(bench, range(2)).writeStream.foreachBatch(fail_in_second))


def delta_stream(bench: Bench, numbers: range) -> DataFrame:
    """Appends one version per number and returns the stream over the table."""
    for number in numbers:
        rows = [(row["key"], row["value"], row["at"]) for row in batch(number)]
        frame = bench.spark.createDataFrame(rows, "key string, value long, at string")
        typed = frame.withColumn("at", f.to_timestamp("at")).coalesce(1)
        typed.write.format("delta").mode("append").save(str(bench.source))
    reader = bench.spark.readStream.format("delta").option("maxFilesPerTrigger", "1")
    return reader.load(str(bench.source))


SHAPES = (
    Shape("kafka", "two Kafka topics to noop, two runs", kafka, HERE),
    Shape("kafka-to-kafka", "Kafka source, count, Kafka sink", kafka_to_kafka, HERE),
    Shape("real-time", "real-time mode, Kafka to Kafka", real_time, HERE, FORMAT_2),
    Shape("delta", "Delta source to Delta sink", delta, HERE),
    Shape("delta-restarted", "Delta source to Delta sink, two runs", delta_restarted, HERE),
    Shape(
        "delta-totals",
        "Delta source, totals in RocksDB with changelogs, Delta sink in complete mode",
        delta_totals,
        HERE,
        {**ROCKSDB, **CHANGELOG},
    ),
    Shape("delta-pending", "Delta source, the last batch failed", delta_pending, HERE),
)
