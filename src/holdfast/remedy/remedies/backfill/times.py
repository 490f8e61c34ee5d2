"""Resolves a range of times to Kafka offsets or Delta versions, which the plan then keeps.

A plan is made again before it is applied. It is made from what the times were resolved to, so that
what arrives meanwhile does not move the range.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from holdfast.diagnosis.inspection.sources import BrokerSeen, Partition, Span, stored_partitions
from holdfast.errors import HoldfastError, PlanError, UsageError
from holdfast.format.logs.offsets import OffsetsEntry
from holdfast.ledgers.delta.moments import CommitTimes
from holdfast.ledgers.delta.transactions import TableSeen
from holdfast.records.moments import epoch_seconds
from holdfast.remedy.facts import Facts
from holdfast.remedy.sourcedata import GONE, not_asked, not_asked_kafka

FROM_TIME, TO_TIME = "from_time", "to_time"
"""The options in which a plan keeps the times that its range was resolved from."""


@dataclass(frozen=True)
class Times:
    """A range of times as it was asked for."""

    first: str
    last: str
    start_ms: int
    end_ms: int

    @classmethod
    def of(cls, first: str, last: str) -> Times | None:
        """Return the range; None where neither end is a time. Raise UsageError for half of one."""
        start, end = epoch_seconds(first), epoch_seconds(last)
        if start is None and end is None:
            return None
        if start is None or end is None:
            strange = first if start is None else last
            message = f"both ends must be times with a zone, such as 2026-01-01T00:00Z; {strange}"
            raise UsageError("HF1001", f"{message} is none")
        if end < start:
            raise UsageError("HF1001", f"the end {last} is before the beginning {first}")
        return cls(first, last, round(start * 1000), round(end * 1000))


@dataclass(frozen=True)
class Resolved:
    """The ends of a range as offsets or versions, and the times that they were resolved from."""

    first: str
    last: str
    from_time: str = ""
    to_time: str = ""
    """Both empty where the range was not asked for by times."""

    @property
    def options(self) -> Mapping[str, str]:
        """What the plan is made again from."""
        ends = {"from": self.first, "to": self.last}
        return ends | ({FROM_TIME: self.from_time, TO_TIME: self.to_time} if self.from_time else {})


def resolved(facts: Facts, entry: OffsetsEntry, kind: str, ends: Resolved) -> Resolved:
    """Return the range with its times resolved; raise UsageError or PlanError.

    Files are chosen by their times themselves, and stay as they are.
    """
    resolver = _RESOLVERS.get(kind)
    times = None if resolver is None else Times.of(ends.first, ends.last)
    if resolver is None or times is None:
        return ends
    first, last = resolver(facts, entry, times)
    return Resolved(first, last, times.first, times.last)


def time_notes(kind: str, ends: Resolved) -> tuple[str, ...]:
    """Return what is worth knowing of a range that was asked for by times."""
    if not ends.from_time:
        return ()
    times = f"the times {ends.from_time} and {ends.to_time}"
    kept = "the plan keeps them, whatever the source gets later"
    if kind == "kafka":
        return (f"{times} mean the offsets {ends.first} and {ends.last}; {kept}", _BY_PARTITION)
    return (f"{times} mean the versions {ends.first} and {ends.last}; {kept}",)


_BY_PARTITION = (
    "in each partition the range begins with the first record of its first time or later, and ends "
    "before the first one of its last time or later; where there is none, after the newest record. "
    "A record with an older timestamp than the one before it can be on the other side of an end"
)


def _kafka(facts: Facts, entry: OffsetsEntry, times: Times) -> tuple[str, str]:
    known = stored_partitions(facts.subject.picture, entry)
    seen = facts.sources.ask_kafka(known, (times.start_ms, times.end_ms))
    return offsets_between(seen, known, times, at=facts.location)


def offsets_between(
    seen: BrokerSeen, wanted: Collection[Partition], times: Times, *, at: str
) -> tuple[str, str]:
    """Return where a range of times begins and ends, as offsets of every partition.

    `seen` has the first records from both moments on. Raise PlanError where the broker could not be
    asked (HF4603), may have removed a part of the range (HF4612), or has nothing in it (HF4601).
    """
    if seen.failure is not None:
        raise not_asked_kafka(seen.failure, at=at)
    begins: dict[Partition, int] = {}
    ends: dict[Partition, int] = {}
    removed: list[Partition] = []
    for one in sorted(wanted):
        span = seen.spans.get(one)
        if span is None:
            message = f"{one[0]} partition {one[1]} no longer exists"
            raise PlanError("HF4612", message, at=at, why=GONE)
        begins[one], ends[one] = _offsets(span)
        # Had it records with this time or later that are gone, nothing would tell of them.
        if span.first > 0 and begins[one] <= span.first:
            removed.append(one)
            begins[one] = max(begins[one], span.first)
            ends[one] = max(ends[one], begins[one])
    first, last = _as_json(begins), _as_json(ends)
    is_empty = all(begins[one] == ends[one] for one in begins)
    if removed:
        raise _removed(seen, removed, times, None if is_empty else (first, last), at)
    if is_empty:
        message = f"no partition has a record from {times.first} to before {times.last}"
        raise PlanError("HF4601", message, at=at, why="there is nothing to compute again")
    return first, last


def _offsets(span: Span) -> tuple[int, int]:
    begin, end = (span.following if one is None else one for one in span.at_moments)
    # Timestamps need not rise with the offsets.
    return begin, max(begin, end)


def _removed(
    seen: BrokerSeen,
    removed: list[Partition],
    times: Times,
    left: tuple[str, str] | None,
    at: str,
) -> PlanError:
    topic, number = removed[0]
    first = seen.spans[topic, number].first
    more = f", and so in {len(removed) - 1} more" if len(removed) > 1 else ""
    message = (
        f"{topic} partition {number} no longer has the records before offset {first}, and none of "
        f"those left is older than {times.first}{more}: a part of the range may have been removed"
    )
    steps: tuple[str, ...] = (
        f"name a time from which every partition still has its records, not {times.first}",
    )
    if left is not None:
        ends = f"--from '{left[0]}' --to '{left[1]}'"
        steps += (f"if what is left is enough: holdfast plan backfill TARGET {ends}",)
    return PlanError("HF4612", message, at=at, why=GONE, next_steps=steps)


def _as_json(offsets: Mapping[Partition, int]) -> str:
    by_topic: dict[str, dict[str, int]] = {}
    for (topic, number), offset in sorted(offsets.items()):
        by_topic.setdefault(topic, {})[str(number)] = offset
    return json.dumps(by_topic)


def _delta(facts: Facts, _: OffsetsEntry, times: Times) -> tuple[str, str]:
    tables = facts.subject.sources.tables
    if len(tables) != 1:
        raise not_asked(_VERSIONS_UNKNOWN, at=facts.location)
    return versions_between(tables[0], times, at=facts.location)


_VERSIONS_UNKNOWN = "the Delta table of the source could not be asked when its versions were made"


def versions_between(table: TableSeen, times: Times, *, at: str) -> tuple[str, str]:
    """Return the first and the last version that were committed in a range of times.

    Raise PlanError where the log does not tell (HF4603), may have lost a part of the range
    (HF4612), or has no version in it (HF4601).
    """
    if table.reader is None or not table.log.versions:
        why = f": {table.failure.message}" if table.failure is not None else ""
        raise not_asked(f"{_VERSIONS_UNKNOWN}{why}", at=at)
    commits = CommitTimes(table.log, table.reader)
    try:
        found = commits.between(times.start_ms, times.end_ms)
        oldest = commits.versions[0]
        is_cut = oldest > 0 and commits.of(oldest) > times.start_ms
    except HoldfastError as error:
        raise not_asked(f"{_VERSIONS_UNKNOWN}: {error.message}", at=at) from error
    if is_cut:
        message = (
            f"the log of {table.location} begins with version {oldest}, which was committed after "
            f"{times.first}: a part of the range may have been removed"
        )
        steps: tuple[str, ...] = ()
        if found:
            ends = f"--from {found[0]} --to {found[-1]}"
            steps = (f"if what is left is enough: holdfast plan backfill TARGET {ends}",)
        raise PlanError("HF4612", message, at=at, why=GONE, next_steps=steps)
    if not found:
        message = f"{table.location} has no version that was committed from {times.first} to "
        why = "there is nothing to compute again"
        raise PlanError("HF4601", f"{message}{times.last}", at=at, why=why)
    return str(found[0]), str(found[-1])


_Resolver = Callable[[Facts, OffsetsEntry, Times], tuple[str, str]]
_RESOLVERS: Mapping[str, _Resolver] = {"kafka": _kafka, "delta": _delta}
