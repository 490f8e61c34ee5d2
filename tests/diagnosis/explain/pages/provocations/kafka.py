"""Kafka, refused before a broker is needed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.diagnosis.explain.pages.provocations.provocation import provokes
from tests.diagnosis.explain.pages.provocations.queries import copied, lines, run, texts


def topics(spark: Any, **options: str) -> Any:
    """Read Kafka where no broker is needed to be refused."""
    reader = spark.readStream.format("kafka").option("kafka.bootstrap.servers", "192.0.2.7:9092")
    for key, value in options.items():
        reader = reader.option(key.replace("__", "."), value)
    return reader.load()


@provokes("kafka-option", needs_jars=True)
def kafka_no_subscription(spark: Any, folder: Path) -> None:
    topics(spark)


@provokes("kafka-option", needs_jars=True)
def kafka_auto_offset_reset(spark: Any, folder: Path) -> None:
    topics(spark, subscribe="orders", kafka__auto__offset__reset="latest")


@provokes("kafka-sink-columns", needs_jars=True)
def kafka_sink_columns(spark: Any, folder: Path) -> None:
    stream = texts(spark, lines(folder)).selectExpr("value as body")
    run(
        stream,
        folder,
        sink="kafka",
        topic="orders",
        **{"kafka.bootstrap.servers": "192.0.2.7:9092"},
    )


@provokes("kafka-no-answer", needs_jars=True)
def kafka_no_answer(spark: Any, folder: Path) -> None:
    options = {"kafka__default__api__timeout__ms": "900", "kafka__request__timeout__ms": "800"}
    run(topics(spark, subscribe="orders", **options), folder)


@provokes("kafka-initial-offsets", needs_jars=True)
def kafka_other_source(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    options = {"kafka__default__api__timeout__ms": "900", "kafka__request__timeout__ms": "800"}
    run(topics(spark, subscribe="orders", **options), folder)
