"""Backfill on real Spark: a range is computed again, beside a stream that goes on writing."""

from __future__ import annotations

import json
import shutil
import signal
from pathlib import Path
from typing import Any

import psycopg
import pytest

import holdfast
from holdfast.crashpoints import VARIABLE
from holdfast.errors import SinkError
from holdfast.jobs.discovery import ProjectChoice
from holdfast.jobs.readying import ready_job
from holdfast.ledgers.identity import BatchIdentity, backfill_name
from holdfast.library.reaching import names_in
from holdfast.spark.sinks.opening import open_sink
from tests.parts.kafka import create_topic, produce, remove_before
from tests.spark.running.processes import call, started, wait_for
from tests.spark.running.upserts import Rows, Stream

pytestmark = pytest.mark.spark

SINKS = ["delta", "postgres"]


@pytest.fixture(params=SINKS)
def stream(request: pytest.FixtureRequest, tmp_path: Path, database: str) -> Stream:
    """Return a stream that wrote three files with the wrong transform, and one with the right."""
    made = Stream(tmp_path / "p", request.param, database)
    made.arrive("a.json", (1, 10, "one"), (2, 10, "two"))
    made.arrive("b.json", (3, 20, "three"), (4, 20, "four"))
    made.arrive("c.json", (5, 30, "five"))
    made.run()
    made.correct()
    made.arrive("d.json", (2, 40, "newer"))
    made.run()
    return made


NEWER = (2, 40, "NEWER")
WITHOUT_C: Rows = [
    (1, 10, "ONE"), NEWER, (3, 20, "THREE"), (4, 20, "FOUR"), (5, 30, "wrong five"),
]  # fmt: skip
CORRECT: Rows = [*WITHOUT_C[:4], (5, 30, "FIVE")]


def test_a_range_of_files_is_computed_again(spark: Any, stream: Stream) -> None:
    """Checkpoint and lease of the stream stay byte-identical; newer rows stay; it runs on."""
    before = stream.live_files()
    plan = stream.plan("a.json", "b.json", batches=2)
    assert stream.plan("a.json", "b.json", batches=2) == plan
    assert stream.apply(plan) == "applied"
    assert stream.rows(spark) == WITHOUT_C
    assert stream.live_files() == before
    stream.healthy()
    assert stream.apply(plan) == "already-applied"

    stream.arrive("e.json", (6, 50, "six"))
    assert stream.run().batches == 1
    stream.healthy()
    again = stream.plan("c.json", "c.json")
    assert stream.apply(again) == "applied"
    assert stream.rows(spark) == [*CORRECT, (6, 50, "SIX")]
    _, first, second = holdfast.journal("job", project=stream.file).result.places
    assert {one.kind for place in (first, second) for one in place.acts} == {"backfill"}
    act = first.acts[0].id
    assert stream.refusal(lambda: holdfast.undo("job", act, project=stream.file)) == "HF4609"

    # The same range once more is another plan: it overwrites rows that are newer only if asked to.
    forced = stream.plan("a.json", "b.json", overwrite=True)
    assert stream.apply(forced) == "applied"
    assert stream.rows(spark)[1] == (2, 10, "TWO")

    # A reset of the job takes the rows of its backfills along.
    reset = holdfast.plan("job", "reset", {"output": "clear"}, project=stream.file).result
    holdfast.apply(reset, project=stream.file, even_if_running=True)
    assert stream.rows(spark) == []
    stream.run()
    assert stream.rows(spark) == [*CORRECT, (6, 50, "SIX")]
    stream.healthy()
    later = stream.plan("a.json", "c.json", batches=3)
    assert stream.apply(later) == "applied"
    assert stream.rows(spark) == [*CORRECT, (6, 50, "SIX")]
    stream.healthy()


def test_a_stream_writes_the_same_keys_at_the_same_time(spark: Any, stream: Stream) -> None:
    """Row by row what each key's greatest `at` gives, whoever came first."""
    keys = range(10, 40)
    stream.arrive("f.json", *((key, 10, "old") for key in keys))
    stream.run()
    for number in range(10):
        written = (number + 10, 100 + number, "live"), (number + 100, 100, "new")
        stream.arrive(f"g{number}.json", *written)
    commits = stream.made.checkpoint("job") / "commits"
    ran = len(list(commits.glob("[0-9]*")))
    with started(stream.folder, "run", "--json") as live:
        wait_for(lambda: len(list(commits.glob("[0-9]*"))) > ran, "a batch of the stream")
        assert stream.apply(stream.plan("a.json", "f.json", batches=5)) == "applied"
        output, errors = live.communicate(timeout=300)
    assert live.returncode == 0, errors[-500:]
    assert json.loads(output)["result"]["jobs"][0]["batches"] == 10
    expected = [
        *CORRECT,
        *((key, 90 + key, "LIVE") if key < 20 else (key, 10, "OLD") for key in keys),
        *((key, 100, "NEW") for key in range(100, 110)),
    ]
    assert stream.rows(spark) == expected
    stream.healthy()


POINTS = [
    "sink.after-commit",
    *(
        pytest.param(point, marks=pytest.mark.whole)
        for point in (
            "plan.begun", "plan.backfill-prepared", "batch.offsets-kept", "sink.before-commit",
            "batch.left", "sink.after-commit:2", "plan.backfill-batch-committed", "plan.applied",
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize("point", POINTS)
def test_a_killed_backfill_is_finished(spark: Any, stream: Stream, point: str) -> None:
    """The stream runs meanwhile; what takes rows back from the sink has to wait."""
    plan = stream.plan("a.json", "c.json", batches=3)
    file = stream.folder / "plan.json"
    holdfast.plan(
        "job", "backfill", {"from": "a.json", "to": "c.json", "batches": 3},
        output=file, project=stream.file,
    )  # fmt: skip
    killed = call(stream.folder, "apply", "plan.json", "--yes", **{VARIABLE: point})
    assert killed.returncode == -signal.SIGKILL, killed.stderr[-800:]
    reset = {"output": "clear"}
    asked = stream.refusal(lambda: holdfast.plan("job", "reset", reset, project=stream.file))
    assert asked == "HF4645"
    stream.arrive("e.json", (6, 50, "six"))
    stream.run()
    stream.healthy()
    found = holdfast.journal("job", project=stream.file).findings
    assert [one.code for one in found] == ["HF4645"]
    assert stream.apply(plan) == "applied"
    assert stream.rows(spark) == [*CORRECT, (6, 50, "SIX")]
    stream.healthy()
    assert holdfast.finish_plan("job", project=stream.file).result.outcome == "nothing"


def test_undo_before_a_row_is_in_the_sink(spark: Any, stream: Stream) -> None:
    """The range is planned once more, and applied as if nothing had been."""
    before = stream.rows(spark)
    holdfast.plan(
        "job", "backfill", {"from": "a.json", "to": "c.json"},
        output=stream.folder / "plan.json", project=stream.file,
    )  # fmt: skip
    at = {VARIABLE: "sink.before-commit"}
    assert call(stream.folder, "apply", "plan.json", "--yes", **at).returncode == -signal.SIGKILL
    assert holdfast.undo("job", project=stream.file).result.outcome == "undone"
    assert stream.rows(spark) == before
    stream.healthy()
    assert stream.apply(stream.plan("a.json", "c.json")) == "applied"
    assert stream.rows(spark) == CORRECT


def killed(stream: Stream, first: str, last: str, point: str, **options: Any) -> Any:
    """Return the plan of a backfill that was killed at a point."""
    file = stream.folder / "plan.json"
    asked = {"from": first, "to": last, **options}
    plan = holdfast.plan("job", "backfill", asked, output=file, project=stream.file).result
    ended = call(stream.folder, "apply", "plan.json", "--yes", **{VARIABLE: point})
    assert ended.returncode == -signal.SIGKILL, ended.stderr[-800:]
    return plan


def test_a_file_that_is_gone_stops_it(spark: Any, stream: Stream) -> None:
    """Nothing of its batch is in the sink; the rest is given up, and the job can be reset."""
    plan = killed(stream, "a.json", "c.json", "plan.backfill-batch-committed", batches=3)
    after_first = stream.rows(spark)
    (stream.folder / "in/b.json").unlink()
    assert stream.refusal(lambda: holdfast.finish_plan("job", project=stream.file)) == "HF4612"
    assert stream.refusal(lambda: stream.apply(plan)) == "HF4612"
    assert stream.rows(spark) == after_first
    place = stream.folder / f"checkpoints/.holdfast/job/backfills/{plan.id}/offsets"
    assert {one.name for one in place.iterdir() if not one.name.startswith(".")} == {"0", "1"}
    assert stream.refusal(lambda: holdfast.undo("job", project=stream.file)) == "HF4609"

    done = holdfast.undo("job", keep_rows=True, project=stream.file).result
    assert (done.outcome, done.steps[-1].event) == ("given-up", "given up after batch 1")
    assert stream.rows(spark) == after_first
    (act,) = holdfast.journal("job", project=stream.file).result.places[-1].acts
    assert (act.state, act.steps[-1].event) == ("given-up", "given up after batch 1")
    stream.healthy()
    assert stream.refusal(lambda: stream.apply(plan)) == "HF4612"
    reset = holdfast.plan("job", "reset", {"output": "clear"}, project=stream.file).result
    holdfast.apply(reset, project=stream.file, even_if_running=True)
    assert stream.rows(spark) == []


def test_a_file_that_goes_while_its_batch_starts(
    spark: Any, stream: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was there when Holdfast looked, and is gone when Spark lists what the batch reads."""
    plan, before = stream.plan("b.json", "b.json"), stream.rows(spark)

    def listed_then_gone(*given: Any) -> Any:
        names = names_in(*given)
        (stream.folder / "in/b.json").unlink(missing_ok=True)
        return names

    monkeypatch.setattr("holdfast.library.backfills.names_in", listed_then_gone)
    assert stream.refusal(lambda: stream.apply(plan)) == "HF4612"
    assert stream.rows(spark) == before


def test_one_that_cannot_be_finished_keeps_no_other_from_it(spark: Any, stream: Stream) -> None:
    """All are tried, and the failure names what was finished."""
    names = {killed(stream, name, name, "plan.step-done").id: name for name in ("a.json", "c.json")}
    first, second = sorted(names)
    gone = stream.folder / "in" / names[first]
    gone.rename(stream.folder / "kept")
    with pytest.raises(holdfast.HoldfastError) as caught:
        holdfast.finish_plan("job", project=stream.file)
    assert caught.value.code.number == "HF4612"
    assert f"finished: {second}" in caught.value.message
    correct = {"a.json": (1, 10, "ONE"), "c.json": (5, 30, "FIVE")}
    rows = stream.rows(spark)
    assert [correct[names[one]] in rows for one in (first, second)] == [False, True]
    (stream.folder / "kept").rename(gone)
    assert holdfast.finish_plan("job", project=stream.file).result.outcome == "finished"
    assert correct[names[first]] in stream.rows(spark)


def test_a_table_that_was_removed_is_not_made_again(spark: Any, stream: Stream) -> None:
    """The rows of the stream are gone with it: a table of the range alone would hide that."""
    killed(stream, "a.json", "b.json", "plan.backfill-batch-committed", batches=2)
    if stream.url:
        with psycopg.connect(stream.url) as connection:
            connection.execute("drop table written")
    else:
        shutil.rmtree(stream.folder / "lake")
    finish = lambda: holdfast.finish_plan("job", project=stream.file)  # noqa: E731
    assert stream.refusal(finish) == "HF4648"
    if not stream.url:
        assert not (stream.folder / "lake").exists()
    done = holdfast.undo("job", keep_rows=True, project=stream.file).result
    assert done.outcome == "given-up"


def test_a_driver_that_slept_in_a_batch_is_locked_out_by_undo(spark: Any, stream: Stream) -> None:
    """It commits what it was about to commit when it was stopped."""
    before = stream.rows(spark)
    plan = killed(stream, "a.json", "a.json", "sink.before-commit")
    assert holdfast.undo("job", project=stream.file).result.outcome == "undone"
    project = ProjectChoice.of(stream.file, None).load_required(stream.folder)
    job = ready_job(project, "job")
    query_id = json.loads((stream.made.checkpoint("job") / "metadata").read_text())["id"]
    late = BatchIdentity(backfill_name(query_id, plan.id), 1, 1, "range1:" + "0" * 64)
    rows = spark.createDataFrame([(1, 99, "late")], "n long, at long, value string")
    sink = open_sink(spark, job)
    sink.prepare(rows.schema, begun=True)
    with pytest.raises(SinkError) as caught:
        sink.write(rows, late)
    assert caught.value.code.number == ("HF5042" if stream.url else "HF5062")
    assert stream.rows(spark) == before
    stream.healthy()


def test_versions_of_a_delta_table(spark: Any, tmp_path: Path) -> None:
    """Each batch reads what its versions added, also after the table got more."""
    place = str(tmp_path / "p/raw")

    def add(*rows: tuple[int, int, str]) -> None:
        frame = spark.createDataFrame(list(rows), "n long, at long, value string")
        frame.write.format("delta").mode("append").save(place)

    add((1, 10, "one"))
    stream = Stream(tmp_path / "p", "delta", source={"format": "delta", "path": "./raw"})
    stream.run()
    for number in range(2, 6):
        add((number, 10, f"v{number}"), (1, 10 * number, f"one {number}"))
    stream.run()
    stream.correct()
    add((6, 90, "six"))
    stream.run()
    assert stream.apply(stream.plan("1", "3", batches=2)) == "applied"
    assert stream.rows(spark) == [
        (1, 50, "wrong one 5"), (2, 10, "V2"), (3, 10, "V3"), (4, 10, "V4"),
        (5, 10, "wrong v5"), (6, 90, "SIX"),
    ]  # fmt: skip
    assert stream.apply(stream.plan("0", "5")) == "applied"
    assert stream.rows(spark)[0] == (1, 50, "ONE 5")
    assert stream.rows(spark)[4] == (5, 10, "V5")
    stream.healthy()
    assert stream.refusal(lambda: stream.plan("4", "6")) == "HF4612"


def test_offsets_of_kafka(spark: Any, kafka: str, tmp_path: Path) -> None:
    """The records of the range, those before `--to`; no other partition is read.

    The stream goes on reading that one between plan and apply, and what it read is removed there.
    """
    create_topic(kafka, "backfilled", partitions=2)
    options = {
        "kafka.bootstrap.servers": kafka, "subscribe": "backfilled", "startingOffsets": "earliest",
    }  # fmt: skip
    read = "cast(cast(value as string) as long) as n, offset as at"
    wrong = f"select {read}, 'wrong' as value from source"
    source = {"format": "kafka", "options": options}
    stream = Stream(tmp_path / "p", "delta", source=source, sql=wrong)
    produce(kafka, "backfilled", [str(number) for number in range(10)], partition=0)
    produce(kafka, "backfilled", ["100"], partition=1)
    stream.run()
    stream.correct(wrong.replace("wrong", "right"))
    plan = stream.plan('{"backfilled": {"0": 3}}', '{"backfilled": {"0": 8}}', batches=2)
    produce(kafka, "backfilled", ["101"], partition=1)
    stream.run()
    remove_before(kafka, "backfilled", 1, 2)
    assert stream.apply(plan) == "applied"
    written = ["wrong"] * 3 + ["right"] * 5 + ["wrong"] * 2
    assert [one[2] for one in stream.rows(spark)] == [*written, "wrong", "right"]
    stream.healthy()
    produce(kafka, "backfilled", ["10"], partition=0)
    stream.run()
    assert stream.rows(spark)[10] == (10, 10, "right")
    late = '{"backfilled": {"0": 12}}'
    assert stream.refusal(lambda: stream.plan('{"backfilled": {"0": 3}}', late)) == "HF4612"
