"""Spark's own sinks under the lease: a plain program joins, leaves, and is killed on the way."""

from __future__ import annotations

import json
import shutil
import signal
import threading
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

import holdfast
from holdfast.errors import HoldfastError
from holdfast.jobs.discovery import load_project
from holdfast.jobs.readying import ready_job
from holdfast.spark.sinks.opening import open_sink
from tests.docs.pages import REPOSITORY, blocks
from tests.drawing import draw
from tests.parts.kafka import create_topic
from tests.spark.running.processes import call
from tests.spark.running.projects import Made, expected, ingest, table
from tests.spark.running.test_adopting import PlainProgram, codes

pytestmark = pytest.mark.spark

WARNED = 3
PAGE = REPOSITORY / "docs/how-to/move-from-sparks-file-sink.md"
PARQUET = {"format": "parquet", "native": True, "path": "./lake/raw", "partition_by": ["k"]}
DELTA = {"format": "delta", "native": True, "path": "./lake/raw"}


def rows(frame: Any) -> Counter[Any]:
    """Give the rows of a frame, each with how often it is there."""
    return Counter((row.n, row.k) for row in frame.select("n", "k").collect())


class Native:
    """A program that writes by itself, and the project that adopts it with the same sink."""

    def __init__(self, spark: Any, folder: Path, sink: dict[str, Any]) -> None:
        self.spark, self.sink = spark, sink
        self.program = PlainProgram(spark, folder, sink)
        self.path = str(folder / "lake/raw")

    def alone(self) -> None:
        """Run the program without Holdfast."""
        checkpoint = str(self.program.checkpoint)

        def begin(frame: Any) -> Any:
            writer = frame.writeStream.option("checkpointLocation", checkpoint)
            writer = writer.format(self.sink["format"]).options(**self.sink.get("options", {}))
            if "partition_by" in self.sink:
                writer = writer.partitionBy(*self.sink["partition_by"])
            if "table" not in self.sink:
                return writer.option("path", self.path) if "path" in self.sink else writer
            return _Tabled(writer, self.sink["table"])

        self.program.run(begin)

    def rows(self) -> Counter[Any]:
        """Give what Spark reads of the output."""
        if "table" in self.sink:
            return rows(self.spark.table(self.sink["table"]))
        return rows(self.spark.read.format(self.sink["format"]).load(self.path))


class _Tabled:
    """Starts a query into a table."""

    def __init__(self, writer: Any, table: str) -> None:
        self._writer, self._table = writer, table

    def start(self) -> Any:
        return self._writer.toTable(self._table)


SINKS: dict[str, dict[str, Any]] = {
    "parquet": PARQUET,
    "delta": DELTA,
    "files by name": {"format": "parquet", "native": True, "table": "native_files"},
    "delta by name": {"format": "delta", "native": True, "table": "native_delta"},
}


@draw("name")
@pytest.mark.parametrize("name", SINKS)
def test_a_plain_program_joins_and_leaves(spark: Any, tmp_path: Path, name: str) -> None:
    """Its checkpoint and output are continued by Holdfast, and again without: each row once."""
    native = Native(spark, tmp_path, SINKS[name])
    program = native.program
    numbers = program.arrive(2)
    native.alone()
    numbers += program.arrive(3)
    joined = program.run_held()
    (job,) = joined.result.jobs
    assert (joined.exit_status, job.first_batch, job.rows) == (0, 1, 3), joined.findings
    assert "no fence against a late driver" in (job.promise or "")
    program.uncommit(1)
    numbers += program.arrive(1)
    again = program.run_held()
    (job,) = again.result.jobs
    assert (again.exit_status, job.batches, job.skipped_batches) == (0, 2, 1), again.findings
    numbers += program.arrive(2)
    native.alone()
    assert native.rows() == expected(numbers)
    sink = holdfast.evidence("orders", project=program.made.file).result.sink.value
    assert sink is not None and sink.native and "no fence" in (sink.promise or "")
    if "path" in SINKS[name]:
        assert sink.last_committed == 3
    (status,) = holdfast.status(project=program.made.file).result.jobs
    assert (status.sink, status.sink_native) == (SINKS[name]["format"], True)
    shown = holdfast.inspect("orders", project=program.made.file).result.sink
    assert shown is not None and (shown.native, shown.last_committed) == (True, 2)
    for one in ("native_files", "native_delta"):
        spark.sql(f"drop table if exists {one}")


def test_kafka_gets_every_row_at_least_once(spark: Any, kafka: str, tmp_path: Path) -> None:
    """A batch that runs again is written again, and that is said before: HF3024."""
    create_topic(kafka, "native")
    options = {"kafka.bootstrap.servers": kafka, "topic": "native"}
    sink = {"format": "kafka", "native": True, "options": options}
    program = PlainProgram(spark, tmp_path, sink, transform="pipeline:told")
    pipeline = tmp_path / "pipeline.py"
    told = "\n\ndef told(source):\n    return source.selectExpr('cast(n as string) as value')\n"
    pipeline.write_text(pipeline.read_text() + told)

    def read() -> Counter[int]:
        reader = spark.read.format("kafka").option("subscribe", "native")
        loaded = reader.option("kafka.bootstrap.servers", kafka).load()
        got = loaded.selectExpr("cast(cast(value as string) as int)")
        return Counter(row[0] for row in got.collect())

    numbers = program.arrive(2)
    assert program.run_held().exit_status == 21, "an adopted checkpoint has to exist"
    program.run(
        lambda frame: (
            frame.selectExpr("cast(n as string) as value")
            .writeStream.format("kafka")
            .options(**options)
            .option("checkpointLocation", str(program.checkpoint))
        )
    )
    numbers += program.arrive(2)
    answer = program.run_held()
    assert (answer.exit_status, codes(answer)) == (0, ["HF3024"])
    assert read() == Counter(numbers)
    program.uncommit(1)
    answer = program.run_held()
    assert (answer.exit_status, codes(answer)) == (WARNED, ["HF3024"])
    assert "batch 1 is pending and is written again" in answer.findings[0].message
    assert "at least once" in (answer.result.jobs[0].promise or "")
    assert read() == Counter(numbers) + Counter(numbers[2:])


DYING = '''

def dying(source):
    """Kill everything in the second batch of the job whose marker is not there yet."""
    import os
    import signal
    from pathlib import Path

    here, group = str(Path(__file__).resolve().parent), os.getpgrp()

    def pass_on(batches):
        for batch in batches:
            marker = f"{here}/died"
            if 3 in batch.column("n").to_pylist() and not os.path.exists(marker):
                open(marker, "x").close()
                os.killpg(group, signal.SIGKILL)
            yield batch

    return source.mapInArrow(pass_on, source.schema)
'''


@draw("sink")
@pytest.mark.parametrize("sink", [PARQUET, DELTA], ids=lambda sink: sink["format"])
def test_a_kill_in_a_batch_loses_and_doubles_nothing(
    spark: Any, tmp_path: Path, sink: dict[str, Any]
) -> None:
    """The batch is pending, and runs again: here, and as often as it takes."""
    made = Made(tmp_path, {"orders": ingest(transform="pipeline:dying") | {"sink": sink}})
    pipeline = tmp_path / "pipeline.py"
    pipeline.write_text(pipeline.read_text() + DYING)
    numbers = made.arrive(2) + made.arrive(3)
    killed = call(tmp_path, "run", "--json")
    assert killed.returncode == -signal.SIGKILL, killed.stderr[-500:]
    assert (made.ids("orders", "offsets"), made.ids("orders", "commits")) == ([0, 1], [0])
    numbers += made.arrive(1)
    answer = holdfast.run(project=made.file, raise_on_failure=False)
    assert answer.exit_status == 0, answer.findings
    assert answer.result.jobs[0].first_batch == 1
    read = spark.read.format(sink["format"]).load(str(tmp_path / "lake/raw"))
    assert rows(read) == expected(numbers)


class Refusing:
    """A project with one native job, declared differently from start to start."""

    def __init__(self, folder: Path) -> None:
        self.made = Made(folder, {"orders": ingest()})
        self.numbers = self.made.arrive(2)

    def arrive(self) -> None:
        """Let the rows of one more batch arrive."""
        self.numbers += self.made.arrive(2)

    def run(self, sink: dict[str, Any], **said: Any) -> tuple[int, list[str]]:
        """Run with this sink; give the exit status and the codes."""
        document = yaml.safe_load(self.made.file.read_text())
        document["jobs"]["orders"]["sink"] = sink
        self.made.file.write_text(yaml.safe_dump(document))
        answer = holdfast.run(project=self.made.file, raise_on_failure=False, **said)
        self.messages = " ".join(finding.message for finding in answer.findings)
        return answer.exit_status, codes(answer)

    def reset(self) -> None:
        """Lose the checkpoint and its records."""
        shutil.rmtree(self.made.folder / "checkpoints")
        shutil.rmtree(self.made.folder / ".holdfast", ignore_errors=True)


@pytest.mark.whole
def test_a_table_that_was_rewound_is_continued_by_our_own_sink_alone(
    spark: Any, tmp_path: Path
) -> None:
    """HF3021: Delta would skip whatever Spark writes under the old name."""
    refusing, ours = Refusing(tmp_path), {"format": "delta", "path": "./lake/raw"}
    checkpoint = refusing.made.checkpoint("orders")
    assert refusing.run(ours) == (0, [])
    job = ready_job(load_project(refusing.made.file, working_folder=tmp_path), "orders")
    query_id = json.loads((checkpoint / "metadata").read_text())["id"]
    # Nothing is behind batch 0: the fence against late drivers alone gives the query a new name.
    open_sink(spark, job).rewind(query_id, 0, generation=2)
    refusing.arrive()
    assert refusing.run(DELTA) == (30, ["HF3021"])
    assert f"continues it as {query_id}#1" in refusing.messages
    assert refusing.run(ours) == (0, [])
    assert table(spark, tmp_path / "lake/raw") == expected(refusing.numbers)


def test_a_file_sink_s_log_has_to_fit_the_checkpoint(spark: Any, tmp_path: Path) -> None:
    """A mistyped path, a log that is gone, one of another checkpoint, files of somebody else."""
    refusing, lake = Refusing(tmp_path), tmp_path / "lake/raw"
    assert refusing.run(PARQUET) == (0, [])
    refusing.arrive()
    assert refusing.run(PARQUET | {"path": "./lake/rwa"}) == (30, ["HF3022"])
    ours = {one: PARQUET[one] for one in ("format", "path", "partition_by")}
    assert refusing.run(ours) == (50, ["HF5020"])
    shutil.move(lake / "_spark_metadata", tmp_path / "aside")
    assert refusing.run(PARQUET) == (30, ["HF3022"])
    shutil.move(tmp_path / "aside", lake / "_spark_metadata")
    assert refusing.run(PARQUET) == (0, [])
    assert rows(spark.read.parquet(str(lake))) == expected(refusing.numbers)
    refusing.reset()
    assert refusing.run(PARQUET) == (30, ["HF3005"])
    shutil.rmtree(lake / "_spark_metadata")
    assert refusing.run(PARQUET) == (50, ["HF5006"])
    assert refusing.run(ours | {"path": "./lake/ours"}) == (0, [])
    assert refusing.run(PARQUET | {"path": "./lake/ours"}) == (50, ["HF5006"])
    assert "Holdfast's own file sink" in refusing.messages


@draw("format_")
@pytest.mark.parametrize("format_", ["nowhere", "jdbc"])
def test_a_format_that_spark_has_no_sink_of_is_named(
    spark: Any, tmp_path: Path, format_: str
) -> None:
    """HF5012, at the line of the sink."""
    refusing = Refusing(tmp_path)
    assert refusing.run({"format": format_, "native": True}) == (50, ["HF5012"])
    assert format_ in refusing.messages


def test_a_program_starts_its_own_sink_and_a_stop_waits_for_the_batch(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What runs when somebody asks is committed; no statement makes Spark skip a batch."""
    monkeypatch.chdir(tmp_path)
    made = Made(tmp_path, {"orders": ingest()})
    numbers = made.arrive(2)
    reader = spark.readStream.schema("n long, k string").option("maxFilesPerTrigger", 1)
    gate = str(tmp_path / "gate")

    def waiting(batches: Any) -> Any:
        import os
        import time

        while not os.path.exists(gate):  # noqa: PTH110 - runs where Path is not at hand
            time.sleep(0.05)
        yield from batches

    frame = reader.json(str(tmp_path / "in")).mapInArrow(waiting, "n long, k string")

    def start(**more: Any) -> Any:
        return holdfast.start(
            frame,
            job="orders",
            checkpoint="checkpoints/orders",
            sink={"format": "parquet", "path": "lake/raw"},
            native=True,
            trigger={"processing_time": "1 hour"},
            **more,
        )

    held = start()
    with pytest.raises(HoldfastError) as raised:
        start()
    assert raised.value.code.number == "HF2601"
    offsets = made.checkpoint("orders") / "offsets/0"
    while not offsets.exists():
        assert held.wait(0.05) is None
    threading.Timer(1, Path(gate).touch).start()
    report = held.stop()
    assert (report.ended.value, report.last_batch) == ("stopped", 0)
    assert made.ids("orders", "commits") == [0]
    assert rows(spark.read.parquet(str(tmp_path / "lake/raw"))) == expected(numbers)
    with pytest.raises(HoldfastError) as raised:
        start(pending_delivered=True)
    assert raised.value.code.number == "HF3010"


def test_a_query_whose_lease_is_lost_is_stopped(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another driver took over: no batch is begun any more."""
    monkeypatch.chdir(tmp_path)
    made = Made(tmp_path, {"orders": ingest()})
    made.arrive(2)
    frame = spark.readStream.schema("n long, k string").json(str(tmp_path / "in"))
    held = holdfast.start(
        frame,
        job="orders",
        checkpoint="checkpoints/orders",
        sink=DELTA | {"path": "lake/raw"},
        trigger={"processing_time": "1 hour"},
    )
    leases = tmp_path / "checkpoints/.holdfast/orders/lease"
    (leases / "0000000002").write_bytes((leases / "0000000001").read_bytes())
    with pytest.raises(HoldfastError) as raised:
        held.wait(60)
    assert raised.value.code.number == "HF2602"
    assert not held.query.isActive


def test_the_page_moves_from_spark_s_file_sink_to_ours(spark: Any, tmp_path: Path) -> None:
    """The consequence is said before it happens; both folders together hold each row once."""
    natively, ours = (yaml.safe_load(text) for text in blocks(PAGE, "yaml"))
    native = Native(spark, tmp_path, natively["jobs"]["orders"]["sink"])
    program = native.program
    native.path = str(tmp_path / "lake/orders")
    numbers = program.arrive(2) + program.arrive(1)
    native.alone()

    def declare(job: dict[str, Any]) -> None:
        document = yaml.safe_load(program.made.file.read_text())
        document["jobs"]["orders"]["sink"] = job["jobs"]["orders"]["sink"]
        program.made.file.write_text(yaml.safe_dump(document))

    declare(natively)
    numbers += program.arrive(1)
    assert program.run_held().exit_status == 0
    later = program.arrive(2)
    declare(ours)
    refused = program.run_held()
    assert (refused.exit_status, codes(refused)) == (30, ["HF3013"])
    assert "this start would begin with batch 3" in refused.findings[0].message
    assert program.ids("offsets") == [0, 1, 2]
    accepted = program.run_held(accept=("empty-sink",))
    assert (accepted.exit_status, codes(accepted)) == (0, ["HF3013"])
    target = str(tmp_path / ours["jobs"]["orders"]["sink"]["path"])
    assert native.rows() == expected(numbers)
    assert rows(spark.read.parquet(target)) == expected(later)
    assert program.run_held().exit_status == 0


def test_a_new_folder_for_an_adopted_checkpoint_says_what_it_lacks(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HF3023: no record knows the former output; a program is warned as well."""
    native = Native(spark, tmp_path, PARQUET)
    program = native.program
    numbers = program.arrive(2) + program.arrive(1)
    native.alone()
    monkeypatch.chdir(tmp_path)
    reader = spark.readStream.schema("n long, k string").option("maxFilesPerTrigger", 1)
    frame = reader.json(str(tmp_path / "in"))
    sink = {"format": "parquet", "path": "lake/new"}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        holdfast.start(frame, job="orders", checkpoint="old/orders", sink=sink).wait()
    (told,) = [str(one.message) for one in caught if "HF3023" in str(one.message)]
    assert "will not have batches 0 to 1 of this query" in told and "with batch 2" in told
    assert not (tmp_path / "lake/new").exists()
    later = program.arrive(3)
    report = holdfast.start(frame, job="orders", checkpoint="old/orders", sink=sink).wait()
    assert report is not None and report.first_batch == 2
    both = [str(tmp_path / "lake/new"), native.path]
    assert rows(spark.read.parquet(both[0])) == expected(later)
    assert sum((rows(spark.read.parquet(one)) for one in both), Counter()) == expected(
        numbers + later
    )
    sink = {"format": "parquet", "path": "lake/all"}
    holdfast.start(frame, job="orders-2", checkpoint="new/orders", sink=sink).wait()
    assert rows(spark.read.parquet(str(tmp_path / "lake/all"))) == expected(numbers + later)
