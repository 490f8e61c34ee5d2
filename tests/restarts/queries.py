"""Starts the streaming query of a base on real Spark, the same one at every start."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from tests.restarts.bases import Base

_FIRST_MODIFIED = 1_767_225_600


class SinkError(Exception):
    """Raised by a sink that was told to fail at a batch."""


@dataclass
class Sink:
    """A foreachBatch function that remembers its calls and the rows that it got."""

    raise_at: int | None = None
    called: list[int] = field(default_factory=list)
    delivered: list[tuple[int, list[str]]] = field(default_factory=list)
    error: Any = None

    def __call__(self, rows: DataFrame, batch_id: int) -> None:
        """Collects the rows of a batch; keeps the error, which py4j would turn into text."""
        self.called.append(batch_id)
        if batch_id == self.raise_at:
            raise SinkError(f"told to fail at batch {batch_id}")
        try:
            found = rows.collect()
        except Exception as error:
            self.error = error
            raise
        self.delivered.append((batch_id, sorted(" ".join(map(str, row)) for row in found)))


@dataclass(frozen=True)
class Places:
    """Where a query reads, writes and keeps its checkpoint."""

    root: Path
    name: str

    @property
    def inputs(self) -> Path:
        """The folder with one folder of text files for each source."""
        return self.root / "input"

    @property
    def checkpoint(self) -> Path:
        """The checkpoint of this query alone."""
        return self.root / self.name / "checkpoint"

    @property
    def output(self) -> Path:
        """The output folder of this query alone."""
        return self.root / self.name / "output"


def write_inputs(root: Path, count: int) -> None:
    """Leaves exactly `count` text files for each source, with fixed times of modification."""
    for side in ("left", "right"):
        folder = root / "input" / side
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.iterdir():
            old.unlink()
        for number in range(count):
            file = folder / f"{number}.txt"
            file.write_text(f"{side}-a {number}\n{side}-b {number}\n{side}-c {number}\n")
            os.utime(file, (_FIRST_MODIFIED + number, _FIRST_MODIFIED + number))


def start(spark: SparkSession, base: Base, places: Places, sink: Sink) -> Any:
    """Starts the query of a base, which ends when all its input is read."""
    writer = _rows(spark, base, places).writeStream.trigger(availableNow=True)
    writer = writer.option("checkpointLocation", str(places.checkpoint))
    if base.sink == "file":
        return writer.format("text").option("path", str(places.output)).start()
    if base.state != "none":
        writer = writer.outputMode("update")
    return writer.foreachBatch(sink).start()


def start_asynchronously(spark: SparkSession, base: Base, places: Places) -> Any:
    """Starts a query that writes offsets and commits only now and then, and never ends."""
    writer = _rows(spark, base, places).writeStream.trigger(processingTime="100 milliseconds")
    writer = writer.option("checkpointLocation", str(places.checkpoint)).format("noop")
    writer = writer.option("asyncProgressTrackingEnabled", "true")
    return writer.option("asyncProgressTrackingCheckpointIntervalMs", "350").start()


def _rows(spark: SparkSession, base: Base, places: Places) -> DataFrame:
    if base.source == "rate-micro-batch":
        rate = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", "2")
        return rate.option("numPartitions", "1").load().select(F.col("value").cast("string"))
    rows = _lines(spark, places, "left")
    if base.sources == 2:
        rows = rows.union(_lines(spark, places, "right"))
    if base.state != "none":
        rows = rows.groupBy(F.split("value", " ")[0].alias("word")).count()
    return rows


def _lines(spark: SparkSession, places: Places, side: str) -> DataFrame:
    reader = spark.readStream.format("text").option("maxFilesPerTrigger", "1")
    return reader.load(str(places.inputs / side))
