"""Gives a shape its folders, its session and the record of what Spark said while it ran."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from tests.corpus import inputs
from tests.corpus.progress import summarise

PATIENCE_SECONDS = 120


@dataclass
class Bench:
    """One shape's place to work: `in/`, `out/`, `checkpoint/` below `folder`."""

    spark: SparkSession
    folder: Path
    checkpoint: Path
    archives: Path
    settings: dict[str, str] = field(default_factory=dict)
    runs: list[dict[str, Any]] = field(default_factory=list)

    @property
    def source(self) -> Path:
        """The folder of the first input."""
        return self.folder / "in"

    @property
    def output(self) -> Path:
        """The folder of a file sink."""
        return self.folder / "out"

    def set(self, settings: dict[str, str]) -> None:
        """Sets session settings until the shape ends."""
        self.settings.update(settings)
        for key, value in settings.items():
            self.spark.conf.set(key, value)

    def events(self, count: int = 0, folder: str = "in", start: int = 0) -> DataFrame:
        """Writes `count` more batches and returns the stream that reads one file per batch."""
        place = self.folder / folder
        place.mkdir(parents=True, exist_ok=True)
        inputs.write_batches(place, range(start, start + count))
        reader = self.spark.readStream.schema(inputs.SCHEMA).option("maxFilesPerTrigger", "1")
        return reader.json(str(place))

    def finish(self, writer: DataStreamWriter) -> None:
        """Runs a query until its present input is used up."""
        query = self.start(writer.trigger(availableNow=True))
        self.wait(query, lambda: not query.isActive)
        self.record(query)

    def fail(self, writer: DataStreamWriter) -> None:
        """Runs a query that must fail, and keeps what Spark said about it."""
        query = self.start(writer.trigger(availableNow=True))
        self.wait(query, lambda: not query.isActive)
        if query.exception() is None:
            raise AssertionError("the query was meant to fail")
        self.record(query, failure_expected=True)

    def run_until(self, writer: DataStreamWriter, batch: int) -> None:
        """Runs a query of its own trigger until `batch` is done, then stops it."""
        query = self.start(writer)
        self.wait(query, lambda: last_batch(query) >= batch)
        query.stop()
        self.record(query)

    def start(self, writer: DataStreamWriter) -> StreamingQuery:
        """Starts a query on the shape's checkpoint."""
        return writer.option("checkpointLocation", str(self.checkpoint)).start()

    def wait(self, query: StreamingQuery, done: Callable[[], bool]) -> None:
        """Waits for a condition; a failed or endless query ends the wait."""
        limit = time.monotonic() + PATIENCE_SECONDS
        while not done() and query.isActive:
            if time.monotonic() > limit:
                query.stop()
                raise TimeoutError(f"no end after {PATIENCE_SECONDS} s: {query.lastProgress}")
            time.sleep(0.05)

    def record(self, query: StreamingQuery, failure_expected: bool = False) -> None:
        """Keeps the ids, the progress and the failure of an ended query."""
        failure = query.exception()
        if failure is not None and not failure_expected:
            raise failure
        reports = [json.loads(item.json()) for item in java_query(query).recentProgress()]
        self.runs.append(
            {
                "query_id": str(query.id),
                "run_id": str(query.runId),
                "failure": str(failure).splitlines()[0] if failure else None,
                "progress": [summarise(report) for report in reports],
            }
        )


def last_batch(query: StreamingQuery) -> int:
    """Returns the newest batch id that the query reported, or -1."""
    progress = java_query(query).lastProgress()
    return -1 if progress is None else int(progress.batchId())


def java_query(query: StreamingQuery) -> Any:
    """Returns the JVM's object: its progress reads the same in every Spark version."""
    return query._jsq
