"""Replay on real Spark: every sink that can be rewound, with every shape of query."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import holdfast
from tests.parts.postgres import fresh_database
from tests.spark.running.projects import Made
from tests.spark.running.shapes import project, rows

pytestmark = pytest.mark.spark

SINKS = ("delta-append", "parquet-append", "postgres-append")
EVERYWHERE = ("stateless", "windows", "first", "pairs", "numbered")
MATRIX = [(sink, shape) for sink in SINKS for shape in EVERYWHERE]
MATRIX.append(("delta-append", "within-changelog"))
MATRIX.append(("delta-complete", "totals"))
ALWAYS = {
    ("delta-append", "windows"),
    ("delta-complete", "totals"),
    ("postgres-append", "pairs"),
    ("parquet-append", "numbered"),
}
PAIRS = [
    pytest.param(sink, shape, marks=[] if (sink, shape) in ALWAYS else pytest.mark.whole)
    for sink, shape in MATRIX
]


def run(made: Made) -> None:
    """Run the job, and demand that nothing is found."""
    answer = holdfast.run(project=made.file)
    assert [one.code for one in answer.findings if one.code != "HF2614"] == []


def replay(made: Made, **options: Any) -> Any:
    """Plan a replay and apply it."""
    plan = holdfast.plan("job", "replay", options, project=made.file).result
    return plan, holdfast.apply(plan, project=made.file).result


def healthy(made: Made) -> None:
    """Demand that the doctor finds nothing, and that inspect forecasts a new batch."""
    found = holdfast.doctor("job", project=made.file).findings
    assert [(one.code, one.message) for one in found if one.severity.value != "info"] == []


@pytest.mark.parametrize(("sink", "shape"), PAIRS)
def test_output_equals_an_undisturbed_run(
    spark: Any, tmp_path: Path, postgres: str, sink: str, shape: str
) -> None:
    """Row by row, each once; also after more data has arrived, and after a second replay."""
    urls = [fresh_database(postgres) if "postgres" in sink else "" for _ in range(2)]
    made, twin = (
        project(tmp_path / name, shape, sink, url)
        for name, url in zip(("made", "twin"), urls, strict=True)
    )
    for _ in range(3):
        for one in (made, twin):
            one.arrive(4)
            run(one)
    before = rows(spark, made, sink, urls[0])
    assert before == rows(spark, twin, sink, urls[1])
    newest = made.ids("job", "offsets")[-1]
    for batch in (newest - 1, 1):
        replay(made, from_batch=batch)
        healthy(made)
        told = holdfast.inspect("job", project=made.file).result.next_start
        assert (told.action.value, told.batch_id) == ("plan", batch)
        run(made)
        assert rows(spark, made, sink, urls[0]) == before
        healthy(made)
    for one in (made, twin):
        one.arrive(5)
        run(one)
    after = rows(spark, made, sink, urls[0])
    assert after == rows(spark, twin, sink, urls[1])
    # The first row of each key is there already.
    assert (after == before) is (shape == "first")


@pytest.mark.parametrize("mode", ["append", pytest.param("complete", marks=pytest.mark.whole)])
def test_undo_restores_the_table_and_every_byte_of_the_checkpoint(
    spark: Any, tmp_path: Path, mode: str
) -> None:
    """The closed name stays closed: what runs next goes on under the one after it."""
    shape, sink = (
        ("totals", "delta-complete") if mode == "complete" else ("windows", "delta-append")
    )
    made = project(tmp_path / "made", shape, sink)
    for _ in range(3):
        made.arrive(4)
        run(made)
    seen, tree = rows(spark, made, sink), files_of(made)
    for _ in range(2):
        replay(made, from_batch=1)
        assert rows(spark, made, sink) != seen
        assert holdfast.undo("job", project=made.file).result.outcome == "undone"
        assert (rows(spark, made, sink), files_of(made)) == (seen, tree)
        healthy(made)
    run(made)
    made.arrive(4)
    run(made)
    after = rows(spark, made, sink)
    replay(made, from_batch=2)
    run(made)
    assert rows(spark, made, sink) == after != seen
    with pytest.raises(holdfast.HoldfastError) as caught:
        holdfast.undo("job", project=made.file)
    assert caught.value.code.number == "HF4609"


def files_of(made: Made) -> dict[str, bytes]:
    """Give every file of the checkpoint."""
    folder = made.checkpoint("job")
    return {str(one): one.read_bytes() for one in sorted(folder.rglob("*")) if one.is_file()}
