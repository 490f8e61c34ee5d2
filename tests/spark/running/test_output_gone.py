"""The output is deleted, dropped, mistyped or put back between runs: no row is lost quietly."""

from __future__ import annotations

import json
import shutil
import signal
import uuid
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.crashpoints import VARIABLE
from holdfast.records.folder import records_of
from holdfast.records.history import History
from holdfast.records.run import Run, SinkFacts
from holdfast.storage.location import parse_location
from holdfast.storage.options import StorageSettings
from tests.drawing import draw
from tests.parts.postgres import rows_in
from tests.spark.running.processes import call
from tests.spark.running.projects import Made, expected, ingest, table
from tests.spark.running.test_files import rows
from tests.spark.running.test_postgres import into, raw
from tests.spark.sinks.databases import databases_on

pytestmark = pytest.mark.spark

PARQUET = {"format": "parquet", "path": "./lake/raw", "partition_by": ["k"]}
LEDGER = "holdfast_ledger"
WARNED = 3
"""The exit status of a run that succeeded, with something to say."""


def parquet(**more: Any) -> dict[str, Any]:
    """Declare a job into a folder of files."""
    return ingest() | {"sink": PARQUET | more}


class Stream:
    """A project with one job that has delivered three batches in one run."""

    def __init__(self, folder: Path, job: dict[str, Any]) -> None:
        self.folder, self._job = folder, job
        self.made = Made(folder, {"ingest": job})
        self.numbers = [number for _ in range(3) for number in self.made.arrive(2)]
        assert self.run() == (0, [])

    def run(self, *accept: str, **sink: Any) -> tuple[int, list[str]]:
        """Run, with a sink declared differently; give the exit status and the codes."""
        job = self._job | {"sink": self._job["sink"] | sink}
        document = json.loads(json.dumps({"project": "test", "jobs": {"ingest": job}}))
        document["spark"] = {"master": "local[2]", "conf": {"spark.sql.shuffle.partitions": 2}}
        self.made.file.write_text(json.dumps(document), encoding="utf-8")
        answer = holdfast.run(project=self.made.file, raise_on_failure=False, accept=accept)
        self.messages = " ".join(finding.message for finding in answer.findings)
        return answer.exit_status, [finding.code for finding in answer.findings]

    def more(self) -> list[int]:
        """Let the rows of one more batch arrive."""
        arrived = self.made.arrive(2)
        self.numbers += arrived
        return arrived

    def refused(self, *codes: str, accept: tuple[str, ...] = (), **sink: Any) -> str:
        """Run, and see that nothing was planned or recorded; give what was said."""
        planned, known = self.made.ids("ingest", "offsets"), self.records()
        assert self.run(*accept, **sink) == (30, list(codes))
        assert (self.made.ids("ingest", "offsets"), self.records()) == (planned, known)
        return self.messages

    def records(self) -> tuple[Run, ...]:
        """Give the records of the runs, newest first."""
        place = parse_location(str(self.made.checkpoint("ingest")))
        return History(records_of(place, StorageSettings())).runs()

    @property
    def sink(self) -> SinkFacts:
        """What the newest record says of the sink."""
        sink = self.records()[0].sink
        assert sink is not None
        return sink


def test_a_deleted_delta_table_is_refused(spark: Any, tmp_path: Path) -> None:
    """Until it is put back, or accepted for one start; from then on it is the table."""
    stream = Stream(tmp_path, ingest())
    lake = tmp_path / "lake/raw"
    assert (stream.sink.held, stream.sink.since) == (2, 0)
    table_id = stream.sink.incarnation
    shutil.move(lake, tmp_path / "aside")
    first = stream.numbers[:]
    later = stream.more()
    said = stream.refused("HF3013", accept=("sink-behind", "shared-sink"))
    assert "had batch 2 of this query" in said and str(table_id) in said
    assert f"file://{lake}" in said and not lake.exists()
    said = stream.refused("HF3013", path="./lake/rwa")
    assert f"file://{lake}" in said and "lake/rwa, which does not exist" in said
    shutil.move(tmp_path / "aside", lake)
    assert stream.run() == (0, [])
    assert table(spark, lake) == expected(first + later)
    shutil.rmtree(lake)
    later = stream.more()
    assert stream.run("empty-sink") == (0, ["HF3013"])
    assert stream.records()[0].accepted == ("empty-sink",)
    assert stream.sink.incarnation not in (None, table_id)
    assert table(spark, lake) == expected(later)
    later += stream.more()
    assert stream.run() == (0, [])
    assert stream.records()[0].accepted == ()
    assert table(spark, lake) == expected(later)
    shutil.rmtree(lake)
    stream.refused("HF3013")


def test_a_console_does_not_take_the_batches_of_an_output(tmp_path: Path) -> None:
    """HF3013: they would be committed and never reach the output; another job may show them."""
    stream = Stream(tmp_path, parquet())
    former, console = stream._job, ingest() | {"sink": {"format": "console"}}
    stream._job = console
    arrived = stream.more()
    assert "a sink that keeps nothing" in stream.refused("HF3013")
    shown = Made(tmp_path, {"shown": console}, checkpoints="./shown")
    assert holdfast.run(project=shown.file).exit_status == 0
    stream._job = former
    assert stream.run() == (0, [])
    assert rows(tmp_path / "lake/raw") == expected(stream.numbers)
    stream._job, arrived = console, stream.more()
    assert stream.run("empty-sink") == (0, ["HF3013"])
    stream._job = former
    stream.refused("HF3006")
    assert stream.run("sink-behind") == (0, ["HF3006"])
    left = [one for one in stream.numbers if one not in arrived]
    assert rows(tmp_path / "lake/raw") == expected(left)


@pytest.mark.whole
def test_a_table_with_rows_of_others_is_not_an_empty_one(spark: Any, tmp_path: Path) -> None:
    """HF3014, also accepted; an empty table of another making can be accepted."""
    stream = Stream(tmp_path, ingest())
    lake = tmp_path / "lake/raw"
    shutil.rmtree(lake)
    stream.more()
    foreign = spark.createDataFrame([(99, "k0")], "n long, k string")
    foreign.write.format("delta").save(str(lake))
    said = stream.refused("HF3014", accept=("empty-sink",))
    assert "has rows, but no batch of this query and is another table" in said
    shutil.rmtree(lake / "_delta_log")
    stream.refused("HF3014", accept=("empty-sink",))
    shutil.rmtree(lake)
    foreign.where("n < 0").write.format("delta").save(str(lake))
    assert "is empty" in stream.refused("HF3013")
    assert stream.run("empty-sink") == (0, ["HF3013"])
    assert table(spark, lake) == expected(stream.numbers[-2:])


@pytest.mark.whole
def test_a_copied_delta_table_and_deleted_rows_start(spark: Any, tmp_path: Path) -> None:
    """Rows that were deleted are nothing; an empty table in its place is refused."""
    stream = Stream(tmp_path, ingest())
    lake = tmp_path / "lake/raw"
    spark.sql(f"delete from delta.`{lake}` where n < 4")
    stream.more()
    assert stream.run() == (0, [])
    spark.sql(f"delete from delta.`{lake}`")
    stream.more()
    assert stream.run() == (0, [])
    schema = "n long, k string"
    spark.sql(f"replace table delta.`{lake}` ({schema.replace('long', 'bigint')}) using delta")
    later = stream.more()
    stream.refused("HF3013")
    assert stream.run("empty-sink") == (0, ["HF3013"])
    assert stream.run() == (0, [])
    assert table(spark, lake) == expected(later)


@draw("mode")
@pytest.mark.parametrize("mode", ["upsert", "complete"])
def test_the_modes_of_a_delta_table_keep_its_id(tmp_path: Path, spark: Any, mode: str) -> None:
    """No start is warned of its own table."""
    changed: dict[str, Any] = {"transform": "pipeline:counted", "output_mode": "complete"}
    more: dict[str, Any] = {"mode": "complete"}
    if mode == "upsert":
        changed, more = {}, {"mode": "upsert", "key": ["n"]}
    job = ingest() | changed
    stream = Stream(tmp_path, job | {"sink": job["sink"] | more})
    table_id = stream.sink.incarnation
    for _ in range(2):
        stream.more()
        assert stream.run() == (0, [])
    assert stream.sink.incarnation == table_id is not None


def test_a_deleted_folder_of_files_is_refused(spark: Any, tmp_path: Path) -> None:
    """Its manifests are still there, which is no comfort; accepted, it begins again."""
    stream = Stream(tmp_path, parquet())
    lake = tmp_path / "lake/raw"
    shutil.rmtree(lake)
    later = stream.more()
    said = stream.refused("HF3013")
    assert f"file://{lake} had batch 2" in said and "does not exist" in said
    assert not lake.exists()
    stream.refused("HF3013", path="./lake/rwa")
    for path in (tmp_path / "in").iterdir():
        path.rename(tmp_path / path.name)
    assert stream.run("empty-sink") == (0, ["HF3013"])
    assert (stream.sink.held, stream.records()[0].accepted) == (None, ("empty-sink",))
    assert stream.run() == (0, [])
    (tmp_path / "000006.json").rename(tmp_path / "in/000006.json")
    for _ in range(2):
        assert stream.run() == (0, [])
    assert rows(lake) == expected(later)
    for path in lake.rglob("*.parquet"):
        path.unlink()
    assert stream.run() == (WARNED, ["HF3017"])


def test_expired_and_compacted_files_start(spark: Any, tmp_path: Path) -> None:
    """Old files may go; the newest ones only where files of other names took their place."""
    stream = Stream(tmp_path, parquet())
    lake = tmp_path / "lake/raw"
    for batch in ("0000000000", "0000000001"):
        for path in lake.rglob(f"*-{batch}-*"):
            path.unlink()
    stream.more()
    assert stream.run() == (0, [])
    compacted = [(path, path.with_name(f"part-00000-{uuid.uuid4()}.c000.snappy.parquet"))
                 for path in lake.rglob("*-0000000003-*")]  # fmt: skip
    for path, other in compacted:
        path.rename(tmp_path / other.name)
    stream.refused("HF3006")
    for _, other in compacted:
        (tmp_path / other.name).rename(other)
    assert stream.run() == (WARNED, ["HF3017"])


def test_a_dropped_table_is_refused(spark: Any, tmp_path: Path, database: str) -> None:
    """With its ledger, without it, and mistyped; accepted, it begins again."""
    stream = Stream(tmp_path, into(database))
    assert str(stream.sink.place).endswith(" public.raw") and stream.sink.held == 2
    oid = stream.sink.incarnation
    stream.more()
    said = stream.refused("HF3013", table="rwa")
    assert "public.raw" in said and "public.rwa, which does not exist" in said
    rows_in(database, "alter table raw rename to aside")
    assert f"({oid})" in stream.refused("HF3013")
    rows_in(database, f"alter table {LEDGER} rename to no_ledger")
    stream.refused("HF3013")
    rows_in(database, "create table raw (n bigint, k text)")
    assert "is empty and is another table" in stream.refused("HF3013")
    rows_in(database, "insert into raw values (1, 'mine')")
    stream.refused("HF3014", accept=("empty-sink",))
    rows_in(database, "drop table raw")
    rows_in(database, f"alter table no_ledger rename to {LEDGER}")
    later = stream.numbers[-2:]
    assert stream.run("empty-sink") == (0, ["HF3013"])
    later += stream.more()
    assert stream.run() == (0, [])
    assert raw(database) == expected(later)
    assert stream.sink.incarnation not in (None, oid)


@pytest.mark.whole
def test_a_restored_table_is_a_warning(spark: Any, tmp_path: Path, database: str) -> None:
    """Once; a table that somebody emptied is another warning, and never a refusal."""
    stream = Stream(tmp_path, into(database))
    rows_in(database, "create table copy as select * from raw")
    rows_in(database, "drop table raw")
    rows_in(database, "alter table copy rename to raw")
    stream.more()
    assert stream.run() == (WARNED, ["HF3016"])
    assert raw(database) == expected(stream.numbers)
    rows_in(database, "truncate raw")
    later = stream.more()
    assert stream.run() == (WARNED, ["HF3017"])
    assert raw(database) == expected(later)
    later += stream.more()
    assert stream.run() == (0, [])
    assert raw(database) == expected(later)


def test_another_search_path_does_not_move_the_table(
    spark: Any, tmp_path: Path, database: str
) -> None:
    """Refused with both names, whatever is there; nothing is created."""
    stream = Stream(tmp_path, into(database))
    rows_in(database, "create schema gold")
    rows_in(database, "alter role all set search_path = gold, public")
    try:
        stream.more()
        said = stream.refused("HF3013")
        assert " public.raw" in said and " gold.raw, which does not exist" in said
        rows_in(database, "create table gold.raw (n bigint, k text)")
        rows_in(database, "insert into gold.raw values (1, 'mine')")
        stream.refused("HF3014", accept=("empty-sink",))
        assert rows_in(database, "select count(*) from gold.raw") == [(1,)]
        assert stream.run(table="public.raw") == (0, [])
    finally:
        rows_in(database, "alter role all reset search_path")
    assert stream.run() == (0, [])
    assert Counter(rows_in(database, "select n, k from public.raw")) == expected(stream.numbers)


def test_a_dropped_table_behind_jdbc_is_refused(
    spark: Any, tmp_path: Path, postgres: str, h2: str
) -> None:
    """By the name that was resolved; another default schema is another place."""
    from tests.parts.postgres import fresh_database

    uri = fresh_database(postgres)
    name = uri.partition("?")[0].rpartition("/")[2]
    with databases_on(postgres, h2) as servers:
        url = f"jdbc:postgresql://127.0.0.1:{servers.port}/{name}?user=postgres"
        job = ingest() | {"sink": {"format": "jdbc", "url": url, "table": "raw"}}
        stream = Stream(tmp_path, job)
        assert str(stream.sink.place).endswith(" public.raw") and stream.sink.held == 2
        rows_in(uri, "create schema gold")
        stream.more()
        said = stream.refused("HF3013", url=f"{url}&currentSchema=gold")
        assert " public.raw" in said and " gold.raw, which does not exist" in said
        rows_in(uri, "alter table raw rename to aside")
        stream.refused("HF3013")
        assert stream.run("empty-sink") == (0, ["HF3013"])
        assert stream.run() == (0, [])
        assert raw(uri) == expected(stream.numbers[-2:])


def test_an_emptied_table_names_the_jobs_that_read_it(spark: Any, tmp_path: Path) -> None:
    """HF3029: and the reader indeed fails, as is said."""
    reader = {
        "source": {"format": "delta", "path": "./lake/raw"},
        "sql": "select * from source",
        "sink": {"format": "delta", "path": "./lake/clean"},
    }
    made = Made(tmp_path, {"ingest": ingest(), "clean": reader})
    made.arrive(2)
    assert holdfast.run(project=made.file).exit_status == 0
    shutil.rmtree(tmp_path / "lake/raw")
    made.arrive(2)
    answer = holdfast.run("ingest", project=made.file, accept=["empty-sink"])
    said = {one.code: one for one in answer.findings}
    assert (answer.exit_status, set(said)) == (WARNED, {"HF3013", "HF3029"})
    assert "job clean reads it as a Delta source and fails at its next" in said["HF3029"].message
    (fatal,) = [one for one in holdfast.doctor("clean", project=made.file).findings
                if one.severity.value == "fatal"]  # fmt: skip
    assert fatal.code == "HF2366"


def test_a_function_whose_ledger_is_gone_is_refused(spark: Any, tmp_path: Path) -> None:
    """A pending batch could be handed to it twice; one without a ledger starts."""
    function = """

import holdfast
import pathlib


@holdfast.once_per_batch
def remembered(batch, identity):
    batch.count()


def plain(batch, identity):
    batch.count()
"""
    sink = {"format": "custom", "function": "gone_pipeline:remembered"}
    tmp_path.joinpath("gone_pipeline.py").write_text(function, encoding="utf-8")
    stream = Stream(tmp_path, ingest() | {"sink": sink})
    assert stream.sink.held == 2
    shutil.rmtree(tmp_path / "checkpoints/.holdfast/ingest/batches")
    stream.more()
    stream.refused("HF3013")
    plain = "gone_pipeline:plain"
    assert stream.run(function=plain) == (0, [])
    checkpoint, copy = stream.made.checkpoint("ingest"), tmp_path / "copy"
    shutil.move(checkpoint, copy)
    assert "a recorded run delivered batch 3" in stream.refused("HF3025", function=plain)
    assert not checkpoint.exists()
    shutil.copytree(copy, checkpoint)
    assert stream.run(function=plain) == (0, [])
    shutil.rmtree(checkpoint)
    assert stream.run("new-checkpoint", function=plain) == (0, ["HF3025"])


def test_a_deleted_checkpoint_over_a_table_without_its_ledger(
    spark: Any, tmp_path: Path, database: str
) -> None:
    """Its rows are there and nothing recognises them: refused; emptied, the job starts over."""
    stream = Stream(tmp_path, into(database))
    shutil.rmtree(stream.made.checkpoint("ingest"))
    rows_in(database, f"drop table {LEDGER}")
    stream.refused("HF3025")
    rows_in(database, "truncate raw")
    assert stream.run() == (0, [])
    assert raw(database) == expected(stream.numbers)


def test_an_old_record_counts(spark: Any, tmp_path: Path) -> None:
    """It says that batches were delivered, and nothing of what the sink held."""
    stream = Stream(tmp_path, ingest())
    (run,) = stream.records()
    assert run.sink is not None
    old = replace(run.sink, place=None, incarnation=None, held=None, since=None)
    place = parse_location(str(stream.made.checkpoint("ingest")))
    History(records_of(place, StorageSettings())).write(replace(run, sink=old))
    assert stream.run() == (0, [])
    assert stream.sink.held == 2
    History(records_of(place, StorageSettings())).write(
        replace(stream.records()[0], sink=old, batches=0, last_batch=None)
    )
    shutil.rmtree(tmp_path / "lake/raw")
    assert f"{tmp_path}/lake/raw had batch 2" in stream.refused("HF3013")


@pytest.mark.whole
def test_a_killed_first_run_counts(spark: Any, tmp_path: Path) -> None:
    """It could not record a batch any more; the checkpoint says that it delivered one."""
    made = Made(tmp_path, {"ingest": ingest()})
    made.arrive(2)
    made.arrive(2)
    killed = call(tmp_path, "run", "--json", **{VARIABLE: "sink.before-commit:2"})
    assert killed.returncode == -signal.SIGKILL, killed.stderr[-500:]
    assert made.ids("ingest", "commits") == [0]
    shutil.rmtree(tmp_path / "lake/raw")
    answer = holdfast.run(project=made.file, raise_on_failure=False)
    assert (answer.exit_status, [one.code for one in answer.findings]) == (30, ["HF3013"])
    assert not (tmp_path / "lake/raw").exists()
