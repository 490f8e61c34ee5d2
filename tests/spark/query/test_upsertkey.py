"""A key that is coarser than the groups is known from the plan, and nothing else is reported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import functions as f

import holdfast
from holdfast.findings import Finding
from holdfast.spark.query.upsertkey import guard_upsert_key
from tests.jobs.declaring import job_text, ready_jobs
from tests.spark.running.projects import Made, ingest

pytestmark = pytest.mark.spark

Make = Callable[[Any], Any]
SINK = "{{format: delta, path: ./out, mode: upsert, key: [{}]}}"


def found(spark: Any, folder: Path, make: Make, key: str, **job: Any) -> list[Finding]:
    """Ask about a query over a stream that is never started."""
    stream = spark.readStream.schema("k string, day string, at timestamp, v long").json(str(folder))
    (ready,) = ready_jobs(folder, job_text("gold", sink=SINK.format(key)))
    return list(guard_upsert_key(make(stream), replace(ready, **job)))


def hours(frame: Any) -> Any:
    """Sum by key and hour, and give the hour's start a name of its own."""
    grouped = frame.withWatermark("at", "1 hour").groupBy("k", f.window("at", "1 hour"))
    return grouped.agg(f.sum("v").alias("total"))


COARSE: dict[str, tuple[Make, str, str]] = {
    "plain": (lambda one: one.groupBy("k", "day").count(), "k", "(k, day)"),
    "windows": (hours, "k", "(k, window)"),
    "renamed": (
        lambda one: hours(one).select(f.col("k").alias("id"), "total").where("total > 1"),
        "id",
        "(k, window)",
    ),
    "computed": (
        lambda one: one.groupBy("k", f.upper("day").alias("d")).count(), "d", "upper(day)"),
}  # fmt: skip
FINE: dict[str, tuple[Make, str]] = {
    "whole": (lambda one: one.groupBy("k", "day").count(), "day, K"),
    "start of the window": (
        lambda one: hours(one).select("k", f.col("window.start").alias("since"), "total"),
        "k, since",
    ),
    "one column of all": (
        lambda one: one.groupBy("k", "day").count().withColumn("id", f.concat("k", "day")), "id"),
    "follows from the key": (
        lambda one: one.withColumn("month", f.substring("day", 1, 7)).groupBy("day", "month")
        .count(), "day"),
    "computed from the key": (
        lambda one: one.groupBy("day", f.substring("day", 1, 7).alias("month")).count(), "day"),
    "a constant": (lambda one: one.groupBy("k", f.lit("x").alias("tenant")).count(), "k"),
    "without groups": (lambda one: one, "k"),
    "another step after it": (
        lambda one: one.groupBy("k", "day").count().select("k", f.explode(f.array("day"))), "k"),
}  # fmt: skip


@pytest.mark.parametrize("name", COARSE)
def test_a_coarser_key_is_reported_with_both_lists(spark: Any, tmp_path: Path, name: str) -> None:
    make, key, groups = COARSE[name]
    (only,) = found(spark, tmp_path, make, key)
    assert only.code == "HF2376"
    assert f"key ({key})" in only.message and groups in only.message


@pytest.mark.parametrize("name", FINE)
def test_a_key_that_may_distinguish_the_groups_is_not(
    spark: Any, tmp_path: Path, name: str
) -> None:
    assert not found(spark, tmp_path, *FINE[name])


def test_groups_that_are_written_once_are_not(spark: Any, tmp_path: Path) -> None:
    assert not found(spark, tmp_path, hours, "k", output_mode="append")


def test_the_run_warns_and_a_whole_key_keeps_every_group(spark: Any, tmp_path: Path) -> None:
    """The first key loses a group without an error, which is why it is reported."""
    sql = "select k, n % 2 as odd, count(*) as rows from source group by k, n % 2"
    for place, key, codes in (("coarse", ["k"], ["HF2376"]), ("whole", ["k", "odd"], [])):
        sink = {"format": "delta", "path": "./out", "mode": "upsert", "key": key}
        job = {"source": ingest()["source"], "sql": sql, "sink": sink}
        made = Made(tmp_path / place, {"gold": job})
        for _ in range(2):
            made.arrive(3)
        answer = holdfast.run(project=made.file)
        assert [one.code for one in answer.findings] == codes
        kept = {(row.k, row.odd) for row in spark.read.format("delta").load(
            str(made.folder / "out")).collect()}  # fmt: skip
        assert len(kept) == (6 if place == "whole" else 3)
