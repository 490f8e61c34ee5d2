"""Stored offsets of Kafka sources against what the broker still has."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.diagnosis.inspection.kafkabroker import BrokerSeen, Partition, Span
from holdfast.diagnosis.inspection.sources import StartOffsets, next_records
from holdfast.diagnosis.inspection.subject import Subject
from holdfast.findings import Finding, Place, Severity

_SHOWN = 20
"""How many partitions a finding lists."""


def check_records_there(subject: Subject) -> Iterator[Finding]:
    """Report partitions whose next record is not in the topic any more, or not yet again."""
    start, broker = next_records(subject.picture), _only_broker(subject)
    if start is None or broker is None:
        return
    wrong = {one: told for one, at in start.offsets.items() if (told := _gone(broker, one, at))}
    if wrong:
        (topic, partition), told = min(wrong.items())
        message = f"{topic} partition {partition}: {told}"
        if len(wrong) > 1:
            message += f" (and {len(wrong) - 1} more)"
        yield _finding("HF2369", message, start, wrong)


def check_same_topic(subject: Subject) -> Iterator[Finding]:
    """Report topics whose first record is newer than the last batch, which is past it."""
    start, broker = next_records(subject.picture), _only_broker(subject)
    if start is None or broker is None:
        return
    wrong: dict[Partition, str] = {}
    for one, at in start.offsets.items():
        span = broker.spans.get(one)
        if span is not None and _began_later(span, at):
            wrong[one] = f"the checkpoint is at {at}; the first record, {span.first}, is newer"
    if wrong:
        (topic, partition), told = min(wrong.items())
        message = f"{topic} partition {partition}: {told} than batch {start.batch_id}"
        yield _finding("HF2370", message, start, wrong)


def check_brokers_asked(subject: Subject) -> Iterator[Finding]:
    """Report brokers that could not be asked."""
    for broker in subject.sources.brokers:
        if broker.failure is not None:
            message = f"Kafka at {broker.servers or 'unknown servers'} was not asked: "
            message += broker.failure
            severity = Severity.WARNING if broker.tried else Severity.INFO
            evidence = {"servers": broker.servers, "reason": broker.failure}
            yield Finding("HF2368", severity, message, Place(""), evidence)


def _only_broker(subject: Subject) -> BrokerSeen | None:
    """Return what the one broker said; with several, whose offsets are whose is not certain."""
    brokers = subject.sources.brokers
    if len({one.servers for one in brokers}) != 1 or brokers[0].failure is not None:
        return None
    return brokers[0]


def _gone(broker: BrokerSeen, partition: Partition, at: int) -> str | None:
    span = broker.spans.get(partition)
    if span is None:
        what = "the partition" if partition[0] in broker.topics else "the topic"
        return f"{what} does not exist any more"
    if at < span.first:
        return f"record {at} is next, the topic begins at {span.first}"
    if at > span.following:
        return f"record {at} is next, the topic ends before {span.following}"
    return None


def _began_later(span: Span, at: int) -> bool:
    """Tell whether every record that is there came after the batch that was past them."""
    return span.first < at <= span.following and span.first_since == span.first


def _finding(code: str, message: str, start: StartOffsets, wrong: dict[Partition, str]) -> Finding:
    shown = {f"{topic}-{number}": told for (topic, number), told in sorted(wrong.items())}
    evidence = {"partitions": dict(list(shown.items())[:_SHOWN]), "count": len(shown)}
    place = Place(f"offsets/{start.batch_id}", line=3)
    return Finding(code, Severity.FATAL, message, place, evidence)
