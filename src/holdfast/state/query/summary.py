"""A store in numbers: keys, bytes, skew, event times, what the watermark drops next, growth."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holdfast.checkpoint.picture import Picture
from holdfast.format.buffers import arrow_numbers
from holdfast.state.columns import RowColumn, leaf_columns
from holdfast.state.layouts import StoreLayout, layouts_of
from holdfast.state.query.values import plain_values
from holdfast.state.reading import StateView, batch_changes, partition_bytes
from holdfast.state.results import EventTimes, Growth, PartitionSummary, StateSummary

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
        """Return the event time of each row."""
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
        return "the kind of the operator is not recorded, and no column has a watermark"
    if layout.operator_name not in (None, *_BY_WATERMARK):
        return "the user's function decides what is dropped"
    if any(one.name == _JOIN for one in picture.operators.values()):
        return "the watermark that reaches an operator after a join is not recorded"
    return None


def dropped_rows(times: pa.Array, watermark_ms: int) -> int:
    """Count the rows that a watermark drops: those whose time it has reached."""
    latest_ms = np.iinfo(np.int64).max // 1000
    micros = min(watermark_ms, latest_ms) * 1000
    watermark = arrow_numbers(np.array([micros], np.int64), _TIME)[0]
    return pc.sum(pc.less_equal(times, watermark)).as_py() or 0


_COMPLETE_MODE = "in output mode complete nothing is dropped"
_NO_WATERMARK = "no column has a watermark: rows are never dropped"

OpenAt = Callable[[int], StateView]
"""Opens the same store at another batch."""


class Summing:
    """Counts what passes by; nothing of the rows is kept."""

    def __init__(self, view: StateView) -> None:
        self._view = view
        self._keys = dict.fromkeys(view.partitions, 0)
        self._bytes = dict.fromkeys(view.partitions, 0)
        self._time = event_time_column(view.layout, view.schema)
        self._oldest: pa.Scalar | None = None
        self._newest: pa.Scalar | None = None
        self._dropped = 0
        commit = view.log.picture.commits.get(view.batch_id)
        self._watermark_ms = commit.next_watermark_ms if commit is not None else None

    def add(self, batch: pa.RecordBatch) -> None:
        """Count one batch; all of its rows are of one partition."""
        if not len(batch):
            return
        partition = batch.column("partition")[0].as_py()
        self._keys[partition] += len(batch)
        self._bytes[partition] += batch.nbytes
        if self._time is not None:
            self._add_times(self._time.times(batch))

    def _add_times(self, times: pa.Array) -> None:
        span = pc.min_max(times)
        if not span["min"].is_valid:
            return
        low, high = span["min"], span["max"]
        if self._oldest is None or low.value < self._oldest.value:
            self._oldest = low
        if self._newest is None or high.value > self._newest.value:
            self._newest = high
        if self._watermark_ms is not None:
            self._dropped += dropped_rows(times, self._watermark_ms)

    def summary(self, growth: Growth | None) -> StateSummary:
        """Return the numbers of everything that was counted."""
        view = self._view
        keys = sum(self._keys.values())
        mean = keys / len(self._keys) if self._keys else 0
        unknown = unknown_drops(view.log.picture, view.layout, self._time)
        note = _NO_WATERMARK if self._time is None else _COMPLETE_MODE if self._dropped else ""
        reported = unknown is None and self._watermark_ms is not None
        return StateSummary(
            keys=keys,
            row_bytes=sum(self._bytes.values()),
            file_bytes=sum(partition_bytes(view).values()),
            partitions=tuple(
                PartitionSummary(one, self._keys[one], self._bytes[one]) for one in self._keys
            ),
            skew=round(max(self._keys.values()) / mean, 2) if mean else None,
            event_time=self._event_times(),
            next_watermark_ms=self._watermark_ms,
            dropped_next=self._dropped if reported else None,
            dropped_next_note=note if unknown is None else unknown,
            growth=growth,
        )

    def _event_times(self) -> EventTimes | None:
        if self._time is None:
            return None
        return EventTimes(self._time.column.name, _text(self._oldest), _text(self._newest))


def growth_since(view: StateView, last_keys: int, open_at: OpenAt) -> Growth | None:
    """Compare with the oldest batch that can still be loaded; None where there is no older one."""
    picture = view.log.picture
    for batch in view.loadable_batches():
        if batch >= view.batch_id:
            break
        names = [layout.name for layout in layouts_of(picture, view.operator, batch)]
        if view.store in names:
            first_keys = sum(len(one) for one in open_at(batch).batches())
            changes = batch_changes(view, range(batch + 1, view.batch_id + 1))
            return Growth(batch, first_keys, last_keys, changes)
    return None


def _text(moment: pa.Scalar | None) -> str | None:
    if moment is None:
        return None
    times = arrow_numbers(np.array([moment.value], np.int64), moment.type)
    (text,) = plain_values(times, pa.field("time", moment.type))
    return str(text)
