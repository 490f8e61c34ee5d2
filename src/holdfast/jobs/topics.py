"""Says which Kafka topics a source reads and a sink writes, from their options alone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_SERVERS = "kafka.bootstrap.servers"


@dataclass(frozen=True)
class Topics:
    """Topics of one cluster, by name or by a pattern."""

    servers: frozenset[str]
    names: frozenset[str] = frozenset()
    pattern: str | None = None

    def meet(self, other: Topics) -> bool:
        """Whether a topic is in both: a server that both name makes the clusters one."""
        if not self.servers & other.servers:
            return False
        return bool(self.names & other.names or self._fits(other) or other._fits(self))

    def _fits(self, other: Topics) -> bool:
        if self.pattern is None:
            return False
        try:
            return any(re.fullmatch(self.pattern, name) for name in other.names)
        except re.error:
            # Kafka's patterns are Java's; one that Python does not know is left to Spark.
            return False


def topics_of(options: Mapping[str, str]) -> Topics:
    """Give the topics that the options of a Kafka source or sink name."""
    given = {key.lower(): value for key, value in options.items()}
    servers = frozenset(
        one.strip().lower() for one in given.get(_SERVERS, "").split(",") if one.strip()
    )
    return Topics(servers, frozenset(_names(given)), given.get("subscribepattern"))


def _names(given: Mapping[str, str]) -> Iterator[str]:
    for key in ("subscribe", "topic"):
        yield from (one.strip() for one in given.get(key, "").split(",") if one.strip())
    try:
        assigned = json.loads(given.get("assign", "{}"))
    except (ValueError, RecursionError):
        return
    if isinstance(assigned, dict):
        yield from map(str, assigned)
