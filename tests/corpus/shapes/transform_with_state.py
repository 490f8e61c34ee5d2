"""transformWithState in both interfaces: column families, timers, TTL, Avro."""

from __future__ import annotations

from functools import partial

from tests.corpus.bench import Bench
from tests.corpus.shapes.pandas_state import ENDING
from tests.corpus.shapes.shape import (
    CHANGELOG,
    FORMAT_2,
    NEWEST,
    ROCKSDB,
    SINCE_4_0,
    SINCE_4_1,
    STATE,
    Shape,
)

OUTPUT = "key string, total long"


def run(
    bench: Bench, processor: str, mode: str, interface: str = "InPandas", start: int = 0
) -> None:
    """Runs one processor over three batches."""
    # Spark 3.5 has no StatefulProcessor, and this module is imported there too.
    from tests.corpus import processors

    frame = bench.events(3, start=start).where("key is not null")
    if mode == "EventTime":
        frame = frame.withWatermark("at", "1 minute")
    transform = getattr(frame.groupBy("key"), f"transformWithState{interface}")
    made = transform(getattr(processors, processor)(), OUTPUT, "Update", mode)
    bench.finish(made.writeStream.format("noop").outputMode("update"))


def evolved(bench: Bench) -> None:
    """A second run has one variable more: new schema and metadata files."""
    run(bench, "PandasVariables", "None")
    run(bench, "PandasMoreVariables", "None", start=3)


BASE = {**ROCKSDB, **CHANGELOG, **ENDING}
AVRO = {f"{STATE}.encodingFormat": "avro"}

SHAPES = (
    Shape(
        "transform-pandas",
        "transformWithStateInPandas: value, list, map",
        partial(run, processor="PandasVariables", mode="None"),
        SINCE_4_0,
        BASE,
    ),
    Shape(
        "transform-pandas-timers",
        "transformWithStateInPandas with processing-time timers and TTL",
        partial(run, processor="PandasTimeToLive", mode="ProcessingTime"),
        SINCE_4_0,
        BASE,
    ),
    Shape(
        "transform-pandas-event-timers",
        "transformWithStateInPandas with event-time timers",
        partial(run, processor="PandasEventTimers", mode="EventTime"),
        SINCE_4_0,
        BASE,
    ),
    Shape(
        "transform-pandas-avro",
        "transformWithStateInPandas in Avro with timers and TTL",
        partial(run, processor="PandasTimeToLive", mode="ProcessingTime"),
        SINCE_4_0,
        {**BASE, **AVRO},
    ),
    Shape(
        "transform-pandas-zips",
        "transformWithStateInPandas without changelogs",
        partial(run, processor="PandasTimers", mode="ProcessingTime"),
        ("4.0.5", "4.3.0"),
        {**ROCKSDB, **ENDING},
    ),
    Shape(
        "transform-pandas-format-2",
        "transformWithStateInPandas, state checkpoint format 2",
        partial(run, processor="PandasVariables", mode="None"),
        NEWEST,
        {**BASE, **FORMAT_2},
    ),
    Shape(
        "transform-pandas-evolved",
        "transformWithStateInPandas, a variable added in the second run",
        evolved,
        ("4.0.5", "4.3.0"),
        BASE,
    ),
    Shape(
        "transform-rows",
        "transformWithState, row interface, timers and TTL",
        partial(run, processor="RowTimeToLive", mode="ProcessingTime", interface=""),
        SINCE_4_1,
        BASE,
    ),
)
