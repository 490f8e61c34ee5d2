"""The sinks that keep no ledger of their own: memory, console, a function of the user's."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import SinkError
from holdfast.jobs.ready import FunctionReference, ReadySink
from holdfast.spark.sinks.opening import open_sink
from tests.spark.sinks.deliveries import AT, QUERY, declared, identity

pytestmark = pytest.mark.spark


def frame(spark: Any, *rows: tuple[Any, ...]) -> Any:
    """Give a batch."""
    return spark.createDataFrame(list(rows), "key string, value int")


def viewed(spark: Any) -> list[tuple[Any, ...]]:
    """Give the rows of the view that the job is named after."""
    return sorted(tuple(row) for row in spark.table("sensor_clean").collect())


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("append", [("a", 1), ("a", 9), ("b", 2)]),
        ("upsert", [("a", 9), ("b", 2)]),
        ("complete", [("a", 9)]),
    ],
)
def test_memory_is_a_view_of_the_session(
    spark: Any, tmp_path: Path, mode: str, expected: list[tuple[Any, ...]]
) -> None:
    """A batch twice is one; other offsets are refused."""
    sink = open_sink(spark, declared(tmp_path, ReadySink("memory", mode, AT, key=("key",))))
    first = frame(spark, ("a", 1), ("b", 2))
    sink.prepare(first.schema, begun=False)
    assert viewed(spark) == []
    assert sink.write(first, identity(0)).rows == 2
    assert not sink.write(frame(spark, ("a", 9)), identity(1)).skipped
    assert sink.write(frame(spark, ("a", 9)), identity(1)).skipped
    with pytest.raises(SinkError, match="has batch 1 with different offsets"):
        sink.write(frame(spark, ("a", 9)), identity(1, "other"))
    assert viewed(spark) == expected
    assert (sink.last_committed(QUERY).value, sink.last_committed("other").value) == (1, None)


def test_console_prints_a_bounded_part(spark: Any, tmp_path: Path) -> None:
    """A heading with the count, the first rows, long values cut."""
    stream = io.StringIO()
    job = declared(tmp_path, ReadySink("console", "append", AT))
    sink = open_sink(spark, job, console=stream)
    batch = spark.range(50).selectExpr("id", "repeat('x', 100) as long")
    assert sink.write(batch, identity(3)).rows == 50
    text = stream.getvalue()
    assert text.startswith("batch 3: 50 rows\n")
    assert "only showing top 20 rows" in text and "x" * 41 not in text
    assert sink.last_committed(QUERY).value is None


def test_a_function_is_given_batch_and_identity(spark: Any, tmp_path: Path) -> None:
    """Named in the project or handed over; what it raises comes through unchanged."""
    (tmp_path / "pipeline_of_test.py").write_text(
        "def deliver(batch, identity):\n    raise KeyError(f'{batch.count()} {identity.batch_id}')",
        encoding="utf-8",
    )
    reference = FunctionReference("pipeline_of_test", "deliver", tmp_path, AT)
    job = declared(tmp_path, ReadySink("custom", "append", AT, function=reference))
    sink = open_sink(spark, job)
    assert sink.identity == "pipeline_of_test:deliver"
    with pytest.raises(KeyError, match="1 7"):
        sink.write(frame(spark, ("a", 1)), identity(7))
    given: list[Any] = []
    taking = ReadySink("custom", "append", AT, function=lambda *values: given.extend(values))
    batch = frame(spark, ("a", 1))
    assert not open_sink(spark, declared(tmp_path, taking)).write(batch, identity(8)).skipped
    assert given == [batch, 8] and given[1].identity == identity(8)
