"""`holdfast status` as people and scripts see it."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest

from docs.generating.schemas import document_schema
from holdfast.records.leases.acting import acting
from holdfast.records.run import Ended, Failure
from tests.cli.running import holdfast
from tests.cli.test_inspect import digest_tree
from tests.corpus.loading import sample
from tests.diagnosis.doctor.recording import dead_holder, records_beside, run_on, write_runs
from tests.records.drivers import taken

JOB = """
  {name}:
    source: {{format: rate}}
    sql: select * from source
    sink: {{format: delta, path: ./lake/{name}}}
"""
NAMES = ("sensor-raw-ingest", "sensor-deserialize-and-check", "sensor-merge-gold", "new-one")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four jobs: one runs, one failed, one was killed, one never ran."""
    text = "project: sensors\njobs:" + "".join(JOB.format(name=name) for name in NAMES)
    (tmp_path / "holdfast.yaml").write_text(text)
    base = tmp_path / "checkpoints"
    for name in NAMES[:3]:
        sample("pending", "4.3.0").extract(base / "x").rename(base / name)
    (base / "x").rmdir()
    lease = taken(records_beside(base / NAMES[0]))
    running = run_on("pending", generation=lease.generation, ended=None, ended_at=None,
                     rows=12_345_678, batches=41_234)  # fmt: skip
    failure = Failure("DIVIDE_BY_ZERO", "HF5301", "a division by zero", "pipeline.py:12")
    write_runs(base / NAMES[0], running)
    write_runs(base / NAMES[1], run_on("pending", ended=Ended.FAILED, failure=failure))
    write_runs(base / NAMES[2], run_on("pending", ended=None, ended_at=None))
    taken(records_beside(base / NAMES[2]), dead_holder())
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("width", [40, 50, 60, 70])
def test_a_narrow_terminal_shows_every_job_whole(
    project: Path, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    """Names, states, batches, times and rows are in it, and nothing is cut."""
    monkeypatch.setenv("COLUMNS", str(width))
    shown = holdfast("status").out.partition("\n\n")[0]
    lines = shown.splitlines()
    assert max(map(len, lines)) <= width
    assert "…" not in shown
    names = [name for name in NAMES if name in lines or any(name[:12] in one for one in lines)]
    assert names == [*NAMES]
    for said in ("running", "failed", "killed", "2 pending", "12,345,678", "2026-03-01", "delta"):
        assert said in shown


def test_the_page_fits_80_columns_and_writes_nothing(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    before = digest_tree(project)
    shown = holdfast("status")
    assert shown.status == 3
    lines = shown.out.splitlines()
    assert shown.fits(80)
    assert [line.split()[0] for line in lines[1:6]].count("job") == 1
    by_job = {line.split()[0]: line for line in reversed(lines) if line.split()}
    assert "running" in by_job[NAMES[0]] and "12,345,678" in by_job[NAMES[0]]
    assert "2 pending" in by_job[NAMES[0]]
    assert "new" in by_job["new-one"]
    assert "HF2346" in shown.out and "HF2345" in shown.out
    assert "Leases" in shown.out
    assert digest_tree(project) == before


def test_the_document_has_the_contracts_fields(project: Path) -> None:
    document = holdfast("status", "--json").document
    jsonschema.validate(document, document_schema("status"))
    assert (document["schema"], document["status"]) == ("holdfast.status/1", "findings")
    jobs = document["result"]["jobs"]
    assert [(one["job"], one["state"]) for one in jobs] == [
        (NAMES[0], "running"),
        (NAMES[1], "failed"),
        (NAMES[2], "killed"),
        (NAMES[3], "new"),
    ]
    assert jobs[0]["lease"]["state"] == "held"
    assert (jobs[0]["last_planned"], jobs[0]["last_committed"], jobs[0]["pending"]) == (2, 1, 2)
    assert jobs[1]["runs"][0]["failure"]["error_class"] == "DIVIDE_BY_ZERO"
    assert document["findings"][0]["at"].startswith(str(project))


def test_named_jobs_alone_are_told(project: Path) -> None:
    document = holdfast("status", "new-one", "--json").document
    assert [one["job"] for one in document["result"]["jobs"]] == ["new-one"]
    assert document["status"] == "ok"


def test_a_name_that_is_no_job_is_an_error_with_the_nearest(project: Path) -> None:
    shown = holdfast("status", "sensor-merge-gld")
    assert shown.status == 2
    assert "HF1002" in shown.err and "did you mean sensor-merge-gold?" in " ".join(
        shown.err.split()
    )


def test_a_secret_in_a_failure_is_not_shown(project: Path) -> None:
    text = "could not connect to postgresql://app:hunter2secret@db/gold"
    failure = Failure("SQLException", "HF5301", text, None)
    run = run_on("pending", generation=2, ended=Ended.FAILED, failure=failure)
    write_runs(project / "checkpoints" / NAMES[1], run)
    for words in (("status",), ("status", "--json")):
        assert "hunter2secret" not in holdfast(*words).out


def test_a_restore_that_holds_the_lease_is_named(project: Path) -> None:
    with acting(records_beside(project / "checkpoints" / NAMES[3]), "restore"):
        shown = holdfast("status", NAMES[3])
        document = holdfast("status", NAMES[3], "--json").document
    jsonschema.validate(document, document_schema("status"))
    assert document["result"]["jobs"][0]["lease"]["act"] == "restore"
    assert document["result"]["jobs"][0]["state"] == "restoring"
    assert "restore by " in shown.out


@pytest.mark.usefixtures("project")
def test_a_malformed_storage_option_is_a_usage_error() -> None:
    """It is no finding about each job."""
    said = holdfast("status", "--storage-option", "foo", "--json")
    assert (said.status, said.document["error"]["code"]) == (2, "HF7010")
