"""Sources that are added, moved, renamed or lost."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from tests.diagnosis.explain.pages.provocations.provocation import provokes
from tests.diagnosis.explain.pages.provocations.queries import (
    copied,
    copied_again,
    lines,
    remove,
    run,
    texts,
)


@provokes("number-of-sources")
def source_added(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    run(texts(spark, lines(folder)).union(texts(spark, lines(folder, "other"))), folder)


@provokes("wrong-base-path")
def path_changed(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    run(texts(spark, lines(folder, "moved")), folder)


@provokes("source-log-entry-missing")
def source_log_gone(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    remove(folder / "checkpoint/sources/0/0")
    copied_again(spark, folder)


@provokes("source-log-unreadable")
def source_log_cut(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    path = folder / "checkpoint/sources/0/2"
    path.write_text(path.read_text()[:-20])
    copied_again(spark, folder)


@provokes("batch-does-not-exist")
def sources_gone(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    shutil.rmtree(folder / "checkpoint/sources")
    copied_again(spark, folder)


@provokes("file-source-without-schema")
def no_schema(spark: Any, folder: Path) -> None:
    run(spark.readStream.format("json").load(str(lines(folder))), folder)


@provokes("connector-missing")
def kafka_missing(spark: Any, folder: Path) -> None:
    spark.readStream.format("kafka").option("subscribe", "orders").load()


@provokes("connector-missing")
def delta_connector_missing(spark: Any, folder: Path) -> None:
    spark.readStream.format("delta").load(str(folder))


@provokes("source-naming-is-off", since="4.2")
def naming_off(spark: Any, folder: Path) -> None:
    place = str(lines(folder))
    run(spark.readStream.name("orders").format("text").load(place), folder)


@provokes("source-without-name", since="4.2")
def unnamed_source(spark: Any, folder: Path) -> None:
    spark.conf.set("spark.sql.streaming.queryEvolution.enableSourceEvolution", "true")
    copied(spark, folder)


@provokes("source-names-twice", since="4.2")
def names_twice(spark: Any, folder: Path) -> None:
    spark.conf.set("spark.sql.streaming.queryEvolution.enableSourceEvolution", "true")
    one, two = str(lines(folder)), str(lines(folder, "other"))
    left = spark.readStream.name("orders").format("text").load(one)
    run(left.union(spark.readStream.name("orders").format("text").load(two)), folder)


@provokes("source-name-characters", since="4.2")
def name_characters(spark: Any, folder: Path) -> None:
    spark.conf.set("spark.sql.streaming.queryEvolution.enableSourceEvolution", "true")
    run(spark.readStream.name("my-orders").format("text").load(str(lines(folder))), folder)


@provokes("evolution-on-existing-checkpoint", since="4.3")
def evolution_later(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    spark.conf.set("spark.sql.streaming.queryEvolution.enableSourceEvolution", "true")
    run(spark.readStream.name("orders").format("text").load(str(lines(folder))), folder)


@provokes("sources-should-be-named", since="4.2")
def evolution_off_again(spark: Any, folder: Path) -> None:
    spark.conf.set("spark.sql.streaming.queryEvolution.enableSourceEvolution", "true")
    run(spark.readStream.name("orders").format("text").load(str(lines(folder))), folder)
    spark.conf.set("spark.sql.streaming.queryEvolution.enableSourceEvolution", "false")
    copied_again(spark, folder)


@provokes("rate-source-state")
def rate_started_later(spark: Any, folder: Path) -> None:
    def rows(start: str) -> Any:
        reader = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 3)
        return reader.option("startTimestamp", start).option("numPartitions", 1).load()

    for start in ("1000", "900000"):
        writer = rows(start).writeStream.format("noop").trigger(once=True)
        writer.option("checkpointLocation", str(folder / "c")).start().awaitTermination()
        remove(folder / "c/commits/0")
