"""A program's own query runs under a lease and leaves records; the page that shows it is true."""

from __future__ import annotations

import functools
import json
import threading
import types
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import functions as f

import holdfast
from holdfast.errors import HoldfastError, LeaseError, ProjectError, SparkStartError
from holdfast.ledgers.identity import BatchId, OffsetRange, digest_of_offsets
from holdfast.running.options import RunOptions
from holdfast.spark.run import start_query
from tests.docs.pages import REPOSITORY, blocks
from tests.docs.test_python_shown import RUN_WITH_SPARK
from tests.spark.readyjobs import job as ready_job
from tests.spark.running.projects import ROWS, Made, expected, ingest, table

pytestmark = pytest.mark.spark

PAGE = REPOSITORY / RUN_WITH_SPARK


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    """Make a folder that numbers arrive in, and work in it: relative paths count from there."""
    monkeypatch.chdir(tmp_path)
    return Made(tmp_path, {"ingest": ingest()})


def orders(spark: Any, made: Made) -> Any:
    """Give a streaming DataFrame as a program has it: one file a batch."""
    reader = spark.readStream.schema(ROWS).option("maxFilesPerTrigger", 1)
    return reader.json(str(made.folder / "in"))


class Delivered:
    """A function that a program delivers with, and what it was given."""

    def __init__(self) -> None:
        self.batches: list[tuple[BatchId, list[int]]] = []

    def __call__(self, batch: Any, identity: BatchId) -> None:
        """Keep the batch."""
        self.batches.append((identity, sorted(row.n for row in batch.collect())))

    def rows(self) -> list[int]:
        """Give all rows."""
        return sorted(number for _, rows in self.batches for number in rows)


def start(spark: Any, made: Made, deliver: Any, **more: Any) -> Any:
    """Start the program's query as the page says."""
    frame = orders(spark, made)
    return holdfast.start(
        frame, job="orders", checkpoint="checkpoints/orders", sink=deliver, **more
    )


def test_a_function_is_given_every_batch_with_its_identity(spark: Any, made: Made) -> None:
    """And the run is recorded: evidence no longer has to infer."""
    numbers = made.arrive(2) + made.arrive(3)
    deliver = Delivered()
    listeners = spark._jsparkSession.streams().listListeners
    before = len(listeners())
    held = start(spark, made, deliver)
    report = held.wait()
    assert len(listeners()) == before
    assert report is not None and report.ended.value == "finished"
    assert (report.batches, report.rows, report.generation) == (2, 5, held.generation)
    first, second = (identity for identity, _ in deliver.batches)
    assert (first.batch_id, second.batch_id) == (0, 1)
    assert {first.query_id, second.query_id} == {report.query_id} == {str(held.query.id)}
    assert {first.generation, second.generation} == {1}
    offsets = made.folder / "checkpoints/orders/offsets"
    entries = [(offsets / str(one)).read_bytes() for one in (0, 1)]
    assert second.offsets_digest == OffsetRange(1, *entries).digest
    assert second.has_offsets(digest_of_offsets(entries[1])), "as a function may have stored it"
    assert not second.has_offsets(first.offsets_digest)
    assert deliver.rows() == numbers

    numbers += made.arrive(1)
    again = start(spark, made, deliver)
    assert again.wait().first_batch == 2 and again.generation == 2
    assert deliver.rows() == numbers
    evidence = holdfast.evidence("checkpoints/orders").result
    for name in ("sink", "output_mode", "spark_version", "restart_history"):
        assert evidence.fact(name).basis.value == "recorded", name
    assert evidence.ready


def test_a_function_for_foreach_batch_works_unchanged(spark: Any, made: Made) -> None:
    """Its second argument is an int, on the driver and on executors without Holdfast."""
    numbers = made.arrive(2) + made.arrive(3)
    told: list[Any] = []

    def deliver(df: Any, batch_id: BatchId) -> None:
        target = f"{made.folder}/out/batch={batch_id}"
        named = f.udf(lambda n: f"{n} of %d" % (batch_id + 1))
        at = f.udf(lambda _: f"{type(batch_id).__name__} {batch_id.key}")
        rows = df.withColumn("batch", f.lit(batch_id)).withColumn("named", named("n"))
        rows.withColumn("at", at("n")).where(f"{batch_id} >= 0").write.option(
            "txnVersion", batch_id
        ).json(target)
        df.sparkSession.createDataFrame([(int(batch_id),)], "b long").count()
        with pytest.raises(TypeError):
            df.sparkSession.createDataFrame([(batch_id,)], ["b"])
        with (made.folder / f"{batch_id:03d}.json").open("w") as file:
            json.dump({"batch": batch_id, batch_id: [0, 1][batch_id]}, file)
        told.append((batch_id, batch_id.identity.key))

    report = start(spark, made, deliver).wait()
    assert told == [(one, f"{report.query_id}/{one}") for one in (0, 1)]
    assert (made.folder / "001.json").read_text() == '{"batch": 1, "1": 1}'
    rows = spark.read.json(str(made.folder / "out")).orderBy("n").collect()
    batches = [0, 0, 1, 1, 1]
    assert [(row.n, row.batch) for row in rows] == list(zip(numbers, batches, strict=True))
    assert [row.named for row in rows] == [
        f"{n} of {batch + 1}" for n, batch in zip(numbers, batches, strict=True)
    ]
    assert {row["at"] for row in rows} == {f"BatchId {report.query_id}/{one}" for one in (0, 1)}


def test_stop_lets_the_delivery_finish_and_a_second_start_is_refused(
    spark: Any, made: Made
) -> None:
    """One driver at a time; what it is about to write is written and committed."""
    made.arrive(2)
    made.arrive(2)
    entered, leave, deliver = threading.Event(), threading.Event(), Delivered()

    def slowly(batch: Any, identity: BatchId) -> None:
        entered.set()
        assert leave.wait(60)
        deliver(batch, identity)

    held = start(spark, made, slowly)
    assert entered.wait(120)
    with pytest.raises(LeaseError) as raised:
        start(spark, made, deliver)
    assert raised.value.code.number == "HF2601"
    assert held.wait(0.01) is None
    threading.Timer(0.5, leave.set).start()
    report = held.stop()
    assert (report.ended.value, report.last_batch) == ("stopped", 0)
    assert len(deliver.rows()) == 2
    commits = made.folder / "checkpoints/orders/commits"
    assert [one.name for one in commits.glob("[0-9]*")] == ["0"]
    start(spark, made, deliver).wait()
    assert deliver.rows() == [0, 1, 2, 3]


def test_an_error_in_the_function_is_raised_with_its_line(spark: Any, made: Made) -> None:
    """By `wait`, as one error with a code; the lease is free again."""
    made.arrive(2)

    def fail(batch: Any, identity: BatchId) -> None:
        raise ValueError("no such customer")  # this line

    held = start(spark, made, fail)
    with pytest.raises(HoldfastError) as raised:
        held.wait()
    line = next(
        number
        for number, text in enumerate(Path(__file__).read_text().splitlines(), 1)
        if text.endswith("# this line")
    )
    assert "no such customer" in raised.value.message
    assert f"{Path(__file__).name}:{line}" in str(raised.value.at)
    deliver = Delivered()
    assert start(spark, made, deliver).wait().ended.value == "finished"
    assert deliver.rows() == [0, 1]


def test_a_path_that_changes_has_to_be_accepted(spark: Any, made: Made) -> None:
    """Nobody reads a warning here, so that it is an error at the program's own line."""
    made.arrive(1)
    frame, deliver = orders(spark, made), Delivered()
    dated = "checkpoints/orders-2026-11-16"
    with pytest.raises(ProjectError) as raised:
        holdfast.start(frame, job="orders", checkpoint=dated, sink=deliver)
    assert raised.value.code.number == "HF1115"
    assert Path(__file__).name in str(raised.value.at)
    assert not (made.folder / dated).exists()
    held = holdfast.start(
        frame, job="orders", checkpoint=dated, sink=deliver, accept=["dated-path"]
    )
    held.wait()
    assert deliver.rows() == [0]


def test_a_folder_of_other_things_is_refused(spark: Any, made: Made) -> None:
    """Status 21, before Spark is called."""
    made.arrive(1)
    with pytest.raises(HoldfastError) as raised:
        holdfast.start(orders(spark, made), job="orders", checkpoint="in", sink=Delivered())
    assert raised.value.exit_status == 21


def test_a_job_built_in_python_runs_like_one_of_the_project_file(spark: Any, made: Made) -> None:
    """With a function as its transform, on the session that is there."""
    numbers = made.arrive(4)
    declared = ingest("lake/evens")
    job = holdfast.Job(
        "evens",
        checkpoint="checkpoints/evens",
        source=declared["source"],
        transform=lambda source: source.where("n % 2 = 0"),
        sink=declared["sink"],
    )
    answer = holdfast.run(job)
    assert answer.exit_status == 0, [finding.message for finding in answer.findings]
    assert answer.result.jobs[0].job == "evens" and answer.result.jobs[0].rows == 4
    evens = [number for number in numbers if number % 2 == 0]
    assert table(spark, made.folder / "lake/evens") == expected(evens)
    assert holdfast.run(job).result.jobs[0].batches == 0


def test_a_session_of_spark_connect_is_refused(tmp_path: Path) -> None:
    """Before anything but the attempt is written: Spark calls back only in classic mode."""
    session = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})()
    frame: Any = types.SimpleNamespace(sparkSession=session)
    with pytest.raises(SparkStartError) as raised:
        start_query(frame, ready_job(tmp_path), RunOptions(), lambda _: None)
    assert raised.value.code.number == "HF5205"
    assert [one.name for one in tmp_path.iterdir()] == [".holdfast"]


def test_what_cannot_become_a_job_is_refused_before_anything_starts(spark: Any, made: Made) -> None:
    """A batch DataFrame, and a function that takes no batch id: no lease, no run, no checkpoint."""
    made.arrive(1)

    def alone(batch: Any) -> None:
        batch.count()

    batch = spark.read.schema(ROWS).json(str(made.folder / "in"))
    stream, taken = orders(spark, made), Delivered()
    refused: dict[str, tuple[Any, Any]] = {"HF5118": (batch, taken), "HF5002": (stream, alone)}
    for code, (frame, sink) in refused.items():
        with pytest.raises(HoldfastError) as raised:
            holdfast.start(frame, job="orders", checkpoint="checkpoints/orders", sink=sink)
        assert raised.value.code.number == code
        assert Path(__file__).name in str(raised.value.at)
        records = made.folder / "checkpoints/.holdfast/orders"
        assert {one.name for one in records.glob("*")} <= {"attempts"}, "neither lease nor run"
        assert not (made.folder / "checkpoints/orders").exists()
    assert "alone" in raised.value.message and "def deliver(batch, batch_id)" in str(raised.value)
    for sink in (taken, functools.partial(taken.__call__)):
        start(spark, made, sink).wait()
    assert taken.rows() == [0]


def run_shown(text: str, names: dict[str, Any]) -> Any:
    """Run a block as it stands, with `/data` in the working directory, and give its query."""
    exec(compile(text.replace('"/data/', '"data/'), str(PAGE), "exec"), names)
    return names["query"]


def test_the_page_shows_what_runs(spark: Any, made: Made) -> None:
    """Before, after, and with a table: each goes on where the one before ended."""
    before, after, delta, native = blocks(PAGE, "python")
    numbers, deliver = made.arrive(3), Delivered()
    names: dict[str, Any] = {"orders": orders(spark, made), "deliver": deliver}
    # Spark itself takes a relative path for one below the folder that it was started in.
    run_shown(before.replace('"/data/', f'"{made.folder}/data/'), names)
    assert deliver.rows() == numbers
    numbers += made.arrive(2)
    assert run_shown(after, names).wait().first_batch == 1
    assert deliver.rows() == numbers
    assert isinstance(deliver.batches[-1][0], BatchId)
    more = made.arrive(2)
    assert run_shown(delta, names).wait().first_batch == 2
    assert table(spark, made.folder / "data/lake/orders") == expected(more)
    elsewhere = native.replace("checkpoints/orders", "checkpoints/native")
    run_shown(elsewhere.replace("lake/orders", "lake/native"), names).wait()
    rows = spark.read.parquet(str(made.folder / "data/lake/native")).collect()
    assert sorted(row.n for row in rows) == numbers + more
