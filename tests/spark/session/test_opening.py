"""Opening a session: real Spark, with Delta, quiet, and told in one line where it fails."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.errors import SparkStartError
from holdfast.running.settings import SessionOptions
from holdfast.spark.session import opening as session_module
from holdfast.spark.session.existing import (
    kept_findings,
    kept_settings,
    refuse_other_default,
    with_kept,
)
from holdfast.spark.session.jvm import Jvm
from holdfast.spark.session.opening import has_session, open_session, session_for
from tests.parts.classarchive import quick_environment
from tests.spark.readyjobs import job as ready_job

SERVED = SessionOptions("tests", "local[2]", {"spark.sql.shuffle.partitions": "2"})

WITH_DELTA = """
import os, sys
from pathlib import Path
import holdfast
from holdfast.spark.session.jvm import Jvm
from holdfast.spark.session.opening import SessionOptions, open_session, stop_session

folder = Path(sys.argv[1])
sys.path.insert(0, str(folder))
import workshop
from pyspark.sql.functions import udf

conf = {"spark.sql.warehouse.dir": str(folder / "warehouse"), "spark.hadoop.my.password": "hunter"}
wish = SessionOptions("x", "local[1]", conf, features=frozenset({"delta"}), folder=folder)
session = open_session(wish)
table = str(folder / "table")
doubled = session.range(5).select(udf(workshop.twice, "long")("id").alias("n"))
doubled.write.format("delta").save(table)
print(sorted(row.n for row in session.read.format("delta").load(table).collect()))
session.sql(f"delete from delta.`{table}` where n > 2")
print(session.read.format("delta").load(table).count())
process = Jvm.of(session).number
arguments = Path(f"/proc/{process}/cmdline")
print("hunter" in (arguments.read_text() if arguments.exists() else ""))
stop_session(session)
try:
    os.kill(process, 0)
except ProcessLookupError:
    print("gone")
again = open_session(SessionOptions("y", "local[1]", folder=folder))
print(again.conf.get("spark.sql.extensions", "none"), again.range(3).count())
sink = {"format": "delta", "path": str(folder / "other")}
frame = again.readStream.format("rate").load()
try:
    holdfast.start(frame, job="lacking", checkpoint=folder / "cp", sink=sink,
                   accept=["temporary-path"])
except holdfast.HoldfastError as error:
    print(error.code.number, *(step.partition(".config")[2] for step in error.next_steps))
print(sorted(one.name for one in (folder / ".holdfast/cp").iterdir()), (folder / "cp").exists())
again.stop()
third = open_session(SessionOptions("z", "local[1]", features=frozenset({"delta"}), folder=folder))
print(third.read.format("delta").load(table).count())
stop_session(third)
"""

FAILING = """
import sys
from holdfast.errors import SparkStartError
from holdfast.spark.session.opening import SessionOptions, open_session

for wish in (
    SessionOptions("x", "local[1]", {"spark.driver.memory": "9999999g"}),
    SessionOptions("x", "local[1]", {"spark.serializer": "no.such.Serializer"}),
):
    try:
        open_session(wish)
    except SparkStartError as error:
        print(error.code.number, error.message)
"""


def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a process of its own, whose PATH has no Python of ours."""
    environment = quick_environment()
    environment.pop("PYSPARK_PYTHON", None)
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        env=environment,
        timeout=300,
        check=False,
    )


@pytest.mark.spark
def test_a_session_with_delta(tmp_path: Path) -> None:
    """Writes and reads, workers find the project's modules, nothing else is said, nothing stays."""
    (tmp_path / "workshop.py").write_text("def twice(n):\n    return n * 2\n")
    ran = run(WITH_DELTA, str(tmp_path))
    assert ran.stderr == ""
    *first, lacking, records, third = ran.stdout.splitlines()
    assert first == ["[0, 2, 4, 6, 8]", "2", "False", "gone", "none 3"]
    # HF5216, with each line to add, before there is a lease, a run or a checkpoint.
    assert lacking.startswith('HF5216 ("spark.jars.packages", "io.delta:delta-spark_')
    assert '("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")' in lacking
    assert '("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.' in lacking
    assert records == "['attempts'] False"
    assert third == "2", "a session that was stopped leaves the start to Holdfast"


@pytest.mark.spark
def test_a_start_that_fails_is_one_line() -> None:
    """In the launcher and in the context; after the one the other can be tried."""
    ran = run(FAILING)
    first, second = ran.stdout.splitlines()
    assert first.startswith("HF5213 ")
    assert "Could not reserve enough space" in first or "Invalid maximum heap size" in first
    assert second.startswith("HF5213 ")
    assert "ClassNotFoundException: no.such.Serializer" in second
    assert ran.stderr == ""


@pytest.mark.spark
def test_a_running_session_that_serves_is_used(spark: Any) -> None:
    """It has Delta and Kafka, and what else is asked for."""
    features = frozenset({"delta"})
    options = SessionOptions("other", "local[2]", SERVED.conf, features=features)
    assert has_session()
    assert open_session(options) is spark
    java: Any = spark._jvm
    assert Jvm.of(spark).number == java.java.lang.ProcessHandle.current().pid()


@pytest.mark.spark
@pytest.mark.parametrize(
    ("options", "difference"),
    [
        (
            SessionOptions("x", "local[1]"),
            "spark.master is local[2] in the session and local[1] here",
        ),
        (
            SessionOptions("x", "local[2]", {"spark.never.set": "1"}),
            "spark.never.set is not set in the session and 1 here",
        ),
        (
            SessionOptions("x", "local[2]", jars=("lib/mine-1.0.jar",)),
            "in the session and lib/mine-1.0.jar here",
        ),
    ],
)
def test_settings_that_differ_have_to_be_named_to_be_kept(
    spark: Any, options: SessionOptions, difference: str
) -> None:
    """HF5212 names the setting, both values and the call; followed, the session is used."""
    with pytest.raises(SparkStartError) as raised:
        open_session(options)
    assert raised.value.code.number == "HF5212"
    assert difference in raised.value.message
    (name,) = re.findall(r'keep_settings=\["(.+?)"\]', raised.value.next_steps[0])
    named = replace(options, kept=(name,))
    assert open_session(named) is spark
    (kept,) = kept_settings(spark, named)
    (finding,) = kept_findings((kept,))
    assert (finding.code, difference in finding.message) == ("HF5218", True)
    counted = with_kept({**options.conf, "spark.other": "1"}, (kept,))
    assert counted == {"spark.other": "1"} | ({name: kept.current} if kept.current else {})
    assert open_session(replace(options, kept=("spark.*",))) is spark


@pytest.mark.spark
def test_a_setting_of_run_time_never_keeps_a_session_from_serving(spark: Any) -> None:
    """It is set in the session of the job; the open one stays as it is."""
    conf = {"spark.sql.shuffle.partitions": "7"}
    options = SessionOptions("x", "local[2]", conf)
    assert open_session(options) is spark
    own = session_for(ready_job(Path("/nowhere")), spark, conf)
    assert own.conf.get("spark.sql.shuffle.partitions") == "7"
    assert spark.conf.get("spark.sql.shuffle.partitions") == "2"
    kept = kept_settings(spark, replace(options, kept=("spark.sql.*",)))
    assert with_kept(conf, kept) == {"spark.sql.shuffle.partitions": "2"}


@pytest.mark.spark
def test_a_session_without_a_library_is_given_the_line(spark: Any) -> None:
    """HF5216, whatever is named to be kept; nothing is fetched."""
    options = SessionOptions("x", "local[2]", features=frozenset({"s3"}), kept=("*",))
    with pytest.raises(SparkStartError) as raised:
        open_session(options)
    assert raised.value.code.number == "HF5216"
    assert "spark.jars.packages" in raised.value.message
    (step,) = raised.value.next_steps
    assert '.config("spark.jars.packages", "org.apache.hadoop:hadoop-aws:' in step


@pytest.mark.spark
def test_another_storage_is_never_kept(spark: Any) -> None:
    """HF5217: Spark would write another checkpoint than the one that Holdfast reads."""
    conf = {"spark.hadoop.fs.s3a.endpoint": "http://s3:9000"}
    with pytest.raises(SparkStartError) as raised:
        open_session(SessionOptions("x", "local[2]", conf, kept=("*",)))
    assert raised.value.code.number == "HF5217"
    assert "not set in the session and http://s3:9000 here" in raised.value.message
    (step,) = raised.value.next_steps
    assert step.endswith('.config("spark.hadoop.fs.s3a.endpoint", "http://s3:9000")')


def test_what_can_be_refused_is_refused_before_spark_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Connect, a missing jar, no Java, nothing fetched: pyspark is not even imported."""
    monkeypatch.setenv("HOLDFAST_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(session_module, "has_session", lambda: False)
    delta = frozenset({"delta"})
    refused = {
        "HF5205": SessionOptions("x", conf={"spark.remote": "sc://host"}),
        "HF5207": SessionOptions("x", features=delta, offline=True),
        "HF5210": SessionOptions("x", jars=("lib/gone.jar",), folder=tmp_path, features=delta),
        "HF5211": SessionOptions("x", jars=("s3a://lake/delta-storage-1.0.jar",), features=delta),
    }
    for code, options in refused.items():
        with pytest.raises(SparkStartError) as raised:
            open_session(options)
        assert raised.value.code.number == code
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(SparkStartError) as raised:
        open_session(SessionOptions("x"))
    assert raised.value.code.number == "HF5201"
    assert not (tmp_path / "cache").exists()


def test_a_jvm_of_spark_submit_is_not_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was started without the jars; in a process that has no session yet."""
    program = (
        "from holdfast.errors import SparkStartError\n"
        "from holdfast.spark.session.opening import SessionOptions, open_session\n"
        "try:\n    open_session(SessionOptions('x'))\n"
        "except SparkStartError as error:\n    print(error.code.number, error.message)\n"
    )
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    ran = run(program)
    assert ran.stdout.startswith("HF5212 spark-submit"), ran.stderr


@pytest.mark.spark
def test_a_path_of_this_machine_is_not_one_of_sparks_default_storage(
    spark: Any, tmp_path: Path
) -> None:
    """HF5217: Spark would write the rows to another storage, and the local folder stays empty."""
    job = ready_job(tmp_path)
    refuse_other_default(spark, job)
    conf = spark.sparkContext._jsc.hadoopConfiguration()
    before = conf.get("fs.defaultFS")
    conf.set("fs.defaultFS", "hdfs://namenode:8020")
    try:
        with pytest.raises(SparkStartError, match="hdfs://namenode:8020") as raised:
            refuse_other_default(spark, job)
    finally:
        conf.set("fs.defaultFS", before)
    assert raised.value.code.number == "HF5217"
    (step,) = raised.value.next_steps
    assert step.endswith('.config("spark.hadoop.fs.defaultFS", "file:///")')


def test_one_setting_to_keep_may_be_given_as_a_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not taken apart into letters, of which `*` would keep everything."""
    seen: list[object] = []

    def wanted(*_jobs: object, **how: object) -> None:
        seen.append(how["kept"])
        raise KeyboardInterrupt

    monkeypatch.setattr("holdfast.running.options.requested_jobs", wanted)
    with pytest.raises(KeyboardInterrupt):
        holdfast.run(keep_settings="spark.executor.*")
    assert seen == [("spark.executor.*",)]
