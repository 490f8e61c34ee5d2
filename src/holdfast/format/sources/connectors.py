"""Connectors from outside of Spark, recognised by the shape of their offsets alone.

The shapes of kinesis-sql (qubole), Pulsar (streamnative), Hudi, Paimon and MongoDB's connector were
read in source code. Those of Databricks' Auto Loader, Pub/Sub and Kinesis, whose code is closed,
come from a copy of its documentation of progress metrics; Auto Loader's also from published logs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from holdfast.format.sources.fields import is_integer
from holdfast.plurals import counted


@dataclass(frozen=True)
class Connector:
    """A connector's name, how its offsets look, and how far one says that it was read."""

    name: str
    fits: Callable[[Any], bool]
    position: Callable[[Any], str]


def recognise_connector(value: object) -> Connector | None:
    """Give the connector that writes offsets of this shape; None when no known one does."""
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
    Connector("mongodb", _is_mongodb, lambda _: "a place in a change stream"),
)
