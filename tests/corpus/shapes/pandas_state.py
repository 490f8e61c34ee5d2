"""applyInPandasWithState: a user's function with one state value per key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas

from tests.corpus.bench import Bench
from tests.corpus.shapes.shape import EVERY, NEWEST, OLDEST_AND_NEWEST, ROCKSDB, Shape

OUTPUT = "key string, seen long"
STATE = "seen long, last string"

# Without this setting a processing-time timeout keeps an available-now query alive for ever.
ENDING = {"spark.sql.streaming.noDataMicroBatches.enabled": "false"}


def count_rows(
    key: tuple[Any, ...], frames: Iterator[pandas.DataFrame], state: Any
) -> Iterator[pandas.DataFrame]:
    """Counts the rows of a key in its state."""
    seen = state.get[0] if state.exists else 0
    seen += sum(len(frame) for frame in frames)
    state.update((seen, f"seen {seen}"))
    yield pandas.DataFrame({"key": [key[0]], "seen": [seen]})


def count_rows_with_timeout(
    key: tuple[Any, ...], frames: Iterator[pandas.DataFrame], state: Any
) -> Iterator[pandas.DataFrame]:
    """As `count_rows`, with a timeout of an hour."""
    yield from count_rows(key, frames, state)
    state.setTimeoutDuration(3_600_000)


def without_timeout(bench: Bench) -> None:
    """State that never times out."""
    grouped = bench.events(3).where("key is not null").groupBy("key")
    frame = grouped.applyInPandasWithState(count_rows, OUTPUT, STATE, "update", "NoTimeout")
    bench.finish(frame.writeStream.format("noop").outputMode("update"))


def with_timeout(bench: Bench) -> None:
    """State with a processing-time timeout: the value row has one more column."""
    grouped = bench.events(3).where("key is not null").groupBy("key")
    frame = grouped.applyInPandasWithState(
        count_rows_with_timeout, OUTPUT, STATE, "update", "ProcessingTimeTimeout"
    )
    bench.finish(frame.writeStream.format("noop").outputMode("update"))


SHAPES = (
    Shape("pandas-state", "applyInPandasWithState, no timeout", without_timeout, EVERY, ENDING),
    Shape("pandas-state-timeout", "applyInPandasWithState", with_timeout, EVERY, ENDING),
    Shape(
        "pandas-state-rocksdb",
        "applyInPandasWithState, RocksDB",
        without_timeout,
        NEWEST,
        {**ENDING, **ROCKSDB},
    ),
    Shape(
        "pandas-state-format-1",
        "applyInPandasWithState, state format 1",
        without_timeout,
        OLDEST_AND_NEWEST,
        {**ENDING, "spark.sql.streaming.flatMapGroupsWithState.stateFormatVersion": "1"},
    ),
)
