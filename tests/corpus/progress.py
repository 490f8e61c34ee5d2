"""Keeps of a query's progress what a reader of its checkpoint can know."""

from __future__ import annotations

from typing import Any

SOURCE_FIELDS = ("description", "startOffset", "endOffset", "latestOffset", "numInputRows")
STATE_FIELDS = ("operatorName", "numRowsTotal", "numRowsUpdated", "numRowsRemoved")


def summarise(progress: dict[str, Any]) -> dict[str, Any]:
    """Returns offsets, row counts, watermark and state sizes of one batch."""
    return {
        "batchId": progress["batchId"],
        "timestamp": progress["timestamp"],
        "numInputRows": progress["numInputRows"],
        "watermark": progress.get("eventTime", {}).get("watermark"),
        "sources": [select(item, SOURCE_FIELDS) for item in progress["sources"]],
        "stateOperators": [select(item, STATE_FIELDS) for item in progress["stateOperators"]],
    }


def select(item: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Returns the named fields that `item` has."""
    return {name: item[name] for name in names if name in item}
