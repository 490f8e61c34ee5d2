"""Offsets that no reader knows: connectors by their shape, Python sources, any JSON.

The shapes of kinesis-sql (qubole), Pulsar (streamnative), Hudi, Paimon and MongoDB's connector were
read in source code. Those of Databricks' Auto Loader, Pub/Sub and Kinesis, whose code is closed,
come from a copy of its documentation of progress metrics; Auto Loader's also from published logs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from holdfast.format.sources.offset import (
    NOT_MINE,
    POSSIBLE,
    Amount,
    NotJson,
    OffsetReader,
    Recognition,
    SourceEvidence,
    is_integer,
)
from holdfast.wording import counted


@dataclass(frozen=True)
class Connector:
    """A connector's name, how its offsets look, and how far one says that it was read."""

    name: str
    fits: Callable[[Any], bool]
    position: Callable[[Any], str]


def recognise_connector(value: object) -> Connector | None:
    """Return the connector that writes offsets of this shape; None when no known one does."""
    return next((connector for connector in CONNECTORS if connector.fits(value)), None)


def _has(value: object, *keys: str) -> bool:
    return isinstance(value, dict) and set(keys) <= set(value)


def _is_auto_loader(value: Any) -> bool:
    marks = ("lastBackfillStartTimeMs", "lastInputPath")
    return _has(value, "seqNum", "sourceVersion") and any(mark in value for mark in marks)


def _is_kinesis(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(_has(item, "shard") and _has(item["shard"], "stream", "shardId") for item in value)
    )


def _is_kinesis_sql(value: Any) -> bool:
    return _has(value, "metadata") and _has(value["metadata"], "batchId", "streamName")


def _is_pulsar(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and bool(value)
        and all("persistent://" in topic for topic in value)
        and all(isinstance(message, list) for message in value.values())
        and all(is_integer(byte) for message in value.values() for byte in message)
    )


def _is_paimon(value: Any) -> bool:
    return _has(value, "snapshotId", "index", "scanSnapshot")


def _is_mongodb(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    if set(value) == {"_data"}:
        return True
    offset = value.get("offset")
    return set(value) == {"version", "offset"} and (
        _has(offset, "_data") or _has(offset, "$timestamp")
    )


CONNECTORS = (
    Connector("auto loader", _is_auto_loader, lambda value: f"file number {value['seqNum']}"),
    Connector(
        "pub/sub",
        lambda value: _has(value, "seqNum", "sourceVersion", "fetchEpoch"),
        lambda value: f"sequence number {value['seqNum']}",
    ),
    Connector("kinesis", _is_kinesis, lambda value: counted(len(value), "shard")),
    Connector("kinesis-sql", _is_kinesis_sql, lambda value: counted(len(value) - 1, "shard")),
    Connector("pulsar", _is_pulsar, lambda value: counted(len(value), "topic")),
    Connector(
        "hudi",
        lambda value: isinstance(value, dict) and set(value) == {"offsetCommitTime"},
        lambda value: f"commit {value['offsetCommitTime']}",
    ),
    Connector("paimon", _is_paimon, lambda value: f"snapshot {value['snapshotId']}"),
    Connector("mongodb", _is_mongodb, lambda _: "a position in a change stream"),
)


_DIFFERENCES = (
    "parts are differences of numbers in the offset; only the source knows what they count"
)


class UnknownOffsetReader(OffsetReader[object]):
    """Shows any JSON value, and text that is not even JSON."""

    kind = "unknown"
    formats = frozenset[str]()

    def recognises(self, evidence: SourceEvidence) -> Recognition:  # noqa: ARG002 - claims none
        """Claim nothing: this reader is what remains when no other one is sure."""
        return NOT_MINE

    def decode(self, text: str) -> object:
        """Decode JSON; give other text as it is, because a custom source may write any."""
        value = SourceEvidence(text).value
        # A null stays text too: None would say that there is no offset.
        return text if value is None or isinstance(value, NotJson) else value

    def summary(self, decoded: object) -> str:
        """Name the likely connector and its position, else the fields."""
        connector = recognise_connector(decoded)
        if connector is not None:
            return f"{connector.name}? {connector.position(decoded)}"
        return show_value(decoded)

    def amount(self, before: object | None, after: object) -> Amount:
        """Return the differences of the numbers in both, and no total."""
        return difference(before, after)

    def went_back(self, before: object, after: object) -> str | None:
        """Compare bare numbers: every source that is known to write them only counts up."""
        if not (is_integer(before) and is_integer(after)):
            return None
        return f"the offset went back from {before} to {after}" if after < before else None


def show_value(value: object) -> str:
    """Write a JSON value for people: `number: 12, note: …`."""
    if isinstance(value, dict) and value:
        return ", ".join(f"{key}: {_compact(inner)}" for key, inner in value.items())
    return _compact(value)


def difference(before: object | None, after: object) -> Amount:
    """Measure what a source of unknown meaning moved by."""
    if before is None:
        return Amount("unknown", None, note="there is no offset before this one")
    if _canonical(before) == _canonical(after):
        return Amount("unknown", 0)
    old, new = dict(_numbers(before)), dict(_numbers(after))
    parts = {path: new[path] - old[path] for path in new if path in old}
    note = _DIFFERENCES if parts else "no number is in both offsets"
    return Amount("unknown", None, parts, note)


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def _compact(value: object) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _numbers(value: object, path: str = "") -> Iterator[tuple[str, int]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _numbers(inner, f"{path}.{key}" if path else key)
    elif is_integer(value):
        yield path or "value", value


class PythonOffsetReader(UnknownOffsetReader):
    """Reads any JSON; only a name that somebody told, never the shape, speaks for this source."""

    kind = "python"
    formats = frozenset(("python", "pythondatasourcev2"))

    def recognises(self, evidence: SourceEvidence) -> Recognition:
        """Return whether a provider or a format is known at all."""
        return POSSIBLE if evidence.provider or evidence.declared_format else NOT_MINE

    def summary(self, decoded: object) -> str:
        """Show the fields."""
        return show_value(decoded)
