"""A started query is used like pyspark's own: ids, progress, waiting, a block that stops it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import holdfast
from tests.docs.pages import blocks
from tests.docs.test_python_shown import PYTHON_API
from tests.spark.running.projects import ROWS, Made, expected, ingest, table

pytestmark = pytest.mark.spark


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    """Make a folder that numbers arrive in, and work in it."""
    monkeypatch.chdir(tmp_path)
    return Made(tmp_path, {"ingest": ingest()})


def orders(spark: Any, made: Made) -> Any:
    """Return a streaming DataFrame as a program has it: one file per batch."""
    reader = spark.readStream.schema(ROWS).option("maxFilesPerTrigger", 1)
    return reader.json(str(made.folder / "in"))


def test_a_program_uses_it_like_its_own_query(spark: Any, made: Made) -> None:
    """With a typed sink and the trigger's name in pyspark; all that arrived is in the table."""
    numbers = made.arrive(2) + made.arrive(3)
    with holdfast.start(
        orders(spark, made),
        job="orders",
        checkpoint="checkpoints/orders",
        sink=holdfast.DeltaSink(path="lake/orders"),
        processingTime="100 milliseconds",
    ) as query:
        query.processAllAvailable()
        assert table(spark, made.folder / "lake/orders") == expected(numbers)
        numbers += made.arrive(4)
        query.processAllAvailable()
        assert table(spark, made.folder / "lake/orders") == expected(numbers)
        theirs = query.query
        assert (query.id, query.runId, query.name) == (theirs.id, theirs.runId, theirs.name)
        assert {"message", "isDataAvailable"} <= {*query.status}
        assert [query.isActive] == [True]
        assert query.awaitTermination(0.01) is False
        progress = query.lastProgress
        assert progress is not None and str(progress.id) == query.id
        assert {one.batchId for one in query.recentProgress} >= {0, 1, 2}
    assert (query.isActive, query.exception()) == (False, None)
    assert query.awaitTermination(1) is True
    report = query.wait()
    assert report is not None and (report.ended.value, report.rows) == ("stopped", 9)


def test_available_data_ends_it_and_a_failure_is_its_exception(spark: Any, made: Made) -> None:
    """Under the names of pyspark."""
    numbers = made.arrive(2)
    rows: list[int] = []

    def deliver(batch: Any, batch_id: int) -> None:
        if batch_id == 1:
            raise ValueError("no such customer")
        rows.extend(row.n for row in batch.collect())

    def start(**trigger: Any) -> Any:
        frame, place = orders(spark, made), "checkpoints/orders"
        return holdfast.start(frame, job="orders", checkpoint=place, sink=deliver, **trigger)

    assert start(once=True).awaitTermination() is None
    assert sorted(rows) == numbers
    made.arrive(1)
    query = start(availableNow=True)
    with pytest.raises(holdfast.RunError) as raised:
        query.processAllAvailable()
    assert raised.value is query.exception() and "no such customer" in raised.value.message
    assert not query.isActive


def test_the_reference_shows_what_runs(
    spark: Any, made: Made, capsys: pytest.CaptureFixture[str]
) -> None:
    """The block as it is, with `/data` in the working directory."""
    numbers = made.arrive(3)
    (text,) = blocks(PYTHON_API, "python")
    names: dict[str, Any] = {"orders": orders(spark, made)}
    exec(compile(text.replace('"/data/', '"data/'), str(PYTHON_API), "exec"), names)
    assert capsys.readouterr().out == "orders 0\n"
    assert not names["query"].isActive
    assert table(spark, made.folder / "data/lake/orders") == expected(numbers)
