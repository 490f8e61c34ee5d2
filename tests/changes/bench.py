"""A folder and a session for one version of a query: how it reads, and how it runs to its end."""

from __future__ import annotations

import importlib
import json
import linecache
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import Any

from pyspark import cloudpickle
from pyspark.sql import functions as F  # noqa: N812

from tests.changes.inputs import NO_BROKER, SCHEMA, broker_of, topic_of
from tests.changes.pair import Query

CHECKPOINT = "checkpoint"
LONGEST_RUN_S = 60
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SETTINGS = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.streaming.pollingDelay": "5ms",
    "spark.sql.streaming.stopTimeout": "30s",
}
Row = tuple[str, ...]
_MODULES = Lock()


class HangError(Exception):
    """Raised for a query that does not end by itself."""


@dataclass
class Bench:
    """Everything that one version of a query sees."""

    spark: Any
    folder: Path
    code: Mapping[str, ModuleType] = field(default_factory=dict)
    """The user's own modules, by name."""
    streaming: bool = True
    """Whether folders are read as streams; else as what they have now."""

    def orders(
        self, folder: str = "in", *, schema: str = SCHEMA, form: str = "json", **options: object
    ) -> Any:
        """Read a folder as a stream, one file per batch."""
        source = self.spark.readStream if self.streaming else self.spark.read
        reader = source.format(form).schema(schema)
        for name, value in {"maxFilesPerTrigger": 1, **options}.items():
            reader = reader.option(name, str(value))
        return reader.load(f"{self.folder}/{folder}")

    def messages(self, *topics: str, how: str = "subscribe", **options: object) -> Any:
        """Read topics as a stream of orders; `how` is the option that names them."""
        names = [topic_of(self.folder, one) for one in topics]
        named = {
            "subscribe": ",".join(names),
            "subscribePattern": "|".join(one.replace(".", r"\.", 1) for one in names),
            "assign": json.dumps({one: [0, 1] for one in names}),
        }
        given = {
            "kafka.bootstrap.servers": broker_of(self.folder) or NO_BROKER,
            "startingOffsets": "earliest",
            how: named[how],
            **{name.replace("__", "."): value for name, value in options.items()},
        }
        reader = self.spark.readStream.format("kafka")
        for name, value in given.items():
            reader = reader.option(name, str(value))
        parsed = F.from_json(F.col("value").cast("string"), SCHEMA).alias("o")
        return reader.load().select(parsed, "*").select("o.*", "*")

    def versions(self, table: str = "table", **options: object) -> Any:
        """Read a Delta table as a stream, one file per batch."""
        reader = self.spark.readStream.format("delta").option("maxFilesPerTrigger", "1")
        for name, value in options.items():
            reader = reader.option(name, str(value))
        return reader.load(f"{self.folder}/{table}")

    def view(self, name: str = "orders", folder: str = "in") -> Any:
        """Read a folder as a stream, give it a name for SQL, and return the session."""
        self.orders(folder).createOrReplaceTempView(name)
        return self.spark

    def rates(self, **options: object) -> Any:
        """Read Spark's generator of rows, a fixed number per batch."""
        reader = self.spark.readStream.format("rate-micro-batch").option("numPartitions", "1")
        for name, value in {"rowsPerBatch": 2, **options}.items():
            reader = reader.option(name, str(value))
        return reader.load()

    def static(self, name: str = "table", schema: str = "user string, level long") -> Any:
        """Read a folder as a table that is no stream."""
        return self.spark.read.schema(schema).json(str(self.folder / name))

    def keep_static(self, *rows: Mapping[str, Any], name: str = "table") -> None:
        """Write the table that is no stream again, with these rows alone."""
        (self.folder / name).mkdir(parents=True, exist_ok=True)
        text = "".join(f"{json.dumps(row)}\n" for row in rows)
        (self.folder / name / "rows.json").write_text(text, encoding="utf-8")


@dataclass
class Table:
    """A sink that remembers rows, and what computing them raised."""

    rows: list[Row] = field(default_factory=list)
    batches: int = 0
    failure: Exception | None = None

    def writer(self, query: Query) -> Any:
        """Return the function that Spark calls for every batch of one version of the query."""

        def keep(frame: Any, _batch_id: int) -> None:
            self.batches += 1
            try:
                found = [tuple(map(str, row)) for row in frame.collect()]
            except Exception as error:
                # py4j would turn it into text.
                self.failure = error
                raise
            self._take(found, query)

        return keep

    def _take(self, found: list[Row], query: Query) -> None:
        if query.mode == "complete":
            self.rows = found
            return
        if query.keys:
            new = {tuple(row[at] for at in query.keys): row for row in found}
            kept = [row for row in self.rows if self._key(row, query) not in new]
            self.rows = [*kept, *new.values()]
            return
        self.rows = [*self.rows, *found]

    @staticmethod
    def _key(row: Row, query: Query) -> Row:
        return tuple(row[at] for at in query.keys if at < len(row))


def session_of(spark: Any, settings: Mapping[str, str]) -> Any:
    """Return a session of its own with the settings of a query; the JVM is shared."""
    session = spark.newSession()
    for name, value in {**SETTINGS, **settings}.items():
        session.conf.set(name, value)
    return session


@contextmanager
def standing(spark: Any, query: Query, folder: Path) -> Iterator[Bench]:
    """Give what a version of the query sees, with its modules loaded from their text.

    Only one version stands at a time: modules of two may have one name.
    """
    with _MODULES:
        yield from _standing(spark, query, folder)


def _standing(spark: Any, query: Query, folder: Path) -> Iterator[Bench]:
    place = folder / "code"
    place.mkdir(parents=True, exist_ok=True)
    for name, text in query.code.items():
        (place / f"{name}.py").write_text(text, encoding="utf-8")
    # Compiled code of another version that is as long and as old would be taken for this one.
    shutil.rmtree(place / "__pycache__", ignore_errors=True)
    linecache.clearcache()
    sys.path.insert(0, str(place))
    loaded: dict[str, ModuleType] = {}
    try:
        for name in query.code:
            importlib.invalidate_caches()
            loaded[name] = importlib.import_module(name)
        for module in loaded.values():
            cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
        yield Bench(session_of(spark, query.settings), folder, loaded)
    finally:
        sys.path.remove(str(place))
        for name, module in loaded.items():
            cloudpickle.unregister_pickle_by_value(module)  # type: ignore[no-untyped-call]
            sys.modules.pop(name, None)


_ORDERED = ("EventTimeWatermark", "Deduplicate", "FlatMapGroups", "TransformWithState", "Limit",
            "first(", "last(", "collect_")  # fmt: skip
"""What makes an answer depend on the order of batches."""


def batch_answer(spark: Any, query: Query, folder: Path) -> list[Row] | None:
    """Return what the query gives over a folder at once; None where only a stream can say it."""
    with standing(spark, query, folder) as bench:
        plan = query.build(bench)._jdf.queryExecution().analyzed().toString()
        bench.streaming = False
        frame = query.build(bench)
    if query.sink != "rows" or frame.isStreaming:
        return None
    if any(one in plan for one in _ORDERED) or (query.mode == "update" and not query.keys):
        return None
    return [tuple(map(str, row)) for row in frame.collect()]


def run(spark: Any, query: Query, folder: Path, table: Table) -> None:
    """Start one version of the query on the folder's checkpoint and wait until input is used up."""
    with standing(spark, query, folder) as bench:
        frame = query.build(bench)
    writer = frame.writeStream.outputMode(query.mode).trigger(**query.trigger)
    writer = writer.option("checkpointLocation", str(folder / CHECKPOINT))
    for name, value in query.options.items():
        writer = writer.option(name, value)
    if query.partition_by:
        writer = writer.partitionBy(*query.partition_by)
    if query.sink == "rows":
        writer = writer.foreachBatch(table.writer(query))
    else:
        writer = writer.format(query.sink).option("path", str(folder / query.path))
    running = writer.start()
    try:
        if "availableNow" in query.trigger or "once" in query.trigger:
            if not running.awaitTermination(LONGEST_RUN_S):
                raise HangError(f"still running after {LONGEST_RUN_S} s")
        else:
            running.processAllAvailable()
    finally:
        running.stop()


def read_output(spark: Any, query: Query, folder: Path) -> list[Row]:
    """Return the rows that a reader of a file sink's folder sees, with names, without nulls."""
    reader = session_of(spark, {}).read.option("mergeSchema", "true").format(query.sink)
    rows = reader.load(str(folder / query.path)).collect()
    return [
        tuple(
            f"{name}={value}" for name, value in sorted(row.asDict().items()) if value is not None
        )
        for row in rows
    ]


def pinned_settings(folder: Path) -> dict[str, str]:
    """Return the settings that the newest batch of a checkpoint is pinned to."""
    numbers = [int(one.name) for one in (folder / CHECKPOINT / "offsets").glob("[0-9]*")]
    lines = (folder / CHECKPOINT / "offsets" / str(max(numbers))).read_text().splitlines()
    pinned: dict[str, str] = json.loads(lines[1])["conf"]
    return pinned
