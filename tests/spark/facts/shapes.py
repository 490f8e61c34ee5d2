"""Queries of every stateful kind, run once: what was read from their plans, what they wrote."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas
from pyspark.sql import functions

from holdfast import inspect
from holdfast.spark.facts import plan_facts

SCHEMA = "key string, at timestamp, value long"
ENDING = {"spark.sql.streaming.noDataMicroBatches.enabled": "false"}

Make = Callable[[Any, Any], Any]
"""Makes a frame of two streams."""


def timed(frame: Any) -> Any:
    """Give a stream its watermark."""
    return frame.withWatermark("at", "1 minute")


def outer(left: Any, right: Any) -> Any:
    """Join with a bound in time."""
    near = "l.key = r.key and l.at between r.at and r.at + interval 1 minute"
    condition = functions.expr(near)
    return timed(left).alias("l").join(timed(right).alias("r"), condition, "left_outer")


def chained(left: Any, _: Any) -> Any:
    """Give an aggregation of an aggregation."""
    minutes = timed(left).groupBy(functions.window("at", "1 minute"), "key").count()
    hours = functions.window(functions.window_time("window"), "1 hour")
    return minutes.groupBy(hours).agg(functions.sum("count"))


def counting(
    key: tuple[Any, ...], frames: Iterator[pandas.DataFrame], state: Any
) -> Iterator[pandas.DataFrame]:
    """Count the rows of a key."""
    state.update((sum(len(frame) for frame in frames),))
    yield pandas.DataFrame({"key": [key[0]]})


def deduplicated_windows(left: Any, _: Any) -> Any:
    """Give an aggregation over a deduplication."""
    once = timed(left).dropDuplicates(["key", "at"])
    return once.groupBy(functions.window("at", "1 minute")).count()


SHAPES: dict[str, tuple[str, Make]] = {
    "stateless": ("append", lambda left, _: left.where("value > 0")),
    "aggregation": ("update", lambda left, _: left.groupBy("key").count()),
    "sorted": ("complete", lambda left, _: left.groupBy("key").count().orderBy("key").limit(1)),
    "approximate": (
        "update",
        lambda left, _: left.groupBy("key").agg(functions.approx_count_distinct("value")),
    ),
    "windowed": (
        "append",
        lambda left, _: timed(left).groupBy(functions.window("at", "1 minute")).count(),
    ),
    "chained": ("append", chained),
    "deduplicated": ("append", lambda left, _: left.dropDuplicates(["key"])),
    "deduplicated-windows": ("append", deduplicated_windows),
    "within-watermark": (
        "append",
        lambda left, _: timed(left).dropDuplicatesWithinWatermark(["key"]),
    ),
    "inner-join": ("append", lambda left, right: left.join(right, "key")),
    "outer-join": ("append", outer),
    "session": (
        "append",
        lambda left, _: (
            timed(left).groupBy(functions.session_window("at", "1 minute"), "key").count()
        ),
    ),
    "limit": ("append", lambda left, _: left.limit(3)),
    "pandas": (
        "update",
        lambda left, _: left.groupBy("key").applyInPandasWithState(
            counting, "key string", "seen long", "update", "NoTimeout"
        ),
    ),
    "union": (
        "append",
        lambda left, right: left.dropDuplicates(["key"]).union(right.limit(2)),
    ),
    "self-union": ("append", lambda left, _: left.union(left)),
    "self-join": ("append", lambda left, _: left.alias("l").join(left.alias("r"), "key")),
}


def two_streams(spark: Any, folder: Path) -> tuple[Any, Any]:
    """Return two streams of files with one row each."""
    found = []
    for name in ("left", "right"):
        (folder / name).mkdir()
        row = '{"key":"a","at":"2026-01-01T00:00:00Z","value":1}'
        (folder / name / "one.json").write_text(row, encoding="utf-8")
        found.append(spark.readStream.schema(SCHEMA).json(str(folder / name)))
    return found[0], found[1]


def planned_and_written(name: str, streams: tuple[Any, Any], checkpoint: Path) -> tuple[Any, Any]:
    """Return sources, operators and schemas by the plan, and by the checkpoint of a first batch."""
    mode, make = SHAPES[name]
    frame = make(*streams)
    plan = plan_facts(frame, {}, mode)
    run_once(frame, mode, checkpoint)
    found = inspect(checkpoint).result
    query = plan.query
    assert query is not None and query.operators is not None and query.unknown == ()
    assert [operator.id for operator in found.operators] == list(range(len(found.operators)))
    return (
        {
            "sources": list(plan.sources or ()),
            "operators": list(plan.operators or ()),
            "stores": [planned_stores(operator.stores) for operator in query.operators],
        },
        {
            "sources": [source.kind for source in found.sources],
            "operators": [operator.name for operator in found.operators],
            "stores": [written_stores(operator.stores) for operator in found.operators],
        },
    )


def run_once(frame: Any, mode: str, checkpoint: Path) -> None:
    """Run what is available into nothing."""
    writer = frame.writeStream.format("noop").outputMode(mode).trigger(availableNow=True)
    query = writer.option("checkpointLocation", str(checkpoint)).start()
    query.awaitTermination()


def planned_stores(stores: Any) -> dict[str, Any]:
    """Return the schemas by the plan, by the names of the stores."""
    return {
        store.name: [
            [[one.name, one.type, one.nullable] for one in side]
            for side in (store.keys, store.values)
        ]
        for store in stores
    }


def written_stores(stores: Any) -> dict[str, Any]:
    """Return the schemas in a checkpoint, by the names of the stores."""
    return {
        store.name: [
            [[one.name, one.type_text, one.nullable] for one in side]
            for side in (store.key_schema, store.value_schema)
        ]
        for store in stores
    }
