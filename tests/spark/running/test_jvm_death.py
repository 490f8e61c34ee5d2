"""Spark's JVM ends under its jobs: who was it, what is pending, and the results of every job."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.parts import classarchive
from tests.spark.running.processes import call, java_below, result_of, started, wait_for
from tests.spark.running.projects import PIPELINE, ROWS, Made, ingest
from tests.spark.running.test_processes import SLOW, finishes

pytestmark = pytest.mark.spark

CUSTOM = {"format": "custom", "function": "pipeline:deliver"}
LARGE = """

def large(source):
    return source.selectExpr("n", "size(sequence(n, n + 30000000L)) as large")
"""


def rows_delivered(folder: Path) -> list[int]:
    """Return the rows that the function wrote."""
    lines = (folder / "delivered").read_text().splitlines()
    return sorted(int(line.split()[1]) for line in lines)


def test_a_killed_jvm_in_a_sequence_of_jobs(spark: Any, tmp_path: Path) -> None:
    """One job had finished, one delivers, one has not begun; the next start loses nothing."""
    slow = ingest() | {"sink": CUSTOM}
    jobs = {"first": ingest(), "slow": slow, "third": ingest("./lake/third")}
    made = Made(tmp_path, jobs)
    (tmp_path / "pipeline.py").write_text(PIPELINE + SLOW)
    numbers = made.arrive(3)
    with started(tmp_path, "run", "--json", "--events", "events") as process:
        wait_for((tmp_path / "entered-0").exists, "the delivery")
        (java,) = java_below(process.pid)
        os.kill(java, signal.SIGKILL)
        printed, errors = process.communicate(timeout=240)
    assert (process.returncode, errors) == (53, "")
    document = json.loads(printed)
    reports = {job["job"]: job for job in document["result"]["jobs"]}
    ended = {name: report["ended"] for name, report in reports.items()}
    assert ended == {"first": "finished", "slow": "failed", "third": "skipped"}
    assert (reports["first"]["rows"], reports["slow"]["failure"]["code"]) == (3, "HF5304")
    (finding,) = document["findings"]
    killed = f"Spark's JVM (process {java}) was killed by signal 9 (SIGKILL); batch 0 is pending"
    assert (finding["code"], finding["message"]) == ("HF5304", f"slow: {killed}")

    events = [json.loads(line) for line in (tmp_path / "events").read_text().splitlines()]
    told = {one["job"]: one["message"] for one in events if one["event"] == "ended"}
    assert told["slow"] == killed and told["third"].startswith("not started: Spark's JVM")
    status = result_of(call(tmp_path, "status", "--json"))["result"]["jobs"]
    run = next(one for one in status if one["job"] == "slow")["runs"][0]
    assert (run["ended"], run["failure"]["code"]) == ("failed", "HF5304")

    (tmp_path / "go").touch()
    finishes(made)
    assert rows_delivered(tmp_path) == numbers


def test_a_jvm_without_memory_under_jobs_side_by_side(tmp_path: Path) -> None:
    """A real OutOfMemoryError of one job ends both; with more memory the batch runs again."""
    every = {"trigger": {"processing_time": "1 second"}}
    hungry = ingest() | {"transform": "pipeline:large"} | every
    idle = ingest("./lake/idle") | every
    idle["source"] = {**idle["source"], "path": "./nothing"}
    conf = {"spark.driver.memory": "512m", "spark.sql.shuffle.partitions": 2}
    spark = {"master": "local[2]", "conf": conf}
    made = Made(tmp_path, {"idle": idle, "hungry": hungry}, spark=spark)
    (tmp_path / "pipeline.py").write_text(PIPELINE + LARGE)
    (tmp_path / "nothing").mkdir()
    made.arrive(1)
    ran = call(tmp_path, "run")
    assert ran.returncode == 53, ran.stderr[-2000:]
    assert "Traceback" not in ran.stderr and "HF1003" not in ran.stderr
    text = " ".join(ran.stdout.split())
    assert re.search(r"idle failed .* hungry failed ", text)
    assert "error HF5305: hungry: Spark's JVM (process" in text
    assert "OutOfMemoryError" in text
    assert text.count("; batch 0 is pending") == 1 and text.count("no batch is pending") == 1
    assert "hungry: batch 0 is pending (planned, not committed); the next start runs it" in text
    assert "spark.driver.memory" in text

    document = yaml.safe_load(made.file.read_text())
    document["spark"]["conf"]["spark.driver.memory"] = "1500m"
    made.file.write_text(yaml.safe_dump(document, sort_keys=False))
    with started(tmp_path, "run", "--json") as process:
        wait_for(lambda: made.ids("hungry", "commits") == [0], "the batch")
        process.send_signal(signal.SIGTERM)
        printed, _ = process.communicate(timeout=240)
        assert process.returncode == 143
    reports = {job["job"]: job for job in json.loads(printed)["result"]["jobs"]}
    assert {report["ended"] for report in reports.values()} == {"stopped"}
    assert (reports["hungry"]["first_batch"], reports["hungry"]["rows"]) == (0, 1)


PROGRAM = f"""
import os, signal, sys
import holdfast
from holdfast.errors import JvmDiedError, SparkStartError
from holdfast.spark.session.jvm import Jvm
from holdfast.spark.session.opening import SessionOptions, open_session, stop_session

delivered = []

def start(deliver):
    session = open_session(SessionOptions("program", "local[1]"))
    frame = session.readStream.schema("{ROWS}").json("in")
    held = holdfast.start(frame, job="orders", checkpoint="checkpoints/orders", sink=deliver)
    return session, frame, held

def kill(batch, identity):
    os.kill(Jvm.of(batch.sparkSession).number, signal.SIGKILL)
    batch.count()

def keep(batch, identity):
    delivered.extend(sorted(row.n for row in batch.collect()))

session, frame, held = start(kill)
try:
    held.wait()
except JvmDiedError as error:
    print(error.code.number, error.message.partition(") ")[2])
try:
    holdfast.start(frame, job="orders", checkpoint="checkpoints/orders", sink=keep)
except JvmDiedError as error:
    print(error.code.number, error.message.partition(") ")[2])
session, frame, held = start(keep)
report = held.wait()
print(report.ended.value, report.generation, delivered)
stop_session(session)
try:
    holdfast.start(frame, job="orders", checkpoint="checkpoints/orders", sink=keep)
except SparkStartError as error:
    print(error.code.number)
"""


def test_a_program_is_told_by_wait_and_can_start_again(tmp_path: Path) -> None:
    """In the same process, with a new JVM; the batch is pending, and the lease free."""
    made = Made(tmp_path, {"ingest": ingest()})
    made.arrive(3)
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=tmp_path,
        env={**os.environ, classarchive.VARIABLE: classarchive.quick_java()},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    first, second, third, stopped = ran.stdout.splitlines()
    killed = "HF5304 was killed by signal 9 (SIGKILL); batch 0 is pending"
    assert (first, second) == (killed, killed)
    assert (third, stopped) == ("finished 2 [0, 1, 2]", "HF5219")
    assert ran.stderr == ""
