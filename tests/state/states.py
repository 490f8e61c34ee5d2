"""Opens the state of samples, and tells its rows as Spark's reader shows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.checkpoint.reading import read_picture
from holdfast.state.layouts import TIMERS
from holdfast.state.reading import StateView, open_state
from holdfast.storage.memory import MemoryReader
from tests.format.sparkjson import spark_rows


def view_of(files: Mapping[str, bytes], **asked: Any) -> StateView:
    """Open one store of a checkpoint."""
    reader = MemoryReader(files)
    return open_state(reader, read_picture(reader), **asked)


def asked_by(told: Mapping[str, Any]) -> dict[str, Any]:
    """Ask for the store that Spark was asked for."""
    timers = TIMERS if told.get("readRegisteredTimers") else None
    store = timers or told.get("stateVarName") or told["storeName"]
    return {"operator": int(told["operatorId"]), "store": store}


def rows_of(view: StateView) -> list[dict[str, Any]]:
    """Give all rows with our columns."""
    return [row for batch in view.batches() for row in spark_rows(batch.to_struct_array())]


def as_spark_shows(view: StateView, row: dict[str, Any]) -> dict[str, Any]:
    """Name our columns as Spark does: by what a row stands for, the expiry inside of the value."""
    value = row["value"]
    if "expires_at_ms" in row:
        value = {"value": value, "ttlExpirationMs": row["expires_at_ms"]}
    shown = {"key": row["key"], "partition_id": row["partition"]}
    if view.store == TIMERS:
        return {**shown, **value}
    if "user_map_key" in row:
        return {**shown, "user_map_key": row["user_map_key"], "user_map_value": value}
    return {**shown, "list_element" if view.layout.shown == "list" else "value": value}
