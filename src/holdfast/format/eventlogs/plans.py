"""What the physical plan and the descriptions in an event log say of a query."""

from __future__ import annotations

import re
from dataclasses import dataclass

from holdfast.format.eventlogs.events import LoggedNode, LoggedQuery

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
