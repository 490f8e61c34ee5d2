"""Starts one real Kafka broker on the loopback address, and fills its topics."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterable, Iterator
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


def create_topic(address: str, topic: str, partitions: int = 2) -> None:
    """Create an empty topic."""
    from confluent_kafka.admin import AdminClient
    from confluent_kafka.cimpl import NewTopic

    admin = AdminClient({"bootstrap.servers": address})
    for created in admin.create_topics([NewTopic(topic, partitions)]).values():
        created.result(PATIENCE_SECONDS)


def delete_topic(address: str, topic: str) -> None:
    """Delete a topic, and return when the broker has forgotten it."""
    from confluent_kafka.admin import AdminClient

    admin = AdminClient({"bootstrap.servers": address})
    admin.delete_topics([topic])[topic].result(PATIENCE_SECONDS)
    while topic in admin.list_topics().topics:
        time.sleep(0.1)


def produce(address: str, topic: str, values: Iterable[str]) -> None:
    """Write one message a value, and return when the broker has them all."""
    from confluent_kafka import Producer

    failed: list[object] = []
    producer = Producer({"bootstrap.servers": address, "linger.ms": 5})
    for value in values:
        producer.produce(topic, value.encode(), on_delivery=lambda error, _: failed.append(error))
    left = producer.flush(PATIENCE_SECONDS)
    if left or any(failed):
        raise OSError(f"{left} messages are not delivered: {[*filter(None, failed)][:3]}")
