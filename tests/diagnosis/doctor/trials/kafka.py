"""Trials of Kafka, with a broker of its own."""

from __future__ import annotations

from typing import Any

from tests.diagnosis.doctor.trials.bench import Bench
from tests.diagnosis.doctor.trials.trial import tries


def produce(bench: Bench, topic: str, *numbers: int) -> None:
    """Write two rows a number into a topic."""
    words = [f"{topic}-{number}-{letter}" for number in numbers for letter in "ab"]
    rows = bench.spark.createDataFrame([(word,) for word in words], "value string").coalesce(1)
    writer = rows.write.format("kafka").option("kafka.bootstrap.servers", bench.broker)
    writer.option("topic", topic).save()
    bench.expected.update(words)


def messages(bench: Bench, topic: str, *, by: str = "subscribe", **options: str) -> Any:
    """Read a topic from its beginning, as text."""
    reader = bench.spark.readStream.format("kafka").option(by, topic)
    reader = reader.option("kafka.bootstrap.servers", bench.broker)
    reader = reader.option("startingOffsets", "earliest")
    for key, value in options.items():
        reader = reader.option(key, value)
    return reader.load().selectExpr("cast(value as string) as value")


@tries("the query subscribes to another topic", needs="broker")
def topic_renamed(bench: Bench) -> None:
    produce(bench, "topic-renamed", 0)
    bench.deliver(messages(bench, "topic-renamed"))
    produce(bench, "topic-renamed-new", 0)
    bench.deliver(messages(bench, "topic-renamed-new"))


@tries("the query names its topic by a pattern, which fits it", needs="broker")
def topic_by_pattern(bench: Bench) -> None:
    produce(bench, "topic-by-pattern", 0)
    bench.deliver(messages(bench, "topic-by-pattern"))
    produce(bench, "topic-by-pattern", 1)
    bench.deliver(messages(bench, "topic-by-.*", by="subscribePattern"))


@tries("the query names its topic by a pattern, which does not fit it", needs="broker")
def topic_by_another_pattern(bench: Bench) -> None:
    produce(bench, "topic-past", 0)
    bench.deliver(messages(bench, "topic-past"))
    produce(bench, "topic-past", 1)
    produce(bench, "topic-future", 0)
    bench.deliver(messages(bench, "topic-fut.*", by="subscribePattern"))


@tries("the query is assigned one of the partitions that it read", needs="broker")
def partition_assigned(bench: Bench) -> None:
    produce(bench, "partition-assigned", 0)
    bench.deliver(messages(bench, "partition-assigned"))
    produce(bench, "partition-assigned", 1)
    bench.deliver(messages(bench, '{"partition-assigned":[0]}', by="assign"))


@tries("the query is assigned a partition of another topic", needs="broker")
def another_partition_assigned(bench: Bench) -> None:
    produce(bench, "partition-past", 0)
    bench.deliver(messages(bench, "partition-past"))
    produce(bench, "partition-past", 1)
    produce(bench, "partition-future", 0)
    bench.deliver(messages(bench, '{"partition-future":[0]}', by="assign"))


@tries("records were gone before they were read, failOnDataLoss is false", needs="broker")
def loss_allowed(bench: Bench) -> None:
    from tests.parts.kafka import delete_topic

    produce(bench, "loss-allowed", 0, 1)
    stream = messages(bench, "loss-allowed", failOnDataLoss="false")
    bench.deliver(stream)
    produce(bench, "loss-allowed", 2)
    delete_topic(bench.broker, "loss-allowed")
    produce(bench, "loss-allowed", 3)
    bench.deliver(stream)


@tries("the newest commit is lost, and the batch goes to Kafka's sink again", needs="broker")
def kafka_sink_again(bench: Bench) -> None:
    def run() -> None:
        writer = bench.lines().writeStream.format("kafka").option("topic", "sink-again")
        bench.run(writer.option("kafka.bootstrap.servers", bench.broker))

    bench.put(0, 1)
    run()
    bench.remove("commits/1")
    run()
    reader = bench.spark.read.format("kafka").option("subscribe", "sink-again")
    rows = reader.option("kafka.bootstrap.servers", bench.broker).load()
    words = rows.selectExpr("cast(value as string)").collect()
    bench.delivered = bench.delivered.__class__(row[0] for row in words)
