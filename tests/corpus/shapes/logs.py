"""Newer and rarer forms of the offsets and commits logs."""

from __future__ import annotations

import time
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.streaming.readwriter import DataStreamWriter

from tests.corpus import inputs
from tests.corpus.bench import Bench
from tests.corpus.shapes.shape import EVERY, OLDEST_AND_NEWEST, SINCE_4_2, Shape
from tests.corpus.shapes.sources import five_a_batch, rate_micro_batch
from tests.corpus.shapes.stateless import stateless, two_sources

EVOLUTION = "spark.sql.streaming.queryEvolution"


def asynchronous(bench: Bench) -> None:
    """Progress is written about every half second, batches come five times as often."""
    writer = five_a_batch(bench).writeStream.format("noop")
    writer = writer.option("asyncProgressTrackingEnabled", "true")
    writer = writer.option("asyncProgressTrackingCheckpointIntervalMs", "500")
    bench.run_until(writer.trigger(processingTime="100 milliseconds"), 20)


def continuous(bench: Bench) -> None:
    """Epochs instead of batches."""
    frame = bench.spark.readStream.format("rate").option("rowsPerSecond", "2").load()
    query = bench.start(frame.writeStream.format("noop").trigger(continuous="300 milliseconds"))
    commits = bench.checkpoint / "commits"
    bench.wait(query, lambda: commits.is_dir() and len(list(commits.glob("[0-9]*"))) > 3)
    query.stop()
    bench.record(query)


def named_sources(bench: Bench) -> None:
    """Two sources with names; in the second run they come in another order, on 4.3 one is new."""
    orders, refunds = named(bench, "orders", range(2)), named(bench, "refunds", range(2))
    bench.finish(orders.union(refunds).writeStream.format("noop"))
    orders, refunds = named(bench, "orders", range(2, 3)), named(bench, "refunds", range(0))
    if bench.spark.version >= "4.3":
        # 4.2.1 stops here: "There are [2] sources in the checkpoint offsets".
        refunds = refunds.union(named(bench, "returns", range(1)))
    bench.finish(refunds.union(orders).writeStream.format("noop"))


def named(bench: Bench, name: str, numbers: range) -> DataFrame:
    """Writes some more batches and returns the file source with its name."""
    folder = bench.folder / f"in-{name}"
    inputs.write_batches(folder, numbers)
    reader: Any = bench.spark.readStream
    reader = reader.name(name).schema(inputs.SCHEMA).option("maxFilesPerTrigger", "1")
    frame: DataFrame = reader.json(str(folder))
    return frame


def named_sinks(bench: Bench) -> None:
    """A named sink, in the second run another one."""
    for number, name in enumerate(("bronze", "silver")):
        bench.finish(with_sink_name(bench.events(2, start=number * 2), name))
        time.sleep(0.1)


def with_sink_name(frame: DataFrame, name: str) -> DataStreamWriter:
    """Names the sink through the gateway: Python has no method for it."""
    writer: Any = frame.writeStream.format("noop")
    writer._jwrite = writer._jwrite.name(name)
    named_writer: DataStreamWriter = writer
    return named_writer


LOG_2 = {"spark.sql.streaming.offsetLog.formatVersion": "2"}

SHAPES = (
    Shape("asynchronous", "async progress tracking: ids with gaps", asynchronous, EVERY),
    Shape("continuous", "continuous processing", continuous, OLDEST_AND_NEWEST),
    Shape("offsets-v2", "offsets log version 2", stateless, SINCE_4_2, LOG_2),
    Shape("offsets-v2-two-sources", "offsets log version 2", two_sources, SINCE_4_2, LOG_2),
    Shape("offsets-v2-rate", "offsets log version 2", rate_micro_batch, ("4.3.0",), LOG_2),
    Shape(
        "named-sources",
        "source evolution: named sources, reordered and added",
        named_sources,
        SINCE_4_2,
        {f"{EVOLUTION}.enableSourceEvolution": "true"},
    ),
    Shape(
        "named-sinks",
        "sink evolution: commits version 3",
        named_sinks,
        SINCE_4_2,
        {f"{EVOLUTION}.enableSinkEvolution": "true"},
    ),
)
