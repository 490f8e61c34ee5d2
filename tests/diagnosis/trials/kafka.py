"""Trials of Kafka, with a broker of its own."""

from __future__ import annotations

from typing import Any

from tests.diagnosis.trials.bench import Bench
from tests.diagnosis.trials.trial import tries


def produce(bench: Bench, topic: str, *numbers: int) -> None:
    """Write two rows a number into a topic."""
    words = [f"{topic}-{number}-{letter}" for number in numbers for letter in "ab"]
    rows = bench.spark.createDataFrame([(word,) for word in words], "value string").coalesce(1)
    writer = rows.write.format("kafka").option("kafka.bootstrap.servers", bench.broker)
    writer.option("topic", topic).save()
    bench.expected.update(words)


def messages(bench: Bench, topic: str, **options: str) -> Any:
    """Read a topic from its beginning, as text."""
    reader = bench.spark.readStream.format("kafka").option("subscribe", topic)
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
