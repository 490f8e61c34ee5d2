"""Stored offsets of Kafka against a broker: silent where nothing is wrong, or nothing is known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from holdfast.diagnosis.inspection.sources import BrokerSeen, SourcesSeen, Span
from holdfast.findings import Finding, Severity
from tests.checkpoint.pictures import files_of, without
from tests.diagnosis.doctor.examining import examinee, found
from tests.diagnosis.doctor.fieldscenarios import BROKER, Seen, asked, kafka_job, spans

CODES = {"HF2368", "HF2369", "HF2370"}


def told(broker: BrokerSeen) -> dict[str, Finding]:
    """Return what is found with this broker, of these checks alone."""
    return {code: one for code, one in found(*asked(broker)).items() if code in CODES}


@pytest.mark.parametrize(
    "broker",
    [
        BROKER,
        spans({("orders", 0): Span(9, 9)}),
        spans({("orders", 0): Span(0, 40, 9)}),
        spans({("orders", 0): Span(4, 40, 9)}),
        spans({("orders", 0): Span(9, 40, 9)}),
    ],
)
def test_records_that_are_there_give_no_finding(broker: BrokerSeen) -> None:
    """Also where older ones expired, and where new ones came since."""
    assert told(broker) == {}


def test_a_topic_that_is_gone_is_fatal() -> None:
    """And so is a partition."""
    gone = told(replace(spans({("refunds", 0): None, ("refunds", 1): None}),
                        topics=frozenset({"orders"})))  # fmt: skip
    assert "the topic no longer exists (and 1 more)" in gone["HF2369"].message
    assert "the partition" in told(spans({("orders", 1): None}))["HF2369"].message


def test_a_broker_that_could_not_be_asked_is_told() -> None:
    """A warning where it was tried, information where it could not be."""
    down = replace(BROKER, spans={}, failure="no broker answers")
    assert set(told(down)) == {"HF2368"}
    assert told(down)["HF2368"].severity is Severity.WARNING
    assert told(replace(down, tried=False))["HF2368"].severity is Severity.INFO


def test_with_two_clusters_nothing_is_claimed() -> None:
    """Whose offsets are whose is not in the checkpoint."""
    empty = replace(BROKER, spans={})
    seen = SourcesSeen(brokers=(empty, replace(empty, servers="other:9092")))
    one = examinee(files_of("kafka", "4.2.0"), job=kafka_job())
    assert not CODES & found(replace(one, sources=Seen(seen=seen))).keys()


def test_a_pending_batch_needs_the_records_before_it() -> None:
    """It runs again from the offsets of the batch before."""
    files = without(files_of("kafka", "4.2.0"), "commits/3")
    one = examinee(files, job=kafka_job())
    expired = spans({("orders", 0): Span(8, 9)})
    assert "HF2369" not in told(expired)
    finding = found(replace(one, sources=Seen(seen=SourcesSeen(brokers=(expired,)))))["HF2369"]
    assert "record 6 is next, the topic begins at 8" in finding.message
