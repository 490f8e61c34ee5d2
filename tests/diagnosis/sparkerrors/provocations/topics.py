"""Kafka, with a broker: topics that are gone, made anew, changed, or asked for wrongly."""

from __future__ import annotations

import atexit
import tempfile
import time
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

from tests.diagnosis.sparkerrors.provocations.provocation import provokes
from tests.diagnosis.sparkerrors.provocations.queries import run


@cache
def broker() -> str:
    """Start a broker once, for as long as this process lives."""
    from tests.corpus.broker import running_broker

    stack = ExitStack()
    atexit.register(stack.close)
    folder = stack.enter_context(tempfile.TemporaryDirectory())
    return stack.enter_context(running_broker(Path(folder)))


def produce(spark: Any, topic: str, *words: str, partition: int | None = 0) -> None:
    """Write words into a partition of a topic; the first write makes the topic."""
    rows = [(word, partition) for word in words]
    frame = spark.createDataFrame(rows, "value string, partition int").coalesce(1)
    writer = frame.write.format("kafka").option("kafka.bootstrap.servers", broker())
    writer.option("topic", topic).save()


def reading(spark: Any, topic: str, **options: str) -> Any:
    """Read a topic from its beginning."""
    reader = spark.readStream.format("kafka").option("kafka.bootstrap.servers", broker())
    given = {"subscribe": topic, "startingOffsets": "earliest", **options}
    for key, value in given.items():
        reader = reader.option(key, value)
    return reader.load()


def admin(spark: Any) -> Any:
    """Open Kafka's own administration client in Spark's JVM."""
    properties = spark._jvm.java.util.Properties()
    properties.put("bootstrap.servers", broker())
    return spark._jvm.org.apache.kafka.clients.admin.AdminClient.create(properties)


def delete_topic(spark: Any, topic: str) -> None:
    """Delete a topic, and wait until the broker has forgotten it."""
    client = admin(spark)
    client.deleteTopics(spark._jvm.java.util.List.of(topic)).all().get()
    while client.listTopics().names().get().contains(topic):
        time.sleep(0.1)
    client.close()


def forget_before(spark: Any, topic: str, partition: int, offset: int) -> None:
    """Let the broker delete the records before an offset."""
    jvm = spark._jvm
    client = admin(spark)
    where = jvm.org.apache.kafka.common.TopicPartition(topic, partition)
    until = jvm.org.apache.kafka.clients.admin.RecordsToDelete.beforeOffset(offset)
    client.deleteRecords(jvm.java.util.Map.of(where, until)).all().get()
    client.close()


def widen(spark: Any, topic: str, partitions: int) -> None:
    """Give a topic more partitions."""
    jvm = spark._jvm
    client = admin(spark)
    wanted = jvm.org.apache.kafka.clients.admin.NewPartitions.increaseTo(partitions)
    client.createPartitions(jvm.java.util.Map.of(topic, wanted)).all().get()
    client.close()
    time.sleep(0.5)


@provokes("kafka-partitions-deleted", needs_jars=True)
def topic_renamed(spark: Any, folder: Path) -> None:
    produce(spark, "renamed", "a")
    run(reading(spark, "renamed"), folder)
    produce(spark, "renamed-new", "a")
    run(reading(spark, "renamed-new"), folder)


@provokes("kafka-topic-recreated", needs_jars=True)
def topic_recreated(spark: Any, folder: Path) -> None:
    produce(spark, "recreated", "a", "b", "c")
    run(reading(spark, "recreated"), folder)
    delete_topic(spark, "recreated")
    produce(spark, "recreated", "d")
    run(reading(spark, "recreated"), folder)


@provokes("kafka-data-loss", needs_jars=True)
def records_aged_out(spark: Any, folder: Path) -> None:
    produce(spark, "aged", "a")
    run(reading(spark, "aged"), folder)
    produce(spark, "aged", *"bcdef")
    forget_before(spark, "aged", 0, 4)
    run(reading(spark, "aged"), folder)


@provokes("kafka-partition-added-late", needs_jars=True)
def partition_added_late(spark: Any, folder: Path) -> None:
    produce(spark, "widened", "a")
    run(reading(spark, "widened"), folder)
    widen(spark, "widened", 3)
    produce(spark, "widened", "b", "c", "d", partition=2)
    forget_before(spark, "widened", 2, 2)
    run(reading(spark, "widened"), folder)


@provokes("kafka-available-now", needs_jars=True)
def partitions_change_meanwhile(spark: Any, folder: Path) -> None:
    def widen_once(batch: Any, batch_id: int) -> None:
        if batch_id == 0:
            widen(spark, "moving", 4)
            produce(spark, "moving", "z", partition=3)

    produce(spark, "moving", *"abcdefgh")
    stream = reading(spark, "moving", maxOffsetsPerTrigger="1")
    writer = stream.writeStream.foreachBatch(widen_once).trigger(availableNow=True)
    writer.option("checkpointLocation", str(folder / "checkpoint")).start().awaitTermination()


@provokes("kafka-available-now", needs_jars=True)
def topic_gone_meanwhile(spark: Any, folder: Path) -> None:
    def delete_once(batch: Any, batch_id: int) -> None:
        if batch_id == 0:
            delete_topic(spark, "going")

    produce(spark, "going", *"abcdefgh")
    produce(spark, "staying", *"abcdefgh")
    stream = reading(spark, "going,staying", maxOffsetsPerTrigger="2")
    writer = stream.writeStream.foreachBatch(delete_once).trigger(availableNow=True)
    writer.option("checkpointLocation", str(folder / "checkpoint")).start().awaitTermination()


@provokes("kafka-starting-offsets", needs_jars=True)
def starting_offsets_of_some(spark: Any, folder: Path) -> None:
    produce(spark, "started", "a")
    run(reading(spark, "started", startingOffsets='{"started":{"0":0}}'), folder)


@provokes("kafka-start-after-end", needs_jars=True)
def start_after_end(spark: Any, folder: Path) -> None:
    produce(spark, "reversed", "a", "b", "c")
    reader = spark.read.format("kafka").option("kafka.bootstrap.servers", broker())
    reader = reader.option("subscribe", "reversed")
    reader = reader.option("startingOffsets", '{"reversed":{"0":2,"1":0}}')
    reader.option("endingOffsets", '{"reversed":{"0":1,"1":0}}').load().collect()
