"""Queries of every shape over small files, for every sink that takes them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.spark.running.projects import Made

PIPELINE = '''"""Queries of every shape."""

from pyspark.sql import functions as f
from pyspark.sql.streaming import StatefulProcessor


def timed(source):
    return source.withColumn("at", f.timestamp_seconds(f.col("n") * 10))


def stateless(source):
    return source


def windows(source):
    return (
        timed(source)
        .withWatermark("at", "5 seconds")
        .groupBy(f.window("at", "20 seconds"))
        .agg(f.count("n").alias("count"), f.sum("n").alias("total"))
        .selectExpr("cast(window.start as long) as n", "concat(count, ':', total) as k")
    )


def totals(source):
    return source.groupBy("k").agg(f.sum("n").alias("n")).select("n", "k")


def first(source):
    return timed(source).withWatermark("at", "1 day").dropDuplicates(["k"]).select("n", "k")


def grouped(source):
    return source.selectExpr("n - n % 3 as n", "timestamp_seconds(n * 10) as at", "'group' as k")


def distinct(source):
    return grouped(source).dropDuplicates(["n"]).select("n", "k")


def within(source):
    marked = grouped(source).withWatermark("at", "1 day")
    return marked.dropDuplicatesWithinWatermark(["n"]).select("n", "k")


def pairs(source):
    left = timed(source).withWatermark("at", "30 seconds")
    right = left.selectExpr("n + 1 as follows", "at as later")
    joined = left.join(right, f.expr("n = follows and later between at - interval 1 minute and at"))
    return joined.selectExpr("n", "concat(k, '<', follows) as k")


class Numbered(StatefulProcessor):
    def init(self, handle):
        self.seen = handle.getValueState("seen", "count long")

    def handleInputRows(self, key, rows, timer):
        from pyspark.sql import Row

        before = self.seen.get()[0] if self.seen.exists() else 0
        for row in sorted(rows, key=lambda one: one.n):
            before += 1
            yield Row(n=row.n, k=f"{key[0]}#{before}")
        self.seen.update((before,))

    def close(self):
        pass


def numbered(source):
    return source.groupBy("k").transformWithState(
        Numbered(), "n long, k string", outputMode="Append", timeMode="None"
    )
'''

ROCKS = {
    "spark.sql.streaming.stateStore.providerClass":
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
}  # fmt: skip
CHANGELOG = ROCKS | {
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true"
}
UNIQUE_IDS = CHANGELOG | {"spark.sql.streaming.stateStore.checkpointFormatVersion": "2"}

FORMAT_4_ENABLED = {"spark.sql.streaming.join.stateFormatV4.enabled": "true"}


def join_format(number: int) -> dict[str, str]:
    """Return the settings of a join whose state is in column families of one store."""
    return CHANGELOG | {"spark.sql.streaming.join.stateFormatVersion": str(number)}


@dataclass(frozen=True)
class Shape:
    """One query: a function of the pipeline with the settings that it is run with."""

    name: str
    conf: dict[str, str] = field(default_factory=dict)
    query: str = ""
    """The function, where it has another name."""


SHAPES = {
    one.name: one
    for one in (
        Shape("stateless"),
        Shape("windows"),
        Shape("totals"),
        Shape("first", ROCKS),
        Shape("distinct"),
        Shape("within", ROCKS),
        Shape("pairs"),
        Shape("pairs-format-3", join_format(3), "pairs"),
        # Of Spark 4.2 it is "under development": a setting of its own lets it be chosen.
        Shape("pairs-format-4", join_format(4) | FORMAT_4_ENABLED, "pairs"),
        Shape("numbered", ROCKS),
        Shape("numbered-changelog", CHANGELOG, "numbered"),
        Shape("within-changelog", CHANGELOG, "within"),
        Shape("within-unique-ids", UNIQUE_IDS, "within"),
    )
}
TABLE = "written"


def sink_of(kind: str, url: str) -> dict[str, Any]:
    """Declare a sink by its name in the matrix."""
    folder, _, mode = kind.partition("-")
    if folder == "postgres":
        return {"format": "postgres", "url": url, "table": TABLE, "batch_column": "batch"}
    return {"format": folder, "mode": mode, "path": f"./lake/{TABLE}"}


def project(folder: Path, shape: str, kind: str, url: str = "") -> Made:
    """Make a project with one job of this shape and sink."""
    known = SHAPES[shape]
    job: dict[str, Any] = {
        "source": {
            "format": "json", "path": "./in", "schema": "n long, k string",
            "options": {"maxFilesPerTrigger": 1},
        },
        "transform": f"shapes:{known.query or shape}",
        "sink": sink_of(kind, url),
        "conf": dict(known.conf),
    }  # fmt: skip
    made = Made(folder, {"job": job})
    (folder / "shapes.py").write_text(PIPELINE, encoding="utf-8")
    return made


def rows(spark: Any, made: Made, kind: str, url: str = "") -> Counter[Any]:
    """Give the rows of the output, each with how often a plain reader sees it."""
    folder = made.folder / "lake" / TABLE
    if kind.startswith("postgres"):
        import psycopg

        with psycopg.connect(url) as connection:
            return Counter(connection.execute(f"select n, k from {TABLE}").fetchall())
    if kind.startswith("delta"):
        found = spark.read.format("delta").load(str(folder)).select("n", "k").collect()
        return Counter(tuple(row) for row in found)
    from pyarrow import dataset

    told = dataset.dataset(str(folder), format="parquet").to_table(columns=["n", "k"]).to_pylist()
    return Counter((row["n"], row["k"]) for row in told)
