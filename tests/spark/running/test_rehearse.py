"""Rehearsals on real Spark: what a plan would do is seen on copies, and the originals stay."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

import holdfast
from tests.parts.postgres import fresh_database
from tests.spark.running.projects import Made, ingest
from tests.spark.running.shapes import project, rows

pytestmark = pytest.mark.spark


def everything(folder: Path) -> dict[str, str]:
    """Give the digest of every file of a project, hidden ones too."""
    return {
        str(one.relative_to(folder)): hashlib.sha256(one.read_bytes()).hexdigest()
        for one in sorted(folder.rglob("*"))
        if one.is_file() and "__pycache__" not in one.parts
    }


def workspaces() -> set[Path]:
    """Give the workspaces that are there."""
    return set(Path(tempfile.gettempdir()).glob("holdfast-rehearsal-*"))


def filled(folder: Path, shape: str, sink: str, url: str = "", batches: int = 4) -> Made:
    """Make a project whose job has run some batches."""
    made = project(folder, shape, sink, url)
    for _ in range(batches):
        made.arrive(4)
        holdfast.run(project=made.file)
    return made


def rehearsed(made: Made, plan: Any, **options: Any) -> Any:
    """Rehearse a plan; nothing of the project changes, and no workspace is left."""
    before, left = everything(made.folder), workspaces()
    answer = holdfast.rehearse(plan, project=made.file, **options)
    assert everything(made.folder) == before
    assert workspaces() == left
    assert all(one.unchanged for one in answer.result.originals)
    return answer


@pytest.mark.parametrize(
    ("sink", "shape"),
    [("delta-append", "windows"), ("parquet-append", "numbered")],
)
def test_a_replay_is_seen_before_it_is_applied(
    spark: Any, tmp_path: Path, sink: str, shape: str
) -> None:
    """What the rehearsal says of batches and rows is what the replay then does."""
    made = filled(tmp_path / "made", shape, sink)
    newest, seen = made.ids("job", "offsets")[-1], rows(spark, made, sink)
    plan = holdfast.plan("job", "replay", {"from_batch": 1}, project=made.file).result
    answer = rehearsed(made, plan, batches=9)
    result = answer.result
    assert answer.findings == ()
    assert [one.act for one in result.steps] == [one.act for one in plan.steps]
    assert (result.verdict, result.start.starts, result.start.ended) == ("safe", True, "finished")
    assert result.start.first_batch == 1
    assert (result.sink.before, result.sink.planned) == (newest, 0)
    assert result.sink.rows_after == seen.total()
    assert result.batches.pending is None
    assert bool(result.state) == (shape != "stateless")
    holdfast.apply(plan, project=made.file)
    holdfast.run(project=made.file)
    assert rows(spark, made, sink) == seen
    told = holdfast.inspect("job", project=made.file).result.batches
    assert (told.last_planned, told.last_committed) == (
        result.batches.last_planned, result.batches.last_committed,
    )  # fmt: skip


def test_a_replay_into_postgresql_is_seen_in_a_schema_of_its_own(
    spark: Any, tmp_path: Path, postgres: str
) -> None:
    """The table and its ledger stay as they are, and no schema is left."""
    import psycopg

    url = fresh_database(postgres)
    made = filled(tmp_path / "made", "stateless", "postgres-append", url, batches=3)
    seen = rows(spark, made, "postgres", url)
    plan = holdfast.plan("job", "replay", {"from_batch": 1}, project=made.file).result
    answer = rehearsed(made, plan)
    result = answer.result
    assert answer.findings == ()
    assert (result.start.starts, result.start.ended) == (True, "finished")
    assert (result.sink.before, result.sink.planned, result.sink.after) == (2, 0, 1)
    assert (result.sink.rows_planned, result.sink.rows_after) == (4, seen.total())
    assert rows(spark, made, "postgres", url) == seen
    with psycopg.connect(url) as connection:
        named = "select count(*) from pg_namespace where nspname like 'holdfast_rehearsal%'"
        assert connection.execute(named).fetchone() == (0,)


def test_a_start_that_fails_is_reported_with_its_error(spark: Any, tmp_path: Path) -> None:
    """The exit status is the one that the run would have."""
    made = filled(tmp_path / "made", "stateless", "parquet-append", batches=2)
    file = tmp_path / "plan.json"
    holdfast.plan("job", "replay", {"from_batch": 1}, output=file, project=made.file)
    pipeline = made.folder / "shapes.py"
    text = pipeline.read_text(encoding="utf-8")
    broken = text.replace(
        "def stateless(source):\n    return source\n",
        "def stateless(source):\n"
        "    return source.selectExpr('n', 'cast(raise_error(k) as string) as k')\n",
    )
    assert broken != text
    pipeline.write_text(broken, encoding="utf-8")
    before = everything(made.folder)
    # Another process, as code that was imported once is not imported again.
    words = ["rehearse", str(file), "--project", str(made.file), "--json"]
    ran = subprocess.run(
        [sys.executable, "-m", "holdfast", *words], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 53, ran.stderr
    document = json.loads(ran.stdout)
    start = document["result"]["start"]
    assert (start["starts"], start["ended"], start["batches"]) == (False, "failed", 0)
    assert start["code"] in {one["code"] for one in document["findings"]}
    assert f"holdfast explain {start['code']}" in document["next"][0]
    assert everything(made.folder) == before


DELIVERING = """
def deliver(batch, identity):
    append("delivered.txt", batch)


def elsewhere(batch, identity):
    append("elsewhere.txt", batch)


def append(name, batch):
    import os
    with open(os.path.join(os.environ["DELIVERED"], name), "a") as file:
        file.writelines(f"{row.n}\\n" for row in batch.collect())
"""


def test_a_function_as_scratch_sink_gets_the_batches_of_a_rehearsal(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The function of the job gets none; without the option nothing is started."""
    monkeypatch.setenv("DELIVERED", str(tmp_path))
    job = ingest() | {"sink": {"format": "custom", "function": "delivering:deliver"}}
    made = Made(tmp_path / "made", {"job": job})
    (made.folder / "delivering.py").write_text(DELIVERING, encoding="utf-8")
    first = made.arrive(3)
    holdfast.run(project=made.file)
    new = made.arrive(2)
    options = {"to": str(tmp_path / "moved")}
    plan = holdfast.plan("job", "move", options, project=made.file).result
    without = rehearsed(made, plan, even_if_running=True).result
    assert without.start is None and "scratch sink" in without.not_started
    answer = rehearsed(made, plan, onto="delivering:elsewhere", even_if_running=True)
    result = answer.result
    assert (result.start.starts, result.start.ended, result.start.rows) == (True, "finished", 2)
    assert result.start.first_batch == 1
    assert any("delivering:elsewhere" in note for note in result.notes)
    assert not result.sink.known, "a function without a ledger does not say what it has"
    assert numbers(tmp_path / "delivered.txt") == first
    assert numbers(tmp_path / "elsewhere.txt") == new


def numbers(file: Path) -> list[int]:
    """Give what a function of the job wrote."""
    return [int(line) for line in file.read_text(encoding="utf-8").split()]
