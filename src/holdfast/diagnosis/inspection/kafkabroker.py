"""Asks a Kafka broker which records a topic has, without Spark and without creating anything.

The one border to confluent_kafka: past it there are plain numbers, or a text that says why not.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from holdfast.installing import pip_line

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient

ASKED_SECONDS = 2.0
"""How long one question to the broker may take."""
CLOCKS_APART_MS = 60_000
"""How far the clocks of producers and of the driver may be apart."""

SERVERS = "kafka.bootstrap.servers"
_PROTOCOL = "kafka.security.protocol"
_SECURE = ("kafka.sasl.", "kafka.ssl.")
Partition = tuple[str, int]


@dataclass(frozen=True)
class Span:
    """The records of one partition: from the first to the one that comes next."""

    first: int
    following: int
    first_since: int | None = None
    """The first record from the asked moment on; None where there is none."""


@dataclass(frozen=True)
class BrokerSeen:
    """What a broker says of some partitions."""

    servers: str
    topics: frozenset[str] = frozenset()
    spans: Mapping[Partition, Span] = field(default_factory=dict)
    """By topic and partition; one that is not there does not exist any more."""
    failure: str | None = None
    """Why it could not be asked."""
    tried: bool = True
    """Whether a connection was tried."""


def ask_broker(
    options: Mapping[str, str], partitions: Collection[Partition], since_ms: int | None
) -> BrokerSeen:
    """Ask for the span of each partition, and its first record from a moment on; never raises."""
    given = {key.lower(): value for key, value in options.items()}
    servers = given.get(SERVERS, "")
    protocol = given.get(_PROTOCOL, "PLAINTEXT").upper()
    if protocol != "PLAINTEXT" or any(key.startswith(_SECURE) for key in given):
        why = f"the source is declared with {protocol} and options for Java's client"
        return BrokerSeen(servers, failure=why, tried=False)
    try:
        from confluent_kafka import KafkaException
        from confluent_kafka.admin import AdminClient
    except ImportError:
        why = f"confluent-kafka is not installed: {pip_line('kafka')}"
        return BrokerSeen(servers, failure=why, tried=False)
    settings: dict[str, str | int | float | bool] = {
        "bootstrap.servers": servers,
        "socket.timeout.ms": int(ASKED_SECONDS * 1000),
    }
    try:
        # With a logger that is never polled the client does not write to the terminal.
        client = AdminClient(settings, logger=logging.getLogger(__name__))
        return _asked(client, servers, partitions, since_ms)
    except (KafkaException, ValueError) as error:
        return BrokerSeen(servers, failure=_words(error))


def _asked(
    client: AdminClient, servers: str, wanted: Collection[Partition], since_ms: int | None
) -> BrokerSeen:
    # All topics are listed: asking for one by name could create it.
    listed = client.list_topics(timeout=ASKED_SECONDS).topics
    there = [one for one in wanted if one[0] in listed and one[1] in listed[one[0]].partitions]
    spans = dict(_spans(client, there, since_ms)) if there else {}
    return BrokerSeen(servers, frozenset(listed), spans)


def _spans(
    client: AdminClient, wanted: list[Partition], since_ms: int | None
) -> Iterator[tuple[Partition, Span]]:
    import confluent_kafka.admin

    admin: Any = confluent_kafka.admin
    first = _offsets(client, wanted, admin.OffsetSpec.earliest())
    following = _offsets(client, wanted, admin.OffsetSpec.latest())
    since: dict[Partition, int] = {}
    if since_ms is not None:
        moment = admin.OffsetSpec.for_timestamp(since_ms + CLOCKS_APART_MS)
        since = _offsets(client, wanted, moment)
    for one in wanted:
        found = since.get(one, -1)
        yield one, Span(first[one], following[one], found if found >= 0 else None)


def _offsets(client: AdminClient, wanted: list[Partition], spec: Any) -> dict[Partition, int]:
    from confluent_kafka import TopicPartition

    asked = {TopicPartition(*one): spec for one in wanted}
    answers = client.list_offsets(asked, request_timeout=ASKED_SECONDS)
    return {
        (one.topic, one.partition): answer.result(ASKED_SECONDS).offset
        for one, answer in answers.items()
    }


def _words(error: Exception) -> str:
    inner = error.args[0] if error.args else error
    text = getattr(inner, "str", None)
    return str(text()) if callable(text) else str(inner)
