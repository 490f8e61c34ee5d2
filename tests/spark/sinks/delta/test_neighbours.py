"""Others at work on the table of a Delta sink: each batch is there once, and theirs is kept."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from deltalake import write_deltalake

from holdfast.spark.sinks import rowchecks
from holdfast.spark.sinks.delta import commits as deltacommits
from holdfast.spark.sinks.delta import sink as delta
from tests.drawing import draw
from tests.spark.sinks.deliveries import QUERY, delta_sink, identity, rows_of
from tests.spark.sinks.delta.test_conflicts import PATIENCE_SECONDS, SCHEMA, meanwhile, waiting

pytestmark = pytest.mark.spark


@draw("mode")
@pytest.mark.parametrize("mode", ["append", "upsert", "complete"])
def test_optimize_and_another_writer_in_between(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    """The writer is no Spark: it creates the very version that ours was about to create."""
    table = tmp_path / "table"
    sink = delta_sink(spark, table, mode, key=("sensor",) if mode == "upsert" else ())
    first = spark.createDataFrame([("a", 1), ("b", 1)], SCHEMA).repartition(2, "sensor")
    sink.write(first, identity(0))
    newest = max((table / "_delta_log").glob("*.json")).stem
    second = spark.createDataFrame([("a", 2), ("c", 2)], SCHEMA).coalesce(1)
    if mode == "upsert":
        monkeypatch.setattr(rowchecks, "one_row_a_key", lambda rows, *_: waiting(rows, tmp_path))
    else:
        second = waiting(second, tmp_path)

    def others() -> None:
        rows = {"sensor": ["b"], "value": pyarrow.array([9], pyarrow.int32())}
        write_deltalake(str(table), pyarrow.table(rows), mode="append")
        spark.sql(f"optimize delta.`{table}`").collect()

    thread = meanwhile(tmp_path, others)
    delivered = sink.write(second, identity(1))
    thread.join()
    assert not delivered.skipped
    assert sink.write(second, identity(1)).skipped
    assert (
        rows_of(spark, table)
        == {
            "append": [("a", 1), ("a", 2), ("b", 1), ("b", 9), ("c", 2)],
            "upsert": [("a", 2), ("b", 1), ("b", 9), ("c", 2)],
            "complete": [("a", 2), ("c", 2)],
        }[mode]
    )
    theirs = table / f"_delta_log/{int(newest) + 1:020}.json"
    assert "delta-rs" in theirs.read_text(encoding="utf-8")
    assert sink.last_committed(QUERY).value == 1


def test_vacuum_beside_a_batch(spark: Any, tmp_path: Path) -> None:
    """Files that no version names yet are young: a vacuum with Delta's own retention leaves them.

    What a killed attempt left is no row, and is not counted as one.
    """
    table = tmp_path / "table"
    sink = delta_sink(spark, table)
    sink.write(spark.createDataFrame([("a", 1)], SCHEMA).coalesce(1), identity(0))
    written = {one.name for one in table.glob("*.parquet")}
    (left,) = written
    (table / f"part-00007-{left[11:]}").write_bytes((table / left).read_bytes())
    second = spark.createDataFrame([("b", 2), ("c", 3)], SCHEMA)
    assert second.rdd.getNumPartitions() == 2
    go = str(tmp_path / "go")

    def one_after_the_other(parts: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        context = TaskContext.get()
        while context is not None and context.partitionId() == 1 and not Path(go).exists():
            time.sleep(0.05)
        yield from parts

    (tmp_path / "started").touch()
    seen: list[set[str]] = []

    def vacuum() -> None:
        for _ in range(PATIENCE_SECONDS * 20):
            if len(list(table.glob("part-*.parquet"))) > len(written) + 1:
                break
            time.sleep(0.05)
        spark.sql(f"vacuum delta.`{table}`").collect()
        seen.append({one.name for one in table.glob("*.parquet")} - written)

    thread = meanwhile(tmp_path, vacuum)
    delivered = sink.write(second.mapInArrow(one_after_the_other, SCHEMA), identity(1))
    thread.join()
    assert not delivered.skipped and len(seen[0]) > 1
    assert rows_of(spark, table) == [("a", 1), ("b", 2), ("c", 3)]


@draw("mode")
@pytest.mark.parametrize("mode", ["append", "upsert", "complete"])
def test_a_commit_whose_answer_is_lost(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    """The batch fails and is there; run again, it is skipped."""
    table = tmp_path / "table"
    sink = delta_sink(spark, table, mode, key=("sensor",) if mode == "upsert" else ())
    batch = spark.createDataFrame([("a", 1)], SCHEMA)
    really = deltacommits.commit

    def lost(*given: Any) -> None:
        really(*given)
        raise ConnectionResetError("the answer is lost")

    monkeypatch.setattr(delta, "commit", lost)
    with pytest.raises(ConnectionResetError):
        sink.write(batch, identity(0))
    monkeypatch.undo()
    assert sink.write(batch, identity(0)).skipped
    assert delta_sink(spark, table, mode, key=("sensor",)).write(batch, identity(0)).skipped
    assert rows_of(spark, table) == [("a", 1)]
