"""Cases 37, 54 to 56 and 93: Kafka, with a real broker."""

from __future__ import annotations

import json
import struct
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.fieldcases.bench import CaseBench
from tests.fieldcases.case import Starts, case
from tests.parts.kafka import CLUSTER, PATIENCE_SECONDS, PROPERTIES, create_topic, delete_topic
from tests.parts.libraries import jars_for
from tests.parts.ports import free_port, wait_for

VALUES = "select cast(value as string) as value from source"
LATER_MS = 600_000
"""How much later the records of a topic that was created again are than those before."""


def produce(bench: CaseBench, topic: str, *numbers: int, later_ms: int = 0) -> None:
    """Write one record per number into the only partition of a topic."""
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": bench.broker, "linger.ms": 5})
    moment = int(time.time() * 1000) + later_ms
    for number in numbers:
        producer.produce(topic, f"{topic}-{number}".encode(), partition=0, timestamp=moment)
    assert producer.flush(PATIENCE_SECONDS) == 0
    bench.expected.update(f"{topic}-{number}" for number in numbers)


def options(bench: CaseBench, topic: str, **more: str) -> dict[str, str]:
    """Name the options of a source that reads a topic from its beginning."""
    plain = {"kafka.bootstrap.servers": bench.broker, "subscribe": topic}
    return {**plain, "startingOffsets": "earliest", **more}


def stream(bench: CaseBench, topic: str, **more: str) -> Any:
    """Read a topic as text."""
    reader = bench.spark.readStream.format("kafka").options(**options(bench, topic, **more))
    return reader.load().selectExpr("cast(value as string) as value")


def declare(bench: CaseBench, topic: str, **more: str) -> None:
    """Declare a job that reads the topic."""
    source = {"format": "kafka", "options": options(bench, topic, **more)}
    bench.declare(sql=VALUES, source=source)


def begin(bench: CaseBench, topic: str, *numbers: int) -> None:
    """Create a topic with records, and read it to its end."""
    create_topic(bench.broker, topic, 1)
    produce(bench, topic, *numbers)
    bench.deliver(stream(bench, topic))
    source = {"format": "kafka", "options": options(bench, topic)}
    bench.unchanged(sql=VALUES, source=source)


@case(37, "startingOffsets is changed", needs="broker")
def starting_offsets_changed(bench: CaseBench) -> Starts:
    topic = "starting-offsets"
    begin(bench, topic, 0, 1, 2, 3)
    produce(bench, topic, 4)
    # People mean to read records 1 to 3 again: nothing of that happens.
    again = json.dumps({topic: {"0": 1}})
    declare(bench, topic, startingOffsets=again)
    bench.examine()
    return (
        lambda: bench.deliver(stream(bench, topic, startingOffsets=again)),
        lambda: bench.deliver(stream(bench, topic)),
    )


@case(54, "a topic is created again with fewer records", needs="broker")
def topic_shorter(bench: CaseBench) -> Starts:
    topic = "topic-shorter"
    begin(bench, topic, 0, 1, 2, 3, 4)
    delete_topic(bench.broker, topic)
    create_topic(bench.broker, topic, 1)
    produce(bench, topic, 5, 6)
    declare(bench, topic)
    bench.examine()
    return (lambda: bench.deliver(stream(bench, topic))), None


@case(54, "records expired before they were read", needs="broker")
def records_expired(bench: CaseBench) -> Starts:
    from confluent_kafka import TopicPartition
    from confluent_kafka.admin import AdminClient

    topic = "records-expired"
    begin(bench, topic, 0, 1)
    produce(bench, topic, 2, 3, 4)
    client = AdminClient({"bootstrap.servers": bench.broker})
    for answer in client.delete_records([TopicPartition(topic, 0, 4)]).values():
        answer.result(PATIENCE_SECONDS)
    declare(bench, topic)
    bench.examine()
    return (lambda: bench.deliver(stream(bench, topic))), None


@case(55, "a topic is created again and longer already than the stored offset", needs="broker")
def topic_longer(bench: CaseBench) -> Starts:
    topic = "topic-longer"
    begin(bench, topic, 0, 1, 2)
    delete_topic(bench.broker, topic)
    create_topic(bench.broker, topic, 1)
    produce(bench, topic, 3, 4, 5, 6, 7, later_ms=LATER_MS)
    declare(bench, topic)
    bench.examine()
    return (lambda: bench.deliver(stream(bench, topic))), None


@case(56, "a broker comes back without the newest records", needs="broker")
def latest_goes_back(bench: CaseBench) -> Starts:
    topic, folder = "latest-goes-back", bench.folder.with_name("broker")
    ports = free_port(), free_port()
    bench.broker = f"127.0.0.1:{ports[0]}"
    with _broker(folder, ports):
        create_topic(bench.broker, topic, 1)
        produce(bench, topic, 0, 1)
        produce(bench, topic, 2, 3)
        bench.deliver(stream(bench, topic))
    _cut(folder / "log" / f"{topic}-0")
    bench.held = _broker(folder, ports)
    bench.held.__enter__()
    declare(bench, topic)
    bench.examine()
    return (lambda: bench.deliver(stream(bench, topic))), None


@case(93, "the processed offsets of Kafka are in no consumer group", needs="broker")
def offsets_shown(bench: CaseBench) -> Starts:
    from confluent_kafka.admin import AdminClient

    topic = "offsets-shown"
    begin(bench, topic, 0, 1, 2)
    produce(bench, topic, 3)
    declare(bench, topic)
    shown = json.dumps(bench.examine("inspect")["result"]["sources"])
    groups = AdminClient({"bootstrap.servers": bench.broker}).list_consumer_groups().result()
    seen = f'"{topic}": {{"0": 3}}' in shown
    bench.note = f"{len(groups.valid)} consumer groups; inspect shows the next record: {seen}"
    return (lambda: bench.deliver(stream(bench, topic))), None


@contextmanager
def _broker(folder: Path, ports: tuple[int, int]) -> Iterator[None]:
    """Start a broker on a folder that it may have been killed on."""
    folder.mkdir(exist_ok=True)
    properties = folder / "server.properties"
    text = PROPERTIES.format(port=ports[0], controller=ports[1], folder=folder)
    properties.write_text(text, encoding="utf-8")
    java = ["java", "-Xmx512m", "-cp", ":".join(str(jar) for jar in jars_for("broker"))]
    tool = ["kafka.tools.StorageTool", "format", "--ignore-formatted", "-t", CLUSTER, "-c"]
    subprocess.run([*java, *tool, str(properties)], check=True, stdout=subprocess.DEVNULL)
    server = subprocess.Popen([*java, "kafka.Kafka", str(properties)], stdout=subprocess.DEVNULL)
    try:
        wait_for(ports[0])
        yield
    finally:
        server.kill()
        server.wait()


def _cut(partition: Path) -> None:
    """Keep the first batch of records only, as a machine does that lost what was not flushed."""
    segment = partition / f"{0:020}.log"
    data = segment.read_bytes()
    (length,) = struct.unpack(">i", data[8:12])
    segment.write_bytes(data[: 12 + length])
    for file in partition.glob("*"):
        if file.suffix in (".index", ".timeindex", ".snapshot"):
            file.unlink()
    for name in ("recovery-point-offset-checkpoint", "replication-offset-checkpoint"):
        (partition.parent / name).unlink(missing_ok=True)
