"""A plain PySpark program records its query, and its next version is compared with it."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.records.folder import records_of
from holdfast.records.leases.state import look_at_lease
from holdfast.storage.location import parse_location
from holdfast.storage.options import StorageSettings
from tests.parts.classarchive import quick_environment
from tests.spark.running.projects import ROWS, Made
from tests.spark.running.test_changed_query import declare

pytestmark = pytest.mark.spark


def frame_of(spark: Any, folder: Path, aggregate: str = "sum(n) as total") -> Any:
    rows = spark.readStream.schema(ROWS).option("maxFilesPerTrigger", 1).json(str(folder / "in"))
    return rows.groupBy("k").agg(*[_expression(aggregate)])


def _expression(text: str) -> Any:
    from pyspark.sql.functions import expr

    return expr(text)


def run(frame: Any, place: Path) -> None:
    """Start the query as a program does, and let it end."""
    writer = frame.writeStream.format("noop").outputMode("complete").trigger(availableNow=True)
    writer.option("checkpointLocation", str(place)).start().awaitTermination()


def record(frame: Any, place: Path) -> holdfast.Answer[holdfast.RecordReport]:
    answer = holdfast.record(frame, checkpoint=place, output_mode="complete", strict=True)
    assert answer is not None
    return answer


def rules(frame: Any, place: Path) -> tuple[int, list[str]]:
    answer = holdfast.check(frame, checkpoint=place, output_mode="complete")
    return answer.exit_status, [one.rule for one in answer.result.changes]


def test_a_recorded_program_is_compared_like_a_run(spark: Any, tmp_path: Path) -> None:
    """From before its first start on; a version that committed nothing does not count."""
    made = Made(tmp_path, {})
    made.arrive(6)
    place = tmp_path / "cp"
    frame = frame_of(spark, tmp_path)
    (recorded,) = record(frame, place).result.recorded
    assert (recorded.query_id, recorded.counts, recorded.is_new) == (None, False, True)
    assert not place.exists(), "the checkpoint is Spark's"
    run(frame, place)
    assert rules(frame, place) == (0, [])
    checked = holdfast.check(frame, checkpoint=place, output_mode="complete").result.jobs[0]
    assert (checked.compared_with, checked.recorded_at) == (None, recorded.recorded_at)
    other = frame_of(spark, tmp_path, "max(n) as total")
    assert rules(other, place)[0] == 30
    assert "HF3116" in rules(other, place)[1]

    record(other, place)
    assert rules(other, place)[0] == 30, "recorded, and nothing committed since"
    assert rules(frame, place) == (0, [])
    made.arrive(3)
    run(other, place)
    assert rules(other, place) == (0, [])
    assert rules(frame, place)[0] == 30
    folder = records_of(parse_location(str(place)), StorageSettings())
    assert look_at_lease(folder.reader("lease")) is None


def test_a_declared_job_that_runs_elsewhere_is_recorded(spark: Any, tmp_path: Path) -> None:
    """It counts at once: it is said to be what made the newest batch."""
    place = tmp_path / "checkpoints" / "sums"
    job = {
        "source": {"format": "json", "path": "./in", "schema": ROWS},
        "sql": "select k, sum(n) as total from source group by k",
        "sink": {"format": "delta", "path": "./lake/sums", "mode": "complete"},
    }
    made = Made(tmp_path, {"sums": job})
    made.arrive(6)
    run(frame_of(spark, tmp_path), place)
    before = {one: one.read_bytes() for one in place.rglob("*") if one.is_file()}
    (recorded,) = holdfast.record_jobs("sums", project=made.file).result.recorded
    assert (recorded.job, recorded.origin.value, recorded.counts) == ("sums", "job", True)
    assert {one: one.read_bytes() for one in place.rglob("*") if one.is_file()} == before
    same = holdfast.check("sums", project=made.file).result.jobs[0]
    assert same.recorded_at == recorded.recorded_at
    assert not [one for one in same.changes if one.rule.startswith("HF31")]
    changed = {**job, "sql": "select k, max(n) as total from source group by k"}
    declare(made, sums=changed)
    found = holdfast.check("sums", project=made.file).result.changes
    assert "HF3116" in {one.rule for one in found}


def test_a_failure_warns_and_the_stream_goes_on(spark: Any, tmp_path: Path) -> None:
    """`strict` raises it."""
    Made(tmp_path, {}).arrive(3)
    frame = frame_of(spark, tmp_path)
    (tmp_path / ".holdfast").write_text("a file, no folder")
    with pytest.warns(holdfast.NotRecordedWarning, match="was not recorded: HF7"):
        assert holdfast.record(frame, checkpoint=tmp_path / "cp", output_mode="complete") is None
    with pytest.raises(holdfast.StorageError):
        holdfast.record(frame, checkpoint=tmp_path / "cp", strict=True)
    run(frame, tmp_path / "cp")


PROGRAM = """
import sys
from pyspark.sql import SparkSession
import holdfast
from pipeline import totals

session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
frame = totals(session)
if sys.argv[1] == "check":
    answer = holdfast.check(frame, checkpoint="cp", output_mode="complete")
    print("VERDICT", answer.result.verdict.value, [one.rule for one in answer.result.changes])
else:
    holdfast.record(frame, checkpoint="cp", output_mode="complete", sink="nowhere")
    writer = frame.writeStream.format("noop").outputMode("complete").trigger(availableNow=True)
    writer.option("checkpointLocation", "cp").start().awaitTermination()
"""
PIPELINE = """
LIMIT = 2

def totals(session):
    from pyspark.sql.functions import udf
    doubled = udf(lambda one: one * LIMIT, "bigint")
    rows = session.readStream.schema("k string, n bigint").json("in")
    return rows.select("k", doubled("n").alias("n")).groupBy("k").sum("n")
"""


def test_a_program_in_processes_of_its_own(tmp_path: Path) -> None:
    """Another constant of a Python function is noticed."""
    Made(tmp_path, {}).arrive(3)
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "pipeline.py").write_text(PIPELINE)
    called(tmp_path, "run")
    assert "VERDICT safe []" in called(tmp_path, "check")
    (tmp_path / "pipeline.py").write_text(PIPELINE.replace("LIMIT = 2", "LIMIT = 3"))
    assert "VERDICT conditional ['HF3150']" in called(tmp_path, "check")


def called(folder: Path, word: str) -> str:
    command = [sys.executable, "program.py", word]
    ran = subprocess.run(
        command, cwd=folder, env=quick_environment(), capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert "NotRecordedWarning" not in ran.stderr
    return ran.stdout


def test_a_query_that_runs_is_recorded_with_what_it_knows(spark: Any, tmp_path: Path) -> None:
    """Its checkpoint, mode, sink and newest batch; it is tied to its id, and counts at once."""
    made = Made(tmp_path, {})
    made.arrive(6)
    place = tmp_path / "cp"
    frame = frame_of(spark, tmp_path)
    writer = frame.writeStream.format("noop").outputMode("complete")
    query = writer.option("checkpointLocation", str(place)).start()
    try:
        early = holdfast.record(query, strict=True)
        assert early is not None
        assert early.result.recorded[0].query_id == query.id
        query.processAllAvailable()
        late = holdfast.record(query, checkpoint=place, strict=True)
        with pytest.raises(holdfast.UsageError, match="the query runs on"):
            holdfast.record(query, checkpoint=tmp_path / "elsewhere", strict=True)
    finally:
        query.stop()
    assert late is not None
    (recorded,) = late.result.recorded
    assert (recorded.output_mode, recorded.passed, recorded.counts) == ("complete", 0, True)
    assert "noop" in str(recorded.sink)
    assert rules(frame, place) == (0, [])
    assert rules(frame_of(spark, tmp_path, "max(n) as total"), place)[0] == 30


def test_a_query_with_a_function_or_a_folder_as_its_sink_is_recorded(
    spark: Any, tmp_path: Path
) -> None:
    """These sinks have no name of Spark's."""
    Made(tmp_path, {}).arrive(3)
    rows = spark.readStream.schema(ROWS).json(str(tmp_path / "in"))
    for name, writer in {
        "ForeachBatch": rows.writeStream.foreachBatch(lambda _frame, _number: None),
        "FileSink": rows.writeStream.format("parquet").option("path", str(tmp_path / "out")),
    }.items():
        place = tmp_path / f"cp-{name}"
        placed = writer.option("checkpointLocation", str(place)).trigger(availableNow=True)
        query = placed.start()
        query.awaitTermination()
        answer = holdfast.record(query, strict=True)
        assert answer is not None
        (recorded,) = answer.result.recorded
        assert name in str(recorded.sink) and recorded.passed == 0
        assert holdfast.check(rows, checkpoint=place).exit_status == 0


def test_a_frame_without_its_checkpoint_is_refused(spark: Any, tmp_path: Path) -> None:
    """With the argument that is missing, and so is one with an unknown mode."""
    Made(tmp_path, {}).arrive(3)
    frame = frame_of(spark, tmp_path)
    with pytest.raises(holdfast.UsageError, match="checkpoint"):
        holdfast.record(frame, strict=True)
    for act in (holdfast.check, partial(holdfast.record, strict=True)):
        with pytest.raises(holdfast.UsageError, match="'upsert' is not an output mode"):
            act(frame, checkpoint=tmp_path / "cp", output_mode="upsert")
