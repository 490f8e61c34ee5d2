"""What a Kafka source reads against what it read, whichever option names its topics."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from holdfast.records.facts import SourceFacts
from holdfast.restart.verdict import Change, Verdict

RULE = "HF3103"
LOST = "KAFKA_DATA_LOSS.PARTITIONS_DELETED"
_SUBSCRIBE, _PATTERN, _ASSIGN = "subscribe", "subscribepattern", "assign"
_FROM_ITS_FIRST = "is to be read from its first record"


@dataclass(frozen=True)
class Subscription:
    """What a source names: topics, partitions of them, or a pattern that topics match."""

    names: frozenset[str] = frozenset()
    partitions: frozenset[tuple[str, int]] | None = None
    """None where all of each topic are read."""
    pattern: str | None = None

    def matches(self, name: str) -> bool:
        """Tell whether a topic is read."""
        if self.pattern is None:
            return name in self.names
        try:
            return re.fullmatch(self.pattern, name) is not None
        except re.error:
            return False


def topics_of(identity: Mapping[str, str]) -> Subscription:
    """Return what the options of a Kafka source name."""
    given = {name.lower(): value for name, value in identity.items()}
    if _PATTERN in given:
        return Subscription(pattern=given[_PATTERN])
    if _ASSIGN in given:
        return _assigned(given[_ASSIGN])
    names = (one.strip() for one in given.get(_SUBSCRIBE, "").split(","))
    return Subscription(frozenset(filter(None, names)))


def _assigned(text: str) -> Subscription:
    try:
        found = {str(topic): [*map(int, several)] for topic, several in json.loads(text).items()}
    except (ValueError, TypeError, AttributeError):
        return Subscription(frozenset({text}))
    pairs = {(topic, number) for topic, several in found.items() for number in several}
    return Subscription(frozenset(found), frozenset(pairs))


def other_topics(subject: str, then: SourceFacts, after: SourceFacts) -> Change:
    """Judge a Kafka source that names other topics, or names them in another way."""
    before, now = topics_of(then.identity), topics_of(after.identity)
    old, new = (", ".join(one.identity.values()) for one in (then, after))
    gone = _gone(before, now)
    if gone or (before.partitions and now.partitions and before.partitions - now.partitions):
        return _lost(subject, after, gone or before.names, _not_in(now.names, before), old, new)
    if before.pattern is None and now.pattern is None and now.names - before.names:
        added = ", ".join(sorted(now.names - before.names))
        why = "Spark reads a new topic from its first record on"
        condition = f"{added} {_FROM_ITS_FIRST}"
    else:
        why = "Spark reads every partition that it has no offset of from its first record on"
        condition = _of_another_way(before, now)
    return Change(RULE, Verdict.CONDITIONAL, subject, old, new, why, condition)


def _gone(before: Subscription, now: Subscription) -> frozenset[str]:
    """Return what is certainly read no longer."""
    if before.pattern is None:
        return _not_in(before.names, now)
    is_other = now.pattern is None and not any(map(before.matches, now.names))
    return frozenset({before.pattern}) if is_other else frozenset()


def _of_another_way(before: Subscription, now: Subscription) -> str:
    """Say what must hold where the same topics may be read, named in another way."""
    if before.pattern is not None and now.pattern is not None:
        return (
            f"{now.pattern} matches every topic that {before.pattern} did, and any other "
            f"{_FROM_ITS_FIRST}"
        )
    if now.pattern is not None:
        return f"every other topic that {now.pattern} matches {_FROM_ITS_FIRST}"
    if before.pattern is not None:
        named = ", ".join(sorted(now.names))
        return f"{before.pattern} matched {named} and no other topic"
    if now.partitions is not None and before.partitions is None:
        return "the partitions that are named are all that the topics have"
    return f"every partition that was not read before {_FROM_ITS_FIRST}"


def _not_in(names: Collection[str], topics: Subscription) -> frozenset[str]:
    return frozenset(one for one in names if not topics.matches(one))


def _lost(
    subject: str,
    after: SourceFacts,
    gone: Collection[str],
    added: Collection[str],
    old: str,
    new: str,
) -> Change:
    """Judge offsets in the checkpoint of what is read no longer."""
    left = ", ".join(sorted(gone))
    options = {name.lower(): value.lower() for name, value in after.options.items()}
    if options.get("failondataloss") != "false":
        why = f"the stored offsets are of {left} too: Spark stops where it no longer reads it"
        return Change(RULE, Verdict.UNSAFE, subject, old, new, why, error=LOST)
    why = (
        f"with failOnDataLoss=false Spark drops the offsets of {left}: what was not read of it "
        "is never read, and a new topic is read from its first record"
    )
    condition = f"{left} was read to its end"
    if added:
        condition += f", and {', '.join(sorted(added))} {_FROM_ITS_FIRST}"
    return Change(RULE, Verdict.CONDITIONAL, subject, old, new, why, condition)
