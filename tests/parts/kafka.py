"""Starts one real Kafka broker on the loopback address, and fills its topics."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.parts.libraries import jars_for
from tests.parts.ports import free_port, wait_for

CLUSTER = "aG9sZGZhc3QtY29ycHVzLQ"
PATIENCE_SECONDS = 60

PROPERTIES = """process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={folder}/log
num.partitions=2
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
"""


@contextmanager
def running_broker(folder: Path) -> Iterator[str]:
    """Give the address of a fresh broker; topics are created when first written."""
    folder.mkdir(parents=True, exist_ok=True)
    port, controller = free_port(), free_port()
    properties = folder / "server.properties"
    text = PROPERTIES.format(port=port, controller=controller, folder=folder)
    properties.write_text(text, encoding="utf-8")
    java = ["java", "-Xmx512m", "-cp", ":".join(str(jar) for jar in jars_for("broker"))]
    tool = ["kafka.tools.StorageTool", "format", "-t", CLUSTER, "-c", str(properties)]
    subprocess.run([*java, *tool], check=True, stdout=subprocess.DEVNULL)
    server = subprocess.Popen([*java, "kafka.Kafka", str(properties)], stdout=subprocess.DEVNULL)
    try:
        wait_for(port)
        yield f"127.0.0.1:{port}"
    finally:
        server.kill()
        server.wait()


def create_topic(address: str, topic: str, partitions: int = 2, **config: str) -> None:
    """Create an empty topic, with settings in which "_" stands for a dot."""
    from confluent_kafka.admin import AdminClient
    from confluent_kafka.cimpl import NewTopic

    admin = AdminClient({"bootstrap.servers": address})
    settings = {name.replace("_", "."): value for name, value in config.items()}
    for created in admin.create_topics([NewTopic(topic, partitions, config=settings)]).values():
        created.result(PATIENCE_SECONDS)


def delete_topic(address: str, topic: str) -> None:
    """Delete a topic, and return when the broker has forgotten it."""
    from confluent_kafka.admin import AdminClient

    admin = AdminClient({"bootstrap.servers": address})
    admin.delete_topics([topic])[topic].result(PATIENCE_SECONDS)
    while topic in admin.list_topics().topics:
        time.sleep(0.1)


def remove_before(address: str, topic: str, partition: int, offset: int) -> None:
    """Remove the records before an offset, as retention does."""
    from confluent_kafka import TopicPartition
    from confluent_kafka.admin import AdminClient

    admin = AdminClient({"bootstrap.servers": address})
    for removed in admin.delete_records([TopicPartition(topic, partition, offset)]).values():
        removed.result(PATIENCE_SECONDS)


def produce(
    address: str,
    topic: str,
    values: Iterable[str],
    *,
    partition: int = -1,
    timestamps: Callable[[str], int] = lambda _: 0,
) -> None:
    """Write one message a value, and return when the broker has them all.

    `timestamps` gives the time of each in milliseconds; 0 is now.
    """
    from confluent_kafka import Producer

    failed: list[object] = []
    producer = Producer({"bootstrap.servers": address, "linger.ms": 5})
    for value in values:
        producer.produce(
            topic, value.encode(), partition=partition, timestamp=timestamps(value),
            on_delivery=lambda error, _: failed.append(error),
        )  # fmt: skip
    left = producer.flush(PATIENCE_SECONDS)
    if left or any(failed):
        raise OSError(f"{left} messages are not delivered: {[*filter(None, failed)][:3]}")
