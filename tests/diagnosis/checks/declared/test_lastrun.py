"""A declared job against the record of its last run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from holdfast.findings import Severity
from holdfast.records.run import SinkFacts, SourceProgress, Versions
from tests.checkpoint.pictures import files_of
from tests.diagnosis.doctor.examining import found
from tests.diagnosis.doctor.fieldscenarios import after_run, kafka_job
from tests.diagnosis.doctor.recording import recorded, run_on
from tests.diagnosis.doctor.scenarios import alone, declared

CODES = {"HF2357", "HF2358", "HF2359", "HF2365"}
DELTA = SinkFacts("delta", "out", "append", "exactly once")
FILES = SinkFacts("parquet", "out", "append", "exactly once")


def test_the_same_job_gives_no_finding() -> None:
    """Mode, sink and release as recorded."""
    versions = Versions("0.1.0", "4.2.0", "17", "3.11")
    job = replace(declared(), spark="4.2.1")
    same = after_run(job, "stateless", output_mode="append", sink=DELTA, versions=versions)
    assert not CODES & found(*same).keys()


@pytest.mark.parametrize(
    ("declared_sink", "before", "expected"),
    [
        ({"format": "delta", "native": True}, DELTA, False),
        ({"format": "parquet", "native": True}, FILES, True),
        ({"format": "parquet"}, FILES, False),
        ({"format": "parquet", "native": True}, replace(FILES, native=True), False),
        ({"format": "parquet"}, replace(FILES, native=True), True),
    ],
)
def test_spark_s_own_file_sink_is_another_one_than_ours(
    declared_sink: dict[str, object], before: SinkFacts, expected: bool
) -> None:
    """Its log is another; a Delta table is the same for both."""
    job = declared(sink={"path": "out", **declared_sink})
    findings = found(*after_run(job, "stateless", output_mode="append", sink=before))
    assert ("HF2365" in findings) is expected


def test_a_job_that_never_ran_gives_no_finding() -> None:
    """There is nothing to compare with."""
    job = replace(kafka_job(startingOffsets='{"orders":{"0":1}}'), spark="4.2.0")
    assert not CODES & found(*alone({}, job=job)).keys()


def test_an_older_release_is_a_warning() -> None:
    """It may not read what a newer one wrote."""
    versions = Versions("0.1.0", "4.3.0", "17", "3.11")
    job = replace(declared(), spark="4.2.0")
    older = found(*after_run(job, "stateless", sink=DELTA, versions=versions))["HF2359"]
    assert older.severity is Severity.WARNING


def test_other_jars_are_mentioned() -> None:
    """By their names: a run may have resolved a path, and added jars of its own."""
    job = declared(settings={"spark.jars": "lib/mine-2.jar"})
    run = {"sink": DELTA, "settings": {"spark.jars": "/app/lib/mine-1.jar,/cache/delta.jar"}}
    assert found(*after_run(job, "stateless", **run))["HF2359"].severity is Severity.INFO
    same = {"sink": DELTA, "settings": {"spark.jars": "/app/lib/mine-2.jar,/cache/delta.jar"}}
    versions = Versions("0.1.0", "", "17", "3.11")
    assert "HF2359" not in found(*after_run(job, "stateless", **same, versions=versions))


@pytest.mark.parametrize(
    ("starting", "is_told"),
    [
        ({"startingoffsets": "latest"}, True),
        ({}, True),
        ({"startingoffsets": "earliest"}, False),
        (None, False),
    ],
)
def test_a_start_option_is_compared_with_the_record(
    starting: dict[str, str] | None, is_told: bool
) -> None:
    """A record of before does not say which options there were."""
    source = SourceProgress("source", "kafka", starting=starting)
    run = run_on("kafka", "4.2.0", sources=(source,), sink=DELTA)
    job = kafka_job(startingOffsets="earliest")
    answer = found(*alone(files_of("kafka", "4.2.0"), job=job, recorded=recorded(run)))
    assert ("HF2358" in answer) is is_told


@pytest.mark.parametrize(
    "text", ['{"orders":{"0":0,"1":-1}}', "earliest", "{", "[1]", '{"orders":"x"}', "3"]
)
def test_offsets_that_are_those_of_the_beginning_give_no_finding(text: str) -> None:
    """Nor do words, or what Spark would refuse."""
    job = kafka_job(startingOffsets=text)
    assert "HF2358" not in found(*alone(files_of("kafka", "4.2.0"), job=job))
