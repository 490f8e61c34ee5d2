"""A function with a ledger: killed at its worst moment it is called again, else never twice."""

from __future__ import annotations

import json
import signal
import sqlite3
from pathlib import Path
from typing import Any

import pytest
import yaml

import holdfast
from holdfast.crashpoints import VARIABLE
from holdfast.ledgers.identity import BatchIdentity
from tests.docs.pages import REPOSITORY, blocks
from tests.docs.test_python_shown import OWN_SINK
from tests.spark.running.processes import call
from tests.spark.running.projects import ROWS, Made, ingest

pytestmark = pytest.mark.spark


def rows_of(database: Path) -> list[tuple[Any, ...]]:
    """Give the rows that the function of the page wrote."""
    with sqlite3.connect(database) as connection:
        return sorted(connection.execute("select n, k from orders").fetchall())


def test_the_page_shows_a_sink_that_a_kill_does_not_double(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed after the write and before the entry: called again, and every row is there once."""
    page = REPOSITORY / OWN_SINK
    (declared,) = blocks(page, "yaml")
    pipeline, _, asking = blocks(page, "python")
    made = Made(tmp_path, yaml.safe_load(declared)["jobs"])
    (tmp_path / "pipeline.py").write_text(pipeline)
    numbers = made.arrive(3) + made.arrive(4)
    killed = call(tmp_path, "run", "--json", **{VARIABLE: "custom.written:2"})
    assert killed.returncode == -signal.SIGKILL, killed.stderr[-500:]
    assert len(rows_of(tmp_path / "orders.db")) == 7
    entries = tmp_path / "checkpoints/.holdfast/orders/batches"
    assert [one.name for one in entries.rglob("*.json")] == ["0000000000.json"]
    numbers += made.arrive(2)
    again = call(tmp_path, "run")
    assert again.returncode == 0 and "identity.key" in again.stderr, again.stderr[-500:]
    assert [row[0] for row in rows_of(tmp_path / "orders.db")] == numbers

    monkeypatch.chdir(tmp_path)
    sink = holdfast.evidence("orders").result.sink.value
    assert sink is not None and (sink.kind, sink.last_committed) == ("custom", 2)
    assert sink.promise is not None and "identity.key" in sink.promise
    exec(compile(asking, str(page), "exec"), {})
    query_id = json.loads((tmp_path / "checkpoints/orders/metadata").read_text())["id"]
    assert capsys.readouterr().out == f"{query_id} 2\n"


def counted(made: Made, spark: Any) -> Any:
    """Give a query with state, one file a batch."""
    reader = spark.readStream.schema(ROWS).option("maxFilesPerTrigger", 1)
    return reader.json(str(made.folder / "in")).groupBy("k").count()


def test_a_batch_that_the_ledger_holds_is_computed_and_not_handed_on(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its state is kept: Spark 4.2 stops where a stateful batch is not computed."""
    monkeypatch.chdir(tmp_path)
    made = Made(tmp_path, {"ingest": ingest()})
    made.arrive(3)
    made.arrive(3)
    given: list[BatchIdentity] = []

    @holdfast.once_per_batch(ledger="kept")
    def deliver(batch: Any, identity: BatchIdentity) -> None:
        assert batch.count() == 3
        given.append(identity)

    def run() -> Any:
        return holdfast.start(
            counted(made, spark), job="counts", checkpoint="checkpoints/counts", sink=deliver,
            output_mode="complete",
        ).wait()  # fmt: skip

    run()
    # Spark was killed before it wrote its commit.
    (tmp_path / "checkpoints/counts/commits/1").unlink()
    (tmp_path / "checkpoints/counts/commits/.1.crc").unlink()
    report = run()
    assert (report.skipped_batches, report.ended.value) == (1, "finished")
    assert [one.batch_id for one in given] == [0, 1]
    ledger = holdfast.BatchLedger(tmp_path / "kept")
    assert ledger.last_committed(report.query_id).value == 1
    assert "already in its ledger is skipped" in report.promise


def test_a_ledger_of_another_query_keeps_a_new_checkpoint_out(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As every other sink does (HF3007)."""
    monkeypatch.chdir(tmp_path)
    made = Made(tmp_path, {"ingest": ingest()})
    made.arrive(1)
    holdfast.BatchLedger("kept").record(BatchIdentity("other", 4, 1, "d"), "2026-11-16T08:00:00Z")
    deliver = holdfast.once_per_batch(ledger="kept")(lambda batch, identity: None)
    with pytest.raises(holdfast.HoldfastError) as raised:
        holdfast.start(
            counted(made, spark), job="counts", checkpoint="checkpoints/counts", sink=deliver,
            output_mode="complete",
        )  # fmt: skip
    assert raised.value.code.number == "HF3007"
