"""Reads from the lines of an event log what they say of streaming queries.

Lines of other events, which are most of a log, are passed over without being parsed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

_STREAMING = "org.apache.spark.sql.streaming.StreamingQueryListener$"
_EXECUTION = "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart"
_WANTED = tuple(
    one.encode()
    for one in (
        "SparkListenerLogStart",
        "SparkListenerApplicationStart",
        "SparkListenerJobStart",
        "QueryProgressEvent",
        "SparkListenerSQLExecutionStart",
    )
)
_HEAD = 160
"""The name of an event is among the first characters of its line."""
_BATCH = re.compile(r"^id = (?P<id>\S+)\nrunId = (?P<run>\S+)\nbatch = (?P<batch>\d+)$", re.M)
_SETTINGS = "spark.sql."
_QUERY_ID = "sql.streaming.queryId"
_RAN = "addBatch"
"""A phase that only a batch has which ran; a query that waits reports progress too."""


@dataclass(frozen=True)
class LoggedNode:
    """One operator of a physical plan."""

    name: str
    text: str
    children: tuple[LoggedNode, ...] = ()

    def walk(self) -> Iterator[LoggedNode]:
        """Yield this node and all below it, from the top."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True)
class LoggedQuery:
    """One streaming query of an application, as its newest batch in the log shows it."""

    query_id: str
    name: str | None = None
    first_batch: int | None = None
    """The first batch of it that ran."""
    last_batch: int | None = None
    """The last batch of it that ran."""
    sources: tuple[str, ...] = ()
    """Spark's description of each source, in its order."""
    sink: str | None = None
    operators: tuple[str, ...] | None = None
    """Names of the stateful operators, from the top of the plan; None where no batch ran."""
    plan: LoggedNode | None = None
    plan_text: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Settings of SQL that are set in its session."""


@dataclass(frozen=True)
class EventLog:
    """What an event log says of streaming queries."""

    spark: str | None = None
    application: str | None = None
    queries: tuple[LoggedQuery, ...] = ()


def decode_events(lines: Iterable[bytes]) -> EventLog:
    """Return what the lines say; raise ValueError where they are no event log.

    The last line of a log that is being written may be cut, and is passed over.
    """
    log = EventLog()
    queries: dict[str, LoggedQuery] = {}
    torn = False
    for line in lines:
        if torn:
            raise ValueError("a line is not JSON")
        if not _is_wanted(line):
            continue
        try:
            event = json.loads(line)
            log = _applied(log, queries, event)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            torn = True
    if log.spark is None:
        raise ValueError("it does not begin with an event of Spark's")
    return replace(log, queries=tuple(queries.values()))


def _is_wanted(line: bytes) -> bool:
    head = line[:_HEAD]
    return any(one in head for one in _WANTED)


def _applied(log: EventLog, queries: dict[str, LoggedQuery], event: dict[str, Any]) -> EventLog:
    kind = event["Event"]
    if kind == "SparkListenerLogStart":
        return replace(log, spark=str(event["Spark Version"]))
    if kind == "SparkListenerApplicationStart":
        return replace(log, application=str(event["App Name"]))
    if kind == f"{_STREAMING}QueryProgressEvent":
        _progress(queries, event["progress"])
    elif kind == _EXECUTION:
        _execution(queries, event)
    elif kind == "SparkListenerJobStart":
        _job(queries, event.get("Properties") or {})
    return log


def _query(queries: dict[str, LoggedQuery], query_id: str) -> LoggedQuery:
    return queries.get(query_id) or LoggedQuery(query_id)


def _progress(queries: dict[str, LoggedQuery], progress: dict[str, Any]) -> None:
    if _RAN not in progress["durationMs"]:
        return
    one = _query(queries, progress["id"])
    batch = int(progress["batchId"])
    queries[one.query_id] = replace(
        one,
        name=progress.get("name"),
        first_batch=batch if one.first_batch is None else min(batch, one.first_batch),
        last_batch=batch,
        sources=tuple(str(source["description"]) for source in progress["sources"]),
        sink=str(progress["sink"]["description"]),
        operators=tuple(str(state["operatorName"]) for state in progress["stateOperators"]),
    )


def _execution(queries: dict[str, LoggedQuery], event: dict[str, Any]) -> None:
    """Keep the plan of a batch; what a sink computes from its rows has another root."""
    batch = _BATCH.search(event["description"])
    if batch is None or event.get("rootExecutionId", event["executionId"]) != event["executionId"]:
        return
    one = _query(queries, batch["id"])
    queries[one.query_id] = replace(
        one, plan=_node(event["sparkPlanInfo"]), plan_text=str(event["physicalPlanDescription"])
    )


def _node(node: dict[str, Any]) -> LoggedNode:
    children = tuple(map(_node, node["children"]))
    return LoggedNode(str(node["nodeName"]), str(node["simpleString"]), children)


def _job(queries: dict[str, LoggedQuery], properties: Mapping[str, str]) -> None:
    query_id = properties.get(_QUERY_ID)
    if query_id is None:
        return
    one = _query(queries, query_id)
    settings = {
        name: str(value) for name, value in properties.items() if name.startswith(_SETTINGS)
    }
    queries[query_id] = replace(one, settings=settings)
