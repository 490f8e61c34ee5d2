"""Topics that two jobs share, by the options of Kafka's source and sink."""

from __future__ import annotations

import pytest

from holdfast.jobs.options import topics_of

SERVERS = "kafka.bootstrap.servers"


@pytest.mark.parametrize(
    ("read", "meets"),
    [
        ({SERVERS: "a:9092", "subscribe": "x, clean"}, True),
        ({SERVERS: "z:1, A:9092 ", "subscribe": "clean"}, True),
        ({"KAFKA.bootstrap.servers": "a:9092", "Subscribe": "clean"}, True),
        ({SERVERS: "a:9092", "subscribePattern": "cl.*"}, True),
        ({SERVERS: "a:9092", "assign": '{"clean": [0, 1]}'}, True),
        ({SERVERS: "a:9092", "subscribe": "Clean"}, False),
        ({SERVERS: "c:9092", "subscribe": "clean"}, False),
        ({SERVERS: "a:9092", "subscribePattern": "lean"}, False),
        ({SERVERS: "a:9092", "subscribePattern": "(?<x"}, False),
        ({SERVERS: "a:9092", "assign": "not json"}, False),
        ({SERVERS: "a:9092", "assign": "[1]"}, False),
        ({"subscribe": "clean"}, False),
        ({}, False),
    ],
)
def test_a_source_meets_a_sink(read: dict[str, str], meets: bool) -> None:
    written = topics_of({SERVERS: "a:9092,b:9092", "topic": "clean"})
    assert topics_of(read).meet(written) is meets
    assert written.meet(topics_of(read)) is meets
