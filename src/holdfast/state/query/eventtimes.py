"""Where a store keeps the event time of its rows, and which rows the watermark drops."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holdfast.checkpoint.picture import Picture
from holdfast.format.arrowarrays import arrow_numbers
from holdfast.state.layouts import StoreLayout
from holdfast.state.rowcolumns import RowColumn, leaf_columns

_DELAY = "spark.watermarkDelayMs"
"""In a column's metadata: it is the event time of its rows, and has a watermark."""
_EXPIRY = ("value", "expiresAtMicros")
"""What a deduplication within the watermark keeps: drop at this watermark."""
_JOIN = "symmetricHashJoin"
_BY_WATERMARK = (
    "stateStoreSave",
    "dedupe",
    "dedupeWithinWatermark",
    "sessionWindowStateStoreSaveExec",
    "globalLimit",
)
"""Operators that drop a row as soon as the watermark reaches its time, and never without one."""
_TIME = pa.timestamp("us", tz="UTC")


@dataclass(frozen=True)
class EventTimeColumn:
    """The column that the watermark is compared with."""

    column: RowColumn

    def times(self, batch: pa.RecordBatch) -> pa.Array:
        """Give the event time of each row."""
        return self.column.values(batch).cast(_TIME)


def event_time_column(layout: StoreLayout, schema: pa.Schema) -> EventTimeColumn | None:
    """Find the column with the event time: of a window, its end; None where nothing tells it."""
    named = [
        *(("key", *path) for path in _tagged_paths(layout.key_json)),
        *(("value", *path) for path in _tagged_paths(layout.value_json)),
    ]
    leaves = leaf_columns(schema)
    if [leaf.names for leaf in leaves if leaf.names[0] == "value"] == [_EXPIRY]:
        named.append(_EXPIRY)
    for names in named:
        for leaf in leaves:
            if leaf.names == names and _is_time(leaf.field.type):
                return EventTimeColumn(leaf)
    return None


def _is_time(kind: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(kind) or pa.types.is_int64(kind))


def _tagged_paths(schema_json: str | None) -> list[tuple[str, ...]]:
    fields = [] if schema_json is None else json.loads(schema_json)["fields"]
    found: list[tuple[str, ...]] = []
    for field in fields:
        metadata = field.get("metadata")
        if isinstance(metadata, dict) and _DELAY in metadata:
            name = field["name"]
            found.append((name, "end") if isinstance(field["type"], dict) else (name,))
    return found


def unknown_drops(
    picture: Picture, layout: StoreLayout, column: EventTimeColumn | None
) -> str | None:
    """Say why nobody can tell from the files which rows the watermark drops; None if it can be."""
    if layout.store.startswith(("left-", "right-")) or layout.operator_name == _JOIN:
        return "a join drops rows by its condition, which the checkpoint does not record"
    if layout.operator_name is None and column is None:
        return "nothing records what the operator is, and no column has a watermark"
    if layout.operator_name not in (None, *_BY_WATERMARK):
        return "the user's function decides what is dropped"
    if any(one.name == _JOIN for one in picture.operators.values()):
        return "the watermark that reaches an operator beside a join is not recorded"
    return None


def dropped_rows(times: pa.Array, watermark_ms: int) -> int:
    """Count the rows that a watermark drops: those whose time it has reached."""
    latest_ms = np.iinfo(np.int64).max // 1000
    micros = min(watermark_ms, latest_ms) * 1000
    watermark = arrow_numbers(np.array([micros], np.int64), _TIME)[0]
    return pc.sum(pc.less_equal(times, watermark)).as_py() or 0
