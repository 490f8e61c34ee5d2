"""`status --metrics FILE`: what is written, where, and what is refused."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from docs.generating.schemas import document_schema
from holdfast.metrics.exposition import write_metrics
from holdfast.records.run import BatchNote, Ended, Failure
from holdfast.storage import localwriter
from tests.cli.running import holdfast
from tests.cli.test_inspect import digest_tree
from tests.corpus.loading import sample
from tests.diagnosis.doctor.recording import dead_holder, records_beside, run_on, write_runs
from tests.fuzz.children import in_child
from tests.metrics.jobs import MEASURES, Scraped, names_of, parsed, value
from tests.records.drivers import taken

JOB = """
  {name}:
    source: {{format: rate}}
    sql: select * from source
    sink: {{format: delta, path: ./lake/{name}}}
"""
NAMES = ("running", "failed", "killed", "new", "unrecorded", "unreadable")
SECRET = "hunter2-hunter2"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A job in each of several states, all at batch 2 of which 1 is committed."""
    text = "project: sensors\njobs:" + "".join(JOB.format(name=name) for name in NAMES)
    (tmp_path / "holdfast.yaml").write_text(text)
    base = tmp_path / "checkpoints"
    for name in ("running", "failed", "killed", "unrecorded"):
        sample("pending", "4.3.0").extract(base / "x").rename(base / name)
    (base / "x").rmdir()
    (base / "unreadable").touch()
    note = BatchNote(1, 30, "2026-11-16T05:00:00.000Z", 2.5)
    lease = taken(records_beside(base / "running"))
    running = run_on("pending", generation=lease.generation, ended=None, ended_at=None, rows=99,
                     recent=(note,), measures=replace(MEASURES, batch_id=1))  # fmt: skip
    failure = Failure("X", "HF5301", f"password={SECRET}", "pipeline.py:12")
    write_runs(base / "running", running)
    write_runs(base / "failed", run_on("pending", ended=Ended.FAILED, failure=failure,
                                       recent=(note,)))  # fmt: skip
    write_runs(base / "killed", run_on("pending", ended=None, ended_at=None, recent=()))
    taken(records_beside(base / "killed"), dead_holder())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(path: Path) -> Scraped:
    return parsed(path.read_text(encoding="utf-8"))


def test_every_job_is_written_as_status_shows_it(project: Path) -> None:
    before = digest_tree(project)
    shown = holdfast("status", "--metrics", "all.prom")
    assert shown.status == 3
    assert "metrics written to all.prom" in shown.out
    found = written(project / "all.prom")
    states = {name: dict(labels)["state"] for name, labels in _states(found)}
    assert states == {name: name for name in NAMES}
    up = {name: _value(found, "holdfast_job_up", name) for name in NAMES}
    assert up == {"running": 1, "failed": 0, "killed": 0, "new": 0, "unrecorded": 0,
                  "unreadable": None}  # fmt: skip
    failed = [one for one in NAMES if _value(found, "holdfast_job_failed", one)]
    assert failed == ["failed", "killed"]
    for name in ("running", "failed", "killed", "unrecorded"):
        assert _value(found, "holdfast_batch_id", name) == 1
        assert _value(found, "holdfast_pending_batch_id", name) == 2
    assert "holdfast_pending_batch_id" not in names_of(found, "new")
    assert SECRET not in (project / "all.prom").read_text()
    (project / "all.prom").unlink()
    assert digest_tree(project) == before


def test_what_a_run_measured_comes_from_its_record(project: Path) -> None:
    holdfast("status", "--metrics", "all.prom")
    found = written(project / "all.prom")
    in_project = {"job": "running", "project": "sensors"}
    operator = {"operator": "0", "operator_name": "stateStoreSave"}
    assert value(found, "holdfast_state_rows", **in_project, **operator) == 12
    phase = {"phase": "addBatch"}
    assert value(found, "holdfast_batch_duration_seconds", **in_project, **phase) == 1.5
    assert value(found, "holdfast_last_commit_timestamp_seconds", **in_project) == 1794805202.5
    assert value(found, "holdfast_source_lag_records", **in_project, source="orders") == 10
    assert value(found, "holdfast_batch_rows", **in_project) == 30
    assert value(found, "holdfast_last_run_rows", **in_project) == 99
    assert value(found, "holdfast_lease_held", **in_project) == 1
    whole = {"job": "failed", "project": "sensors", "phase": "triggerExecution"}
    assert value(found, "holdfast_batch_duration_seconds", **whole) == 2.5, "of an older record"
    assert "holdfast_state_rows" not in names_of(found, "failed")
    assert "holdfast_last_commit_age_seconds" not in names_of(found, "killed")


def test_the_document_has_what_the_metrics_are_made_of(project: Path) -> None:
    document = holdfast("status", "--json", "--metrics", "all.prom").document
    jsonschema.validate(document, document_schema("status"))
    assert document["result"]["metrics_file"] == "all.prom"
    batch = document["result"]["jobs"][0]["newest_batch"]
    assert (batch["batch_id"], batch["committed_at"]) == (1, "2026-11-16T05:00:02.500Z")
    assert batch["phase_seconds"]["addBatch"] == 1.5
    assert holdfast("status", "--json").document["result"]["metrics_file"] is None


def test_each_call_replaces_the_file_as_a_whole(project: Path) -> None:
    target = project / "all.prom"
    target.touch()
    holdfast("status", "new", "--metrics", str(target), "--quiet")
    first = target.stat().st_ino
    assert names_of(written(target), "new") and not names_of(written(target), "failed")
    holdfast("status", "failed", "--metrics", str(target), "--quiet")
    assert target.stat().st_ino != first, "a reader that has the old file open keeps it whole"
    assert names_of(written(target), "failed") and not names_of(written(target), "new")
    assert [one.name for one in project.glob(".*partial")] == []


@pytest.mark.parametrize(
    ("file", "why"),
    [
        ("all.txt", "does not end in .prom"),
        ("nowhere/all.prom", "does not exist"),
        ("checkpoints/failed/all.prom", "inside a checkpoint"),
        ("folder.prom", "is a directory"),
        ("node.prom", "is not a metrics file of Holdfast"),
    ],
)
def test_a_place_that_is_not_for_metrics_is_refused(project: Path, file: str, why: str) -> None:
    """Then the step is followed: a name that ends in .prom, in a directory that exists."""
    (project / "folder.prom").mkdir()
    (project / "node.prom").write_text("node_load1 0.5\n")
    before = digest_tree(project)
    refused = holdfast("status", "--metrics", file)
    assert refused.status == 2
    assert "HF1023" in refused.err and why in " ".join(refused.err.split())
    assert digest_tree(project) == before
    assert holdfast("status", "new", "--metrics", "new.prom").status == 0
    assert names_of(written(project / "new.prom"), "new")


def test_a_directory_that_cannot_be_written_is_refused(project: Path) -> None:
    (project / "closed").mkdir(mode=0o555)

    def refused() -> str:
        shown = holdfast("status", "--metrics", "closed/all.prom")
        return f"{shown.status} {shown.err}"

    answer = in_child(refused, without_capabilities=True)
    assert answer.startswith("2 ") and "cannot be written" in answer


def test_a_full_disk_leaves_the_old_file(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    holdfast("status", "new", "--metrics", "all.prom")
    before = (project / "all.prom").read_bytes()

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    refused = holdfast("status", "new", "--metrics", "all.prom")
    assert refused.status == 2 and "no space left on device" in refused.err
    assert (project / "all.prom").read_bytes() == before
    assert list(project.glob(".all*")) == []


def test_neither_spark_nor_java_is_needed(project: Path) -> None:
    program = (
        "import sys\n"
        "sys.modules['pyspark'] = sys.modules['py4j'] = None\n"
        "from holdfast.cli.main import run\n"
        "status = run(['status', 'new', '--quiet', '--metrics', 'all.prom'])\n"
        "sys.exit(status)\n"
    )
    environment = {**os.environ, "PATH": "", "JAVA_HOME": "/nowhere"}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=project, env=environment, check=False
    )
    assert done.returncode == 0
    assert names_of(written(project / "all.prom"), "new")


def _states(found: Scraped) -> list[tuple[str, frozenset[tuple[str, str]]]]:
    return [(dict(labels)["job"], labels) for name, labels in found if name == "holdfast_job_state"]


def _value(found: Scraped, name: str, job: str) -> float | None:
    return found.get((name, frozenset({"project": "sensors", "job": job}.items())))


def test_two_writers_of_one_process_number_do_not_meet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Containers that share a directory often share it: the second must not remove the first's."""
    target = tmp_path / "holdfast.prom"
    really = localwriter.write_new

    def beaten(path: Path, data: bytes) -> None:
        really(path, data)
        monkeypatch.undo()
        write_metrics(target, b"second")

    monkeypatch.setattr(localwriter, "write_new", beaten)
    write_metrics(target, b"first")
    assert target.read_bytes() == b"first"
    assert [one.name for one in tmp_path.iterdir()] == ["holdfast.prom"]
