"""Reset and retire on real Spark: nothing is lost or doubled, and the wrong advice is refused."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml

import holdfast
from holdfast import crashpoints
from holdfast.errors import PlanError, SinkError
from tests.backup.folders import tree_of
from tests.parts.postgres import fresh_database
from tests.spark.running import shapes
from tests.spark.running.projects import Made, expected, ingest, table

pytestmark = pytest.mark.spark

SHAPES = ("stateless", "windows", "pairs", "numbered")
SINKS = ("delta-append", "parquet-append", "postgres-append")
MATRIX = [
    *((sink, shape) for sink in SINKS for shape in SHAPES),
    *((sink, "totals") for sink in ("delta-upsert", "postgres-upsert", "delta-complete")),
]
ALWAYS = {
    ("delta-append", "windows"),
    ("parquet-append", "numbered"),
    ("postgres-append", "pairs"),
}
PAIRS = [
    pytest.param(sink, shape, marks=[] if (sink, shape) in ALWAYS else pytest.mark.whole)
    for sink, shape in MATRIX
]


def planned(made: Made, job: str, output: str = "clear", **options: Any) -> Any:
    """Return the plan of a reset."""
    given = {"output": output, **options}
    return holdfast.plan(job, "reset", given, project=made.file).result


def reset(made: Made, job: str, output: str = "clear", **options: Any) -> Any:
    """Plan a reset and apply it; return what was done."""
    plan = planned(made, job, output, **options)
    return holdfast.apply(plan, project=made.file, even_if_running=True).result


def refusal(made: Made, job: str, output: str = "clear", **options: Any) -> str:
    """Return the code with which a plan is refused."""
    with pytest.raises(PlanError) as refused:
        planned(made, job, output, **options)
    return refused.value.code.number


def run(made: Made, *jobs: str) -> tuple[int, list[str]]:
    """Run; return the exit status and the codes of the findings."""
    answer = holdfast.run(*jobs, project=made.file, raise_on_failure=False)
    return answer.exit_status, [one.code for one in answer.findings if one.code != "HF2614"]


def rows(spark: Any, made: Made, sink: str, url: str) -> Counter[Any]:
    """Return the rows of the output; a directory without files has none."""
    folder = made.folder / "lake" / shapes.TABLE
    if sink.startswith("parquet") and not list(folder.rglob("*.parquet")):
        return Counter()
    return shapes.rows(spark, made, sink, url)


def numbered(numbers: Iterable[int]) -> Counter[Any]:
    """Return the rows that these numbers make, each once."""
    return expected(list(numbers))


def declare(made: Made, job: str, **sink: Any) -> None:
    """Change the sink of a job in the project file."""
    document = yaml.safe_load(made.file.read_text(encoding="utf-8"))
    document["jobs"][job]["sink"] |= sink
    made.file.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")


def shaped(folder: Path, shape: str, sink: str, url: str) -> Made:
    """Make a project of a shape; an upsert needs a key."""
    made = shapes.project(folder, shape, sink, url)
    if sink.endswith("upsert"):
        declare(made, "job", mode="upsert", key=["k"])
        if "postgres" in sink:
            document = yaml.safe_load(made.file.read_text(encoding="utf-8"))
            del document["jobs"]["job"]["sink"]["batch_column"]
            made.file.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    return made


def test_a_new_query_begins_with_batch_0(spark: Any, tmp_path: Path) -> None:
    made, before = started(tmp_path, {"ingest": ingest()})
    reset(made, "ingest")
    (status,) = holdfast.status(project=made.file).result.jobs
    assert status.state.value == "new"
    assert run(made) == (0, [])
    now = holdfast.inspect("ingest", project=made.file).result
    assert (now.query_id != before, made.ids("ingest", "offsets")) == (True, [0, 1])
    retired = holdfast.list_backups("ingest", project=made.file).result.places[0].backups
    assert [one.purpose for one in retired] == ["archive"]


def started(folder: Path, jobs: dict[str, Any], batches: int = 2) -> tuple[Made, str | None]:
    """Make a project that has delivered two batches; return it and its query id."""
    made = Made(folder, jobs)
    for _ in range(batches):
        made.arrive(2)
    assert run(made) == (0, [])
    job = next(iter(jobs))
    return made, holdfast.inspect(job, project=made.file).result.query_id


def test_undo_brings_back_checkpoint_and_table(spark: Any, tmp_path: Path) -> None:
    made, before = started(tmp_path, {"ingest": ingest()})
    files = tree_of(made.checkpoint("ingest"))
    reset(made, "ingest")
    assert tree_of(made.checkpoint("ingest")) == {}
    assert holdfast.undo("ingest", project=made.file).result.outcome == "undone"
    assert tree_of(made.checkpoint("ingest")) == files
    assert table(spark, tmp_path / "lake/raw") == numbered(range(4))
    made.arrive(2)
    assert run(made) == (0, [])
    assert table(spark, tmp_path / "lake/raw") == numbered(range(6))
    assert holdfast.inspect("ingest", project=made.file).result.query_id == before
    reset(made, "ingest")
    assert run(made) == (0, [])
    assert table(spark, tmp_path / "lake/raw") == numbered(range(6))
    with pytest.raises(PlanError) as refused:
        holdfast.undo("ingest", project=made.file)
    assert refused.value.code.number == "HF4609"


def test_a_checkpoint_does_not_come_back_without_its_rows(spark: Any, tmp_path: Path) -> None:
    """Files are removed for good: with the old checkpoint their batches were lost."""
    job = ingest() | {"sink": {"format": "parquet", "path": "./lake/raw"}}
    made, _ = started(tmp_path, {"ingest": job})
    plan = planned(made, "ingest")
    assert [one.act for one in plan.irreversible] == ["clear-sink"]
    holdfast.apply(plan, project=made.file, even_if_running=True)
    with pytest.raises(PlanError) as refused:
        holdfast.undo("ingest", project=made.file)
    assert refused.value.code.number == "HF4609"
    assert tree_of(made.checkpoint("ingest")) == {}


class Killed(BaseException):
    """Stands for a kill: nothing catches it."""


def killed_at(point: str, monkeypatch: pytest.MonkeyPatch, act: Any) -> None:
    """Run an act that ends at a crash point."""
    name, _, time = point.partition(":")
    left = [int(time or 1)]

    def reach(reached: str) -> None:
        if reached == name:
            left[0] -= 1
            if not left[0]:
                raise Killed

    places = ("applying", "steps.checkpoint", "steps.sink", "steps.archive")
    with monkeypatch.context() as patched:
        for place in places:
            patched.setattr(f"holdfast.remedy.{place}.reach", reach)
        with pytest.raises(Killed):
            act()


def test_a_new_output_is_the_only_one_that_the_next_start_may_write(
    spark: Any, tmp_path: Path
) -> None:
    made, _ = started(tmp_path, {"ingest": ingest()})
    plan = planned(made, "ingest", "keep-new:./lake/second")
    assert any("sink.path: ./lake/second" in note for note in plan.notes)
    holdfast.apply(plan, project=made.file, even_if_running=True)
    assert run(made) == (30, ["HF3032"])
    assert table(spark, tmp_path / "lake/raw") == numbered(range(4))
    declare(made, "ingest", path="./lake/second")
    assert run(made) == (0, [])
    assert table(spark, tmp_path / "lake/second") == numbered(range(4))
    made.arrive(1)
    assert run(made) == (0, [])
    assert table(spark, tmp_path / "lake/raw") == numbered(range(4))


@pytest.mark.whole
def test_rows_in_the_output_are_never_left_there(spark: Any, tmp_path: Path) -> None:
    made, _ = started(tmp_path, {"ingest": ingest()})
    assert refusal(made, "ingest", "none") in ("HF4601", "HF4603")
    shutil.rmtree(tmp_path / "lake/raw")
    reset(made, "ingest", "none")
    assert run(made) == (0, [])
    assert table(spark, tmp_path / "lake/raw") == numbered(range(4))


@pytest.mark.whole
def test_the_new_query_begins_at_the_starting_offsets(spark: Any, tmp_path: Path) -> None:
    """A version of a Delta table; the declared options count again for the query after it."""
    clean = {
        "source": {"format": "delta", "path": "./lake/raw"},
        "transform": "pipeline:same",
        "sink": {"format": "delta", "path": "./lake/clean"},
    }
    made, _ = started(tmp_path, {"ingest": ingest(), "clean": clean})
    assert table(spark, tmp_path / "lake/clean") == numbered(range(4))
    assert refusal(made, "ingest", starting_offsets="latest") == "HF4643"
    reset(made, "clean", starting_offsets='{"startingVersion": 1}')
    assert run(made) == (0, [])
    assert table(spark, tmp_path / "lake/clean") == numbered(range(2, 4))
    newest = holdfast.status("clean", project=made.file).result.jobs[0].runs[0]
    assert newest.ended is not None
    reset(made, "clean", starting_offsets="latest")
    assert run(made, "clean") == (0, [])
    made.arrive(1)
    assert run(made) == (0, [])
    assert table(spark, tmp_path / "lake/clean") == expected([4])


GOLD = {
    "source": {"format": "delta", "path": "./lake/raw"},
    "transform": "pipeline:same",
    "sink": {"format": "delta", "path": "./lake/gold"},
}


@pytest.mark.whole
def test_a_reader_of_a_cleared_table_fails_as_the_plan_says(spark: Any, tmp_path: Path) -> None:
    made, _ = started(tmp_path, {"ingest": ingest(), "gold": GOLD})
    plan = planned(made, "ingest")
    (effect,) = plan.effects.downstream
    assert (effect.job, "DELTA_SOURCE_IGNORE_DELETE" in effect.effect) == ("gold", True)
    holdfast.apply(plan, project=made.file, even_if_running=True)
    assert run(made, "ingest") == (0, [])
    status, _ = run(made, "gold")
    assert status == 53
    reset(made, "gold")
    assert run(made) == (0, [])
    assert table(spark, tmp_path / "lake/gold") == numbered(range(4))


def test_a_cascade_resets_the_readers_too(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where it was killed between the two jobs: neither can start until it is finished."""
    made, _ = started(tmp_path, {"ingest": ingest(), "gold": GOLD})
    plan = planned(made, "ingest", cascade=True)
    killed_at(
        "plan.sink-cleared:2", monkeypatch,
        lambda: holdfast.apply(plan, project=made.file, even_if_running=True),
    )  # fmt: skip
    for job in ("ingest", "gold"):
        assert run(made, job) == (42, ["HF4606"])
    with pytest.raises(PlanError) as refused:
        holdfast.finish_plan("gold", project=made.file)
    assert refused.value.code.number == "HF4644"
    assert holdfast.finish_plan("ingest", project=made.file).result.outcome == "finished"
    made.arrive(1)
    assert run(made) == (0, [])
    for folder in ("raw", "gold"):
        assert table(spark, tmp_path / "lake" / folder) == numbered(range(5))


@pytest.mark.whole
def test_a_cascade_is_undone_as_a_whole(spark: Any, tmp_path: Path) -> None:
    made, _ = started(tmp_path, {"ingest": ingest(), "gold": GOLD})
    before = {job: tree_of(made.checkpoint(job)) for job in ("ingest", "gold")}
    reset(made, "ingest", cascade=True)
    with pytest.raises(PlanError):
        holdfast.undo("gold", project=made.file)
    assert holdfast.undo("ingest", project=made.file).result.outcome == "undone"
    assert {job: tree_of(made.checkpoint(job)) for job in ("ingest", "gold")} == before
    for folder in ("raw", "gold"):
        assert table(spark, tmp_path / "lake" / folder) == numbered(range(4))


def test_a_retired_job_does_not_start_and_comes_back(spark: Any, tmp_path: Path) -> None:
    made, before = started(tmp_path, {"ingest": ingest()})
    files = tree_of(made.checkpoint("ingest"))
    plan = holdfast.plan("ingest", "retire", project=made.file).result
    holdfast.apply(plan, project=made.file, even_if_running=True)
    assert set(tree_of(made.checkpoint("ingest"))) == {"metadata"}
    assert run(made) == (30, ["HF3031"])
    (status,) = holdfast.status(project=made.file).result.jobs
    assert status.state.value == "retired"
    with pytest.raises(Exception, match=r"retired|JSON|Unrecognized|JsonParse"):
        frame = spark.readStream.format("rate").load()
        frame.writeStream.format("noop").option(
            "checkpointLocation", str(made.checkpoint("ingest"))
        ).start().awaitTermination(10)
    assert holdfast.undo("ingest", project=made.file).result.outcome == "undone"
    assert tree_of(made.checkpoint("ingest")) == files
    made.arrive(1)
    assert run(made) == (0, [])
    assert table(spark, tmp_path / "lake/raw") == numbered(range(5))
    assert holdfast.inspect("ingest", project=made.file).result.query_id == before


def deliver_again(spark: Any, folder: Path) -> Counter[Any]:
    """Start plain Spark on a checkpoint; return the rows of its table."""
    source = spark.readStream.schema("n long, k string").option("maxFilesPerTrigger", 1)
    query = (
        source.json(str(folder / "in")).writeStream.format("delta")
        .option("checkpointLocation", str(folder / "plain"))
        .trigger(availableNow=True).start(str(folder / "table"))
    )  # fmt: skip
    query.awaitTermination()
    return table(spark, folder / "table")


def test_deleting_the_checkpoint_alone_doubles_and_is_refused(spark: Any, tmp_path: Path) -> None:
    made, _ = started(tmp_path, {"ingest": ingest()})
    assert deliver_again(spark, tmp_path) == numbered(range(4))
    shutil.rmtree(tmp_path / "plain")
    assert set(deliver_again(spark, tmp_path).values()) == {2}
    shutil.rmtree(made.checkpoint("ingest"))
    status, _ = run(made)
    assert (status, table(spark, tmp_path / "lake/raw")) == (30, numbered(range(4)))
    reset(made, "ingest")
    assert run(made) == (0, [])
    assert table(spark, tmp_path / "lake/raw") == numbered(range(4))


@pytest.mark.whole
def test_deleting_the_newest_offsets_loses_rows(spark: Any, tmp_path: Path) -> None:
    """The batch is planned again with more files, and Delta skips it under the id that it knows."""
    made, _ = started(tmp_path, {"ingest": ingest()})
    deliver_again(spark, tmp_path)
    for log in ("offsets", "commits", "sources/0"):
        for name in ("1", ".1.crc"):
            (tmp_path / "plain" / log / name).unlink(missing_ok=True)
    made.arrive(2, "more")
    for one in sorted((tmp_path / "more").glob("*.json")):
        older = min((tmp_path / "in").glob("*.json")).stat().st_mtime_ns + 1
        os.utime(one, ns=(older, older))
        one.rename(tmp_path / "in" / one.name)
    assert deliver_again(spark, tmp_path) != numbered(range(6))


def test_an_act_that_slept_takes_no_row_of_a_table_after_it_was_undone(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped right before it clears the table, and continued after somebody undid it."""
    made, _ = started(tmp_path, {"ingest": ingest()})
    plan = planned(made, "ingest")

    def stopped(point: str) -> None:
        if point == "plan.sink-confirmed":
            shutil.rmtree(tmp_path / "checkpoints/.holdfast/ingest/lease")
            assert holdfast.undo("ingest", project=made.file).result.outcome == "undone"

    monkeypatch.setattr("holdfast.remedy.steps.sink.reach", stopped)
    with pytest.raises(SinkError) as late:
        holdfast.apply(plan, project=made.file, even_if_running=True)
    assert late.value.code.number == "HF5062"
    assert table(spark, tmp_path / "lake/raw") == numbered(range(4))
    made.arrive(1)
    assert run(made) == (0, [])
    assert table(spark, tmp_path / "lake/raw") == numbered(range(5))


def test_another_table_in_the_place_is_not_cleared(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The act was killed before it cleared the table; somebody has made a new one there since."""
    made, _ = started(tmp_path, {"ingest": ingest()})
    plan, there = planned(made, "ingest"), tmp_path / "lake/raw"
    killed_at(
        "plan.step-begun:4", monkeypatch,
        lambda: holdfast.apply(plan, project=made.file, even_if_running=True),
    )  # fmt: skip
    shutil.rmtree(there)
    spark.createDataFrame([(7, "a")], "n long, k string").write.format("delta").save(str(there))
    with pytest.raises(PlanError) as refused:
        holdfast.finish_plan("ingest", project=made.file)
    assert refused.value.code.number == "HF4648"
    assert holdfast.undo("ingest", project=made.file).result.outcome == "undone"
    assert table(spark, there) == Counter({(7, "a"): 1})
    assert run(made)[0] != 0


POINTS = ("plan.start-blocked", "plan.sink-cleared", "plan.file-removed:2", "plan.applied")
"""Where the sink is in question; tests/remedy tries every point with another one."""


@pytest.mark.whole
@pytest.mark.parametrize("how", ["finish", "undo"])
def test_a_kill_at_any_point_is_finished_or_undone(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    made, _ = started(tmp_path, {"ingest": ingest()})
    assert crashpoints.POINTS.keys() >= {point.partition(":")[0] for point in POINTS}
    for point in POINTS:
        files, there = tree_of(made.checkpoint("ingest")), table(spark, tmp_path / "lake/raw")
        plan = planned(made, "ingest")
        killed_at(
            point, monkeypatch,
            lambda plan=plan: holdfast.apply(plan, project=made.file, even_if_running=True),
        )  # fmt: skip
        assert run(made) == (42, ["HF4606"]), point
        if how == "finish":
            done = holdfast.finish_plan("ingest", project=made.file).result.outcome
            assert (done, tree_of(made.checkpoint("ingest"))) == ("finished", {}), point
            assert table(spark, tmp_path / "lake/raw") == Counter(), point
        else:
            done = holdfast.undo("ingest", project=made.file).result.outcome
            assert (done, tree_of(made.checkpoint("ingest"))) == ("undone", files), point
            assert table(spark, tmp_path / "lake/raw") == there, point
        made.arrive(1)
        assert run(made) == (0, []), point
        assert table(spark, tmp_path / "lake/raw") == numbered(range(made._number)), point


@pytest.mark.parametrize(("sink", "shape"), PAIRS)
def test_the_output_equals_that_of_a_new_run(
    spark: Any, tmp_path: Path, postgres: str, sink: str, shape: str
) -> None:
    """Row by row, each once; also after more data, and after a second reset."""
    urls = [fresh_database(postgres) if "postgres" in sink else "" for _ in range(2)]
    made = shaped(tmp_path / "made", shape, sink, urls[0])
    for _ in range(2):
        made.arrive(4)
        assert run(made) == (0, [])
    for _ in range(2):
        done = reset(made, "job")
        assert (done.outcome, rows(spark, made, sink, urls[0])) == ("applied", Counter())
        assert run(made) == (0, [])
    made.arrive(5)
    assert run(made) == (0, [])
    twin = shaped(tmp_path / "twin", shape, sink, urls[1])
    shutil.copytree(made.folder / "in", twin.folder / "in")
    assert run(twin) == (0, [])
    after = rows(spark, made, sink, urls[0])
    assert after == rows(spark, twin, sink, urls[1]) != Counter()
    found = holdfast.doctor("job", project=made.file).findings
    assert [(one.code, one.message) for one in found if one.severity.value != "info"] == []
