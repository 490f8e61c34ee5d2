"""Cases 36, 37 and 54 to 59: the source is another one, or has lost what was read."""

from __future__ import annotations

import shutil
import time
import uuid
from collections.abc import Callable
from typing import Any

from tests.fieldcases.play.playing import play
from tests.fieldcases.play.stage import Stage, named, passed_on
from tests.parts.kafka import PATIENCE_SECONDS, create_topic, delete_topic, produce

TABLE = {"format": "delta", "path": "./raw", "options": {"maxFilesPerTrigger": 1}}
VALUES = (
    "select cast(cast(value as string) as long) as n, "
    "concat('k', cast(cast(value as string) as long) % 3) as k from source"
)
SECOND = {"format": "delta", "path": "./lake/second"}
NEW = "./lake/second"
LATER_MS = 600_000
"""How much later the records of a topic that was created again are than those before."""


def sends(stage: Stage, topic: str) -> Callable[[list[int]], None]:
    """Return what writes numbers into the one partition of a topic."""
    return lambda numbers: produce(stage.parts.broker(), topic, [str(one) for one in numbers])


def sends_later(stage: Stage, topic: str) -> Callable[[list[int]], None]:
    """Return what writes numbers into the topic as ten minutes later."""

    def send(numbers: list[int]) -> None:
        from confluent_kafka import Producer

        producer = Producer({"bootstrap.servers": stage.parts.broker(), "linger.ms": 5})
        moment = int(time.time() * 1000) + LATER_MS
        for one in numbers:
            producer.produce(topic, str(one).encode(), partition=0, timestamp=moment)
        assert producer.flush(PATIENCE_SECONDS) == 0

    return send


def source(stage: Stage, topic: str, **options: str) -> dict[str, Any]:
    """Declare a source that reads a topic from its beginning, two records per batch."""
    return {
        "format": "kafka",
        "options": {
            "kafka.bootstrap.servers": stage.parts.broker(), "subscribe": topic,
            "startingOffsets": "earliest", "maxOffsetsPerTrigger": "2", **options,
        },
    }  # fmt: skip


def topic_read(stage: Stage) -> str:
    """Let the job read a new topic to its end."""
    topic = f"orders-{uuid.uuid4().hex[:8]}"
    create_topic(stage.parts.broker(), topic, 1)
    stage.sending = sends(stage, topic)
    stage.play(source=source(stage, topic), sql=VALUES)
    return topic


@play(36, how="the topic was renamed; all records are in the new one")
def topic_renamed(stage: Stage) -> None:
    topic = f"{topic_read(stage)}-renamed"
    create_topic(stage.parts.broker(), topic, 1)
    stage.sending = sends(stage, topic)
    stage.sending(stage.numbers)
    stage.declare(source=source(stage, topic))
    stage.plan_of("HF2325")


@play(37, how="startingOffsets is changed, and the checkpoint decides where the source goes on")
def starting_offsets_changed(stage: Stage) -> None:
    topic = topic_read(stage)
    again = f'{{"{topic}": {{"0": 3}}}}'
    stage.declare(source=source(stage, topic, startingOffsets=again))
    stage.right = lambda numbers: passed_on(numbers[3:])
    stage.plan_of("HF2358")


@play(54, how="the topic was created again, with fewer records than were read")
def topic_shorter(stage: Stage) -> None:
    _topic_created_again(stage, 1, "HF2369")


@play(55, how="the topic was created again, and already has more records than were read")
def topic_longer(stage: Stage) -> None:
    _topic_created_again(stage, 6, "HF2370")


def _topic_created_again(stage: Stage, files: int, code: str) -> None:
    topic = topic_read(stage)
    delete_topic(stage.parts.broker(), topic)
    create_topic(stage.parts.broker(), topic, 1)
    stage.sending = sends_later(stage, topic)
    stage.arrive(files)
    _into_a_new_output(stage, code)
    stage.keeps({"format": "delta", "path": "./lake/orders"})


@play(58, how="the Delta table that is read was dropped and created again with the same rows")
def delta_source_created_again(stage: Stage) -> None:
    table_read(stage)
    shutil.rmtree(stage.folder / "raw")
    appends(stage)(stage.numbers)
    _into_a_new_output(stage, "HF2366")


@play(59, how="the log of the Delta table that is read was cleaned below the stored version")
def delta_log_cleaned(stage: Stage) -> None:
    table_read(stage)
    stage.arrive(10)
    log = stage.folder / "raw/_delta_log"
    for file in [*log.glob("0*.json"), *log.glob(".0*.json.crc"), *log.glob("0*.crc")]:
        if int(file.name.strip(".").split(".")[0]) < 10:
            file.unlink()
    _into_a_new_output(stage, "HF2367")


def table_read(stage: Stage) -> None:
    """Let the job read a Delta table to its end."""
    stage.sending = appends(stage)
    stage.play(source=TABLE)


def appends(stage: Stage) -> Callable[[list[int]], None]:
    """Return what appends numbers to the table that is read."""

    def append(numbers: list[int]) -> None:
        rows = [(one, f"k{one % 3}") for one in numbers]
        frame = stage.parts.spark.createDataFrame(rows, "n long, k string").coalesce(1)
        frame.write.format("delta").mode("append").save(str(stage.folder / "raw"))

    return append


def _into_a_new_output(stage: Stage, code: str) -> None:
    stage.apply(named(stage.ask(), code, "holdfast plan reset"), PATH=NEW)
    stage.declare(sink=SECOND)
