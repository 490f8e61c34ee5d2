"""The Delta sink on real Delta: every batch once, never two versions of a batch."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from holdfast.diagnosis.inspection.sink.gone import SinkBefore, SinkCompared
from holdfast.errors import SinkError
from holdfast.findings import Severity
from holdfast.ledgers.delta.batches import CLOSED
from holdfast.ledgers.sinkstate import Contents
from holdfast.spark.sinks.rowchecks import rows_to_write
from tests.spark.sinks.deliveries import QUERY, delta_sink, identity, rows_of

pytestmark = pytest.mark.spark

SCHEMA = "sensor string, value int"


def frame(spark: Any, *rows: tuple[Any, ...], schema: str = SCHEMA) -> Any:
    """Give a batch."""
    return spark.createDataFrame(list(rows), schema)


def commits(table: Path) -> list[dict[str, Any]]:
    """Give the actions of every version."""
    versions = []
    for path in sorted((table / "_delta_log").glob("*.json")):
        actions: dict[str, Any] = {}
        for line in path.read_text(encoding="utf-8").splitlines():
            actions.update(json.loads(line))
        versions.append(actions)
    return versions


def test_a_batch_is_appended_once_with_its_identity(spark: Any, tmp_path: Path) -> None:
    """Again, from a new process, and by another generation: skipped."""
    table = tmp_path / "table"
    sink = delta_sink(spark, table)
    batch = frame(spark, ("a", 1), ("b", None))
    sink.prepare(batch.schema, begun=False)
    assert not table.exists()
    first = sink.write(batch, identity(0))
    assert (first.skipped, first.rows) == (False, 2)
    assert sink.write(batch, identity(0)).skipped
    assert delta_sink(spark, table).write(batch, identity(0, generation=2)).skipped
    assert rows_of(spark, table) == [("a", 1), ("b", None)]
    (commit,) = commits(table)
    assert (commit["txn"]["appId"], commit["txn"]["version"]) == (QUERY, 0)
    assert json.loads(commit["commitInfo"]["userMetadata"]) == {
        "holdfast": 1, "query_id": QUERY, "batch_id": 0, "generation": 1, "offsets_digest": "d0",
    }  # fmt: skip
    told = sink.last_committed(QUERY)
    assert (told.value, sink.queries()) == (0, {QUERY})


def test_a_batch_of_sparks_own_sink_is_skipped(spark: Any, tmp_path: Path) -> None:
    """It has no digest: a job that joins meets its own past. A closed identity is refused."""
    table = tmp_path / "table"
    batch = frame(spark, ("a", 1))
    native = batch.write.format("delta").option("txnAppId", QUERY)
    native.option("txnVersion", 4).save(str(table))
    sink = delta_sink(spark, table)
    assert sink.write(batch, identity(4)).skipped
    assert not sink.write(batch, identity(5)).skipped
    closing = batch.where("false").write.format("delta").mode("append").option("txnAppId", QUERY)
    closing.option("txnVersion", CLOSED).save(str(table))
    with pytest.raises(SinkError) as caught:
        sink.write(batch, identity(6))
    assert caught.value.code.number == "HF5004"
    assert rows_of(spark, table) == [("a", 1), ("a", 1)]


def test_an_upsert_keeps_one_row_a_key(spark: Any, tmp_path: Path) -> None:
    """Names that need quoting, an empty batch, the settings of the session untouched."""
    table = tmp_path / "table"
    schema = "`a.b` string, `it's` int, value int"
    sink = delta_sink(spark, table, "upsert", key=("a.b", "it's"))
    batch = frame(spark, ("é", 1, 1), ("é", 2, 2), schema=schema)
    sink.prepare(batch.schema, begun=False)
    assert sink.write(batch, identity(0)).rows == 2
    newer = frame(spark, ("é", 2, 20), ("z", 3, 3), schema=schema)
    assert not sink.write(newer, identity(1)).skipped
    assert sink.write(newer.where("false"), identity(1)).skipped
    assert not sink.write(newer.where("false"), identity(2)).skipped
    assert rows_of(spark, table) == [("z", 3, 3), ("é", 1, 1), ("é", 2, 20)]
    assert sink.last_committed(QUERY).value == 2
    for name in ("write.txnAppId", "write.txnVersion", "commitInfo.userMetadata"):
        assert spark.conf.get(f"spark.databricks.delta.{name}", None) is None


def test_complete_replaces_everything(spark: Any, tmp_path: Path) -> None:
    """Also where the session is set to replace only the partitions that the rows are in."""
    table = tmp_path / "table"
    sink = delta_sink(spark, table, "complete", partition_by=("sensor",))
    spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    try:
        sink.write(frame(spark, ("a", 1), ("b", 2)), identity(0))
        assert sink.write(frame(spark, ("a", 9)), identity(1)).rows == 1
        assert sink.write(frame(spark, ("a", 9)), identity(1)).skipped
    finally:
        spark.conf.unset("spark.sql.sources.partitionOverwriteMode")
    assert rows_of(spark, table) == [("a", 9)]


def test_what_a_broken_first_batch_left_is_no_obstacle(spark: Any, tmp_path: Path) -> None:
    """Files of rows without a log; where no batch was planned before, they are somebody else's."""
    table = tmp_path / "table"
    sink = delta_sink(spark, table)
    broken = "if(id = 1, raise_error('on purpose'), cast(id as int)) as value"
    batch = spark.range(2).selectExpr("'a' as sensor", broken)
    with pytest.raises(Exception, match="on purpose"):
        sink.write(batch, identity(0))
    assert any(one.name.startswith("part-") for one in table.iterdir()) and not commits(table)
    with pytest.raises(SinkError) as caught:
        sink.prepare(batch.schema, begun=False)
    assert caught.value.code.number == "HF5006"
    sink.prepare(batch.schema, begun=True)
    sink.write(frame(spark, ("a", 1)), identity(0))
    assert rows_of(spark, table) == [("a", 1)]
    (tmp_path / "other").mkdir()
    (tmp_path / "other/part-00000.csv").touch()
    with pytest.raises(SinkError):
        delta_sink(spark, tmp_path / "other").prepare(batch.schema, begun=True)


def test_prepare_refuses_what_would_fail_later(spark: Any, tmp_path: Path) -> None:
    """Another folder, another partitioning, other columns; nothing is written."""
    table = tmp_path / "table"
    batch = frame(spark, ("a", 1))
    delta_sink(spark, table, partition_by=("sensor",)).write(batch, identity(0))
    wider = frame(spark, ("a", 1, 1), schema=f"{SCHEMA}, more int").schema
    for sink, schema, code in (
        (delta_sink(spark, table, partition_by=("value",)), batch.schema, "HF5005"),
        (delta_sink(spark, table), wider, "HF5005"),
        (delta_sink(spark, table.parent), batch.schema, "HF5006"),
    ):
        with pytest.raises(SinkError) as caught:
            sink.prepare(schema, begun=False)
        assert caught.value.code.number == code
    delta_sink(spark, table, options={"mergeSchema": "true"}).prepare(wider, begun=False)
    delta_sink(spark, table, partition_by=("sensor",)).prepare(batch.schema, begun=False)
    assert len(commits(table)) == 1


def test_a_table_that_is_removed_while_the_job_runs_stops_it(spark: Any, tmp_path: Path) -> None:
    """Before anything is written: the next batch does not create it again."""
    batch, table = frame(spark, ("a", 1)), tmp_path / "table"
    sink = delta_sink(spark, table)
    sink.prepare(batch.schema, begun=False)
    sink.write(batch, identity(0))
    shutil.rmtree(table)
    with pytest.raises(SinkError, match="was removed while the job ran") as caught:
        sink.write(batch, identity(1))
    assert (caught.value.code.number, table.exists()) == ("HF5027", False)


@pytest.mark.parametrize("batches", [1, 3])
def test_a_table_that_is_removed_while_a_batch_is_computed_stops_the_job(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batches: int
) -> None:
    """Delta makes a new one for the batch, whose first version may have the number of the last."""
    table = tmp_path / "table"
    sink = delta_sink(spark, table)
    sink.prepare(frame(spark, ("a", 1)).schema, begun=False)
    for number in range(batches):
        sink.write(frame(spark, ("a", number)), identity(number))
    before = sink.sight(QUERY)
    assert before.begins_with == 0

    def remove(point: str) -> None:
        if point == "sink.before-commit":
            shutil.rmtree(table)

    with monkeypatch.context() as patched:
        patched.setattr("holdfast.spark.sinks.delta.sink.reach", remove)
        with pytest.raises(SinkError, match="and another table is there") as caught:
            sink.write(frame(spark, ("a", 9)), identity(batches))
    assert caught.value.code.number == "HF5027"
    assert "Nothing of this batch was written" not in (caught.value.why or "")
    seen = delta_sink(spark, table).sight(QUERY)
    assert (seen.held.value, seen.begins_with) == (batches, batches)
    place = seen.place or ""
    known = SinkBefore(place, place, before.incarnation, batches - 1, since=0)
    (found,) = SinkCompared(seen, known, batches - 1, False, ()).findings()
    assert (found.code, found.severity) == ("HF3013", Severity.ERROR)
    assert f"which begins with batch {batches}" in found.message


@pytest.mark.parametrize("mode", ["upsert", "complete"])
def test_other_modes_and_a_table_that_is_removed_while_a_batch_is_computed(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    """An upsert makes the table again before it merges; in mode complete nothing is missing."""
    table = tmp_path / "table"
    key = ("sensor",) if mode == "upsert" else ()
    sink = delta_sink(spark, table, mode, key=key)
    sink.prepare(frame(spark, ("a", 1)).schema, begun=False)
    sink.write(frame(spark, ("a", 1)), identity(0))

    @contextmanager
    def removed(batch: Any, declared: Any) -> Iterator[Any]:
        shutil.rmtree(table)
        with rows_to_write(batch, declared) as rows:
            yield rows

    monkeypatch.setattr("holdfast.spark.sinks.delta.sink.rows_to_write", removed)
    if mode == "complete":
        sink.write(frame(spark, ("b", 2)), identity(1))
        assert rows_of(spark, table) == [("b", 2)]
        return
    with pytest.raises(SinkError) as caught:
        sink.write(frame(spark, ("b", 2)), identity(1))
    assert caught.value.code.number == "HF5027"


def test_a_table_that_others_took_back_is_noticed_at_the_start(spark: Any, tmp_path: Path) -> None:
    """RESTORE leaves the identifiers: the table still says that it holds the batch."""
    table = tmp_path / "table"
    sink = delta_sink(spark, table)
    for number in range(3):
        sink.write(frame(spark, ("a", number)), identity(number))
    before = sink.sight(QUERY)
    assert (before.held.value, before.contents, before.doubt) == (2, Contents.UNKNOWN, None)
    spark.sql(f"restore table delta.`{table}` to version as of 1")
    seen = sink.sight(QUERY)
    assert (seen.held.value, seen.contents) == (2, Contents.ROWS)
    assert seen.doubt is not None and "version 3 of " in seen.doubt


def test_a_delivered_batch_whose_identifier_expired_is_skipped(spark: Any, tmp_path: Path) -> None:
    """The table has dropped it from its state; the version that wrote the batch is still there."""
    table = tmp_path / "table"
    sink = delta_sink(spark, table)
    for number in range(2):
        sink.write(frame(spark, ("a", number)), identity(number))
    kept = "delta.setTransactionRetentionDuration"
    for value in ("interval 0 seconds", "interval 1 microsecond"):
        spark.sql(f"alter table delta.`{table}` set tblproperties ('{kept}' = '{value}')")
    started = delta_sink(spark, table)
    started.prepare(frame(spark, ("a", 1)).schema, begun=True)
    assert (started.sight(QUERY).held.value, started.sight("another").held.value) == (1, None)
    assert started.write(frame(spark, ("a", 1)), identity(1)).skipped
    with pytest.raises(SinkError, match="with different offsets"):
        started.write(frame(spark, ("a", 9)), identity(1, "other"))
    assert rows_of(spark, table) == [("a", 0), ("a", 1)]
