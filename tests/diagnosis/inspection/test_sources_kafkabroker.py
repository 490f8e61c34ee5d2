"""Asking a broker without Spark: what cannot be asked says why, and nothing is printed."""

from __future__ import annotations

import sys

import pytest

from holdfast.diagnosis.inspection import sources as kafkaasking
from holdfast.diagnosis.inspection.sources import ask_broker
from tests.parts.ports import free_port

SERVERS = "kafka.bootstrap.servers"


def test_a_broker_that_is_down_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Within the time that is allowed; the client's own words stay off the terminal."""
    monkeypatch.setattr(kafkaasking, "ASKED_SECONDS", 0.2)
    seen = ask_broker({SERVERS: f"127.0.0.1:{free_port()}"}, [("orders", 0)], None)
    assert seen.failure and seen.tried and not seen.spans
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "options",
    [
        {"kafka.security.protocol": "SASL_SSL"},
        {"kafka.ssl.truststore.location": "trust.jks"},
    ],
)
def test_a_secured_broker_is_not_tried(options: dict[str, str]) -> None:
    """Its options are those of Java's client."""
    seen = ask_broker({SERVERS: "broker:9093", **options}, [], None)
    assert seen.failure and not seen.tried


def test_without_the_client_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """With what to install."""
    monkeypatch.setitem(sys.modules, "confluent_kafka", None)
    seen = ask_broker({SERVERS: "broker:9092"}, [], None)
    assert seen.failure is not None and ".[kafka]" in seen.failure
    assert not seen.tried


def test_a_source_without_a_broker_is_not_waited_for() -> None:
    """Nothing is there to be asked, and no time is lost."""
    seen = ask_broker({}, [("orders", 0)], None)
    assert not seen.tried and seen.failure is not None and SERVERS in seen.failure
