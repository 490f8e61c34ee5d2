"""A job's sink that is no folder is asked: a real database, a function's ledger, or why not."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import holdfast
from holdfast.diagnosis.inspection.evidence import Basis, SinkEvidence
from holdfast.ledgers.custom import ledger_beside
from holdfast.ledgers.database.postgres import LEDGER
from holdfast.ledgers.identity import BatchIdentity
from holdfast.storage.location import parse_location
from holdfast.storage.options import StorageSettings
from tests.checkpoint.pictures import files_of
from tests.cli.running import holdfast as command
from tests.ledgers.database.test_postgres import CREATE
from tests.parts.ports import free_port
from tests.parts.postgres import rows_in
from tests.storage.places import write_tree

POSTGRES = "{format: postgres, url: '${env:GOLD_URL}', table: readings}"
CUSTOM = "{format: custom, function: 'pipeline:deliver'}"
SECRET = "hunter-three-3"


@pytest.fixture
def query(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Work where a job has delivered batches 0 to 3, and give its query id."""
    files = files_of("stateless")
    write_tree(tmp_path / "checkpoints/orders", files)
    monkeypatch.chdir(tmp_path)
    identity: str = json.loads(files["metadata"])["id"]
    return identity


def declare(sink: str) -> None:
    """Write the project file."""
    Path("holdfast.yaml").write_text(
        "project: shop\njobs:\n  orders:\n    source: {format: json, path: ./in, schema: n long}\n"
        f"    sql: select * from source\n    sink: {sink}\n"
    )


def evidence() -> tuple[SinkEvidence, Basis]:
    """Give what evidence says of the sink."""
    fact = holdfast.evidence("orders").result.sink
    assert fact.value is not None
    return fact.value, fact.basis


def codes() -> set[str]:
    """Give the codes about the sink that the doctor finds."""
    findings = holdfast.doctor("orders").findings
    return {one.code for one in findings if one.code.startswith("HF24")}


def held_by(database: str, **newest: int) -> None:
    """Let the ledger in the database hold batches up to these."""
    rows_in(database, f"drop table if exists {LEDGER}")
    rows_in(database, CREATE)
    for query_id, last in newest.items():
        rows_in(database, f"insert into {LEDGER} select 'readings', '{query_id}', b, 'd', 1, 1, "
                f"now() from generate_series(0, {last}) b")  # fmt: skip


def test_the_database_is_asked_by_every_command(
    query: str, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One answer: evidence, doctor, inspect and status say the same."""
    monkeypatch.setenv("GOLD_URL", database)
    declare(POSTGRES)
    held_by(database, **{query: 3, "other": 9})
    sink, basis = evidence()
    assert (sink.kind, sink.last_committed, sink.knows_query) == ("postgres", 3, True)
    assert basis is Basis.READ and LEDGER in sink.last_committed_basis
    assert codes() == set()
    target = holdfast.doctor("orders").result.targets[0]
    assert target.sink is not None and target.sink.last_committed == 3
    seen = holdfast.inspect("orders").result.sink
    assert seen is not None and (seen.kind, seen.last_committed) == ("postgres", 3)
    assert seen.basis == "asked"
    (job,) = holdfast.status().result.jobs
    assert job.sink_holds == 3 and LEDGER in str(job.sink_basis)
    for name in ("status", "inspect"):
        shown = command(name, *(["orders"] if name == "inspect" else []))
        assert "has batches up to 3" in shown.out, shown.out


@pytest.mark.parametrize(
    ("newest", "expected"),
    [
        ({"QUERY": 4}, {"HF2441"}),
        ({"QUERY": 1}, {"HF2442"}),
        ({"other": 9}, {"HF2443"}),
        ({}, {"HF2443"}),
        (None, {"HF2443"}),
    ],
)
def test_the_checkpoint_is_compared_with_the_database(
    query: str,
    database: str,
    monkeypatch: pytest.MonkeyPatch,
    newest: dict[str, int] | None,
    expected: set[str],
) -> None:
    """Ahead, behind, of other queries, empty, and without any ledger."""
    monkeypatch.setenv("GOLD_URL", database)
    declare(POSTGRES)
    if newest is not None:
        held_by(database, **{one.replace("QUERY", query): last for one, last in newest.items()})
    assert codes() == expected
    assert evidence()[1] is (Basis.READ if "QUERY" in (newest or {}) else Basis.INFERRED)


@pytest.mark.usefixtures("query")
def test_a_database_that_gives_no_answer_is_told_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No secret, no server, no library; and the password stays out of it."""
    declare(POSTGRES)
    monkeypatch.delenv("GOLD_URL", raising=False)
    assert "GOLD_URL" in evidence()[0].last_committed_basis
    monkeypatch.setenv("GOLD_URL", f"postgresql://u:{SECRET}@127.0.0.1:{free_port()}/d")
    for said in ("the database can't be asked", "psycopg cannot be imported"):
        sink, basis = evidence()
        assert said in sink.last_committed_basis and basis is Basis.INFERRED
        assert (sink.last_committed, sink.knows_query) == (None, None)
        assert codes() == {"HF2431"}
        (job,) = holdfast.status().result.jobs
        assert job.sink_holds is None and said in str(job.sink_basis)
        seen = holdfast.inspect("orders").result.sink
        assert seen is not None and seen.basis == "declared" and said in str(seen.asked)
        for name in ("evidence", "doctor", "inspect", "status"):
            shown = command(name, *([] if name == "status" else ["orders"]), "--json")
            assert SECRET not in shown.out + shown.err and said in shown.out, name
        monkeypatch.setitem(sys.modules, "psycopg", None)


@pytest.mark.usefixtures("query")
def test_jdbc_can_not_be_asked_without_spark() -> None:
    """Which is no finding."""
    declare("{format: jdbc, url: 'jdbc:h2:mem:x', table: readings}")
    sink, _ = evidence()
    assert "cannot be read without Spark" in sink.last_committed_basis
    assert codes() == set()


@pytest.mark.parametrize(
    "sink",
    [
        "{format: kafka, native: true, options: {topic: orders}}",
        "{format: delta, native: true, table: shop.orders}",
        "{format: iceberg, native: true, path: ./lake/orders}",
    ],
)
def test_a_sink_of_spark_s_own_that_nobody_reads_is_said_to_be_unknown(
    query: str, sink: str
) -> None:
    """And not taken for a folder whose log is gone (HF2407)."""
    declare(sink)
    asked, _ = evidence()
    assert asked.native and asked.last_committed is None and asked.kind in sink
    assert "cannot be read without Spark" in asked.last_committed_basis
    assert codes() == set()
    (job,) = holdfast.status().result.jobs
    assert (job.sink_native, job.sink_holds) == (True, None)
    assert "cannot be read without Spark" in (job.sink_basis or "")
    shown = holdfast.inspect("orders").result.sink
    assert shown is not None and "cannot be read without Spark" in (shown.asked or "")
    assert f"{asked.kind} (native)" in command("status").out


@pytest.mark.parametrize("native", [True, False])
def test_the_log_of_spark_s_file_sink_is_read_as_ever(query: str, native: bool) -> None:
    """By evidence and the doctor, whoever runs the sink."""
    declare(f"{{format: parquet, path: ./out, native: {str(native).lower()}}}")
    log = Path("out/_spark_metadata")
    log.mkdir(parents=True)
    for number in range(3):
        (log / str(number)).write_text("v1\n")
    asked, basis = evidence()
    assert (asked.kind, asked.last_committed, basis) == ("files", 2, Basis.READ)
    assert "HF2404" in codes()


def test_the_ledger_of_a_function_is_asked(query: str) -> None:
    """Beside the checkpoint; where there is none, how else it can be asked."""
    declare(CUSTOM)
    sink, _ = evidence()
    assert "BatchLedger(PLACE)" in sink.last_committed_basis and codes() == set()
    kept = ledger_beside(parse_location(str(Path("checkpoints/orders"))), StorageSettings())
    for batch_id in range(4):
        kept.record(BatchIdentity(query, batch_id, 1, f"d{batch_id}"), "2026-11-16T08:00:00.000Z")
    sink, basis = evidence()
    assert (sink.kind, sink.last_committed, basis) == ("custom", 3, Basis.READ)
    assert sink.identity == "pipeline:deliver" and codes() == set()
    kept.record(BatchIdentity(query, 4, 1, "d4"), "2026-11-16T08:00:00.000Z")
    assert codes() == {"HF2441"}
