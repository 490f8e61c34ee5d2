"""Spark's event logs: which streaming queries an application ran, and what their plans say.

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


_STATE = re.compile(r"state info \[ .*?opId = (?P<id>\d+), .*?\](?P<rest>.*)", re.S)
_RESTORES = ("StateStoreRestore", "SessionWindowStateStoreRestore")
"""Operators that read the state that another one with the same id writes."""
_MODE = re.compile(r", (Append|Update|Complete)\b")
_WATERMARK = "EventTimeWatermark"
_COLUMN = re.compile(r"(?P<column>[^\s,]+#\d+)L?(?:-T\d+ms)?: timestamp")
_DESCRIPTION = re.compile(r"^(?P<kind>\w+)(?:\[(?P<inside>.*)\])?$", re.S)
_TOPICS = re.compile(r"^(?P<how>Subscribe|SubscribePattern|Assign)\[(?P<what>.*)\]$", re.S)
_KINDS = {
    "FileStreamSource": "file",
    "DeltaSource": "delta",
    "KafkaV2": "kafka",
    "KafkaSource": "kafka",
    "RateStreamV2": "rate",
    "RatePerMicroBatchStream": "rate-micro-batch",
    "TextSocketV2": "socket",
    "MemoryStream": "memory",
}
_OPTIONS = {"Subscribe": "subscribe", "SubscribePattern": "subscribePattern", "Assign": "assign"}


@dataclass(frozen=True)
class LoggedSource:
    """A source as its description names it."""

    kind: str
    """As checkpoints name it; `unknown` where nothing known is described like this."""
    identity: dict[str, str]
    """What is read, by the name of the option; empty where the description does not say it."""


def source_of(description: str) -> LoggedSource:
    """Return what the description of a source says.

    >>> source_of("KafkaV2[Subscribe[orders, refunds]]")
    LoggedSource(kind='kafka', identity={'subscribe': 'orders,refunds'})
    """
    found = _DESCRIPTION.match(description)
    kind = "unknown" if found is None else _KINDS.get(found["kind"], "unknown")
    inside = "" if found is None else found["inside"] or ""
    if kind in ("file", "delta"):
        return LoggedSource(kind, {"path": inside} if inside else {})
    topics = _TOPICS.match(inside) if kind == "kafka" else None
    if topics is not None:
        what = topics["what"]
        if topics["how"] == "Subscribe":
            what = ",".join(one.strip() for one in what.split(","))
        return LoggedSource(kind, {_OPTIONS[topics["how"]]: what})
    return LoggedSource(kind, {})


def operators_of(query: LoggedQuery) -> tuple[tuple[int, str], ...] | None:
    """Return id and name of each stateful operator by id; None where they cannot be matched."""
    if query.operators is None:
        return None
    nodes = [] if query.plan is None else [one for one in map(_state, _stateful(query.plan)) if one]
    ids = [int(one["id"]) for one in nodes]
    if len(ids) != len(query.operators):
        return None if len(query.operators) != 1 else ((0, query.operators[0]),)
    return tuple(sorted(zip(ids, query.operators, strict=True)))


def output_mode_of(query: LoggedQuery) -> str | None:
    """Return the output mode, which some stateful operators show; None where none does."""
    if query.plan is None:
        return None
    infos = [_state(one) for one in _stateful(query.plan)]
    found = [_MODE.search(one["rest"]) for one in infos if one is not None]
    modes = {one[1].lower() for one in found if one is not None}
    return modes.pop() if len(modes) == 1 else None


def watermarks_of(query: LoggedQuery) -> tuple[tuple[str, int], ...] | None:
    """Return column and delay in milliseconds of the watermark; None where that is not clear."""
    if query.plan is None:
        return None
    nodes = [one for one in query.plan.walk() if one.name == _WATERMARK]
    if not nodes:
        return ()
    column = _COLUMN.search(nodes[0].text)
    if len(nodes) > 1 or column is None:
        return None  # in which order the query names several is not known
    name = column["column"]
    delays = {int(one) for one in re.findall(rf"{re.escape(name)}L?-T(\d+)ms", query.plan_text)}
    return ((name.partition("#")[0], delays.pop()),) if len(delays) == 1 else None


def _stateful(plan: LoggedNode) -> list[LoggedNode]:
    return [one for one in plan.walk() if "state info [" in one.text and one.name not in _RESTORES]


def _state(node: LoggedNode) -> re.Match[str] | None:
    return _STATE.search(node.text)
