"""Commits of others while a batch is being written: retried or seen, never doubled."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JError

from holdfast.errors import SinkError
from holdfast.spark.sinks import rowchecks
from holdfast.spark.sinks.delta import commits as deltacommits
from holdfast.spark.sinks.delta import sink as delta
from tests.spark.sinks.deliveries import delta_sink, identity, rows_of

pytestmark = pytest.mark.spark

SCHEMA = "sensor string, value int"
PATIENCE_SECONDS = 120


def waiting(rows: Any, folder: Path) -> Any:
    """Give the same rows, which stop while they are computed until `go` is there."""
    started, go = str(folder / "started"), str(folder / "go")

    def pass_on(batches: Iterator[Any]) -> Iterator[Any]:
        Path(started).touch()
        for _ in range(PATIENCE_SECONDS * 20):
            if Path(go).exists():
                break
            time.sleep(0.05)
        yield from batches

    return rows.mapInArrow(pass_on, rows.schema)


def meanwhile(folder: Path, act: Callable[[], object]) -> threading.Thread:
    """Act once the rows are being computed, then let them go on."""

    def run() -> None:
        for _ in range(PATIENCE_SECONDS * 20):
            if (folder / "started").exists():
                break
            time.sleep(0.05)
        try:
            act()
        finally:
            (folder / "go").touch()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


@pytest.fixture
def conflicts(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Note what is taken for a conflict."""
    noted: list[bool] = []
    judge = deltacommits.is_conflict

    def note(error: BaseException) -> bool:
        noted.append(judge(error))
        return noted[-1]

    monkeypatch.setattr(delta, "is_conflict", note)
    return noted


@pytest.mark.parametrize(("digest", "refused"), [("d", False), ("other", True)])
def test_the_same_batch_of_another_driver(
    spark: Any, tmp_path: Path, conflicts: list[bool], digest: str, refused: bool
) -> None:
    """Delta stops ours; with the same offsets it is a skipped batch, with others the job ends."""
    table = tmp_path / "table"
    ours, theirs = delta_sink(spark, table), delta_sink(spark, table)
    batch = spark.createDataFrame([("a", 1)], SCHEMA).coalesce(1)
    ours.write(batch, identity(0))
    other = identity(1, digest, generation=2)
    thread = meanwhile(tmp_path, lambda: theirs.write(batch, other))
    if refused:
        with pytest.raises(SinkError, match="has batch 1 with different offsets"):
            ours.write(waiting(batch, tmp_path), identity(1))
    else:
        assert ours.write(waiting(batch, tmp_path), identity(1)).skipped
    thread.join()
    assert conflicts == [True]
    assert rows_of(spark, table) == [("a", 1), ("a", 1)]


def test_a_merge_is_tried_again(
    spark: Any, tmp_path: Path, conflicts: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another job changed the same rows; ours comes after it, once."""
    table = tmp_path / "table"
    ours, theirs = (delta_sink(spark, table, "upsert", key=("sensor",)) for _ in range(2))
    theirs.write(spark.createDataFrame([("a", 0)], SCHEMA), identity(0))
    before = spark.createDataFrame([("a", 5), ("b", 5)], SCHEMA)
    other = replace(identity(0), query_id="another")
    monkeypatch.setattr(rowchecks, "one_row_a_key", lambda rows, *_: waiting(rows, tmp_path))

    def change() -> None:
        monkeypatch.setattr(rowchecks, "one_row_a_key", lambda rows, *_: rows)
        theirs.write(before, other)

    thread = meanwhile(tmp_path, change)
    after = spark.createDataFrame([("a", 9)], SCHEMA).coalesce(1)
    delivered = ours.write(after, identity(1))
    thread.join()
    assert (delivered.skipped, delivered.rows, conflicts) == (False, 1, [True])
    assert rows_of(spark, table) == [("a", 9), ("b", 5)]
    assert ours.last_committed(other.query_id).value == 0


def test_a_merge_gives_up_and_says_so(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The attempts are counted; the batch stays to be run again."""
    sink = delta_sink(spark, tmp_path / "table")

    def beaten(*_: Any) -> None:
        raise Py4JError

    monkeypatch.setattr(delta, "commit", beaten)
    monkeypatch.setattr(delta, "is_conflict", lambda _: True)
    monkeypatch.setattr(delta, "_FIRST_PAUSE_SECONDS", 0.0)
    with pytest.raises(SinkError, match=f"{delta.ATTEMPTS} times") as caught:
        sink.write(spark.createDataFrame([("a", 1)], SCHEMA), identity(0))
    assert caught.value.code.number == "HF5010"
