"""Move on real Spark: the job goes on at the new place, and no Spark starts at the old one."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

import holdfast
from tests.backup.folders import tree_of
from tests.spark.running.projects import Made
from tests.spark.running.shapes import project, rows

pytestmark = pytest.mark.spark

SINK = "delta-append"
ALWAYS = "numbered"
SHAPES = [
    ALWAYS,
    *(pytest.param(f"pairs-format-{one}", marks=pytest.mark.whole) for one in (3, 4)),
]


def run(made: Made) -> tuple[int, list[str]]:
    """Run the job; return the exit status and the codes of the findings."""
    answer = holdfast.run(project=made.file, raise_on_failure=False)
    return answer.exit_status, [one.code for one in answer.findings if one.code != "HF2614"]


def move(made: Made, to: Path) -> None:
    """Plan a move, apply it, and declare the new place."""
    plan = holdfast.plan("job", "move", {"to": str(to)}, project=made.file).result
    holdfast.apply(plan, project=made.file, even_if_running=True)
    declare(made, "job", str(to))


def declare(made: Made, job: str, checkpoint: str) -> None:
    """Change where the project says that the checkpoint of a job is."""
    document = yaml.safe_load(made.file.read_text(encoding="utf-8"))
    document["jobs"][job]["checkpoint"] = checkpoint
    made.file.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")


def refuse_plain_spark(spark: Any, place: Path) -> None:
    """Demand that no query of plain Spark starts on a checkpoint, and that none of it changes."""
    before = tree_of(place)
    with pytest.raises(Exception, match=r"JSON|Unrecognized|JsonParse"):
        frame = spark.readStream.format("rate").load()
        query = frame.writeStream.format("noop").option("checkpointLocation", str(place)).start()
        query.awaitTermination(10)
    assert tree_of(place) == before


@pytest.mark.parametrize("shape", SHAPES)
def test_the_job_goes_on_at_the_new_place(spark: Any, tmp_path: Path, shape: str) -> None:
    """Every row once; also where the old place is gone, and after a replay at the new one."""
    made, twin = (project(tmp_path / name, shape, SINK) for name in ("made", "twin"))
    for _ in range(2):
        for one in (made, twin):
            one.arrive(4)
            assert run(one) == (0, [])
    old, new = made.checkpoint("job"), tmp_path / "elsewhere/job"
    query = holdfast.inspect("job", project=made.file).result.query_id
    move(made, new)
    refuse_plain_spark(spark, old)
    shutil.rmtree(old)
    for _ in range(2):
        for one in (made, twin):
            one.arrive(5)
            assert run(one) == (0, [])
    assert not old.exists()
    assert holdfast.inspect("job", project=made.file).result.query_id == query
    after = rows(spark, made, SINK)
    assert after == rows(spark, twin, SINK) != Counter()
    plan = holdfast.plan("job", "replay", {"from_batch": 2}, project=made.file).result
    holdfast.apply(plan, project=made.file, even_if_running=True)
    assert run(made) == (0, [])
    assert rows(spark, made, SINK) == after
    found = holdfast.doctor("job", project=made.file).findings
    assert [(one.code, one.message) for one in found if one.severity.value != "info"] == []
