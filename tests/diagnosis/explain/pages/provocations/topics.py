"""Kafka, with a broker: topics that are gone, made anew, changed, or asked for wrongly."""

from __future__ import annotations

import atexit
import tempfile
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

from tests.diagnosis.explain.pages.provocations.provocation import provokes
from tests.diagnosis.explain.pages.provocations.queries import run
from tests.parts.kafka import delete_topic, running_broker


@cache
def broker() -> str:
    """Start a broker once, for as long as this process lives."""
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
    delete_topic(broker(), "recreated")
    produce(spark, "recreated", "d")
    run(reading(spark, "recreated"), folder)


@provokes("kafka-topic-unknown", needs_jars=True)
def topic_gone_meanwhile(spark: Any, folder: Path) -> None:
    def delete_once(batch: Any, batch_id: int) -> None:
        if batch_id == 0:
            delete_topic(broker(), "going")

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
