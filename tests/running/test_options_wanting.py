"""Which jobs are meant, and which Spark they need; no Spark is started for that."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.errors import ProjectError, UsageError
from holdfast.jobs.built import Job
from holdfast.jobs.discovery import ProjectChoice
from holdfast.running.options import requested_jobs

PROJECT = """project: shop
spark:
  master: local[3]
  conf: {spark.sql.shuffle.partitions: 4, spark.password: "${env:SHOP_PASSWORD}"}
storage:
  s3: {key: "${env:SHOP_KEY}", secret: "${env:SHOP_SECRET}"}
jobs:
  orders:
    source: {format: json, path: ./in, schema: n long}
    sql: select * from source
    sink: {format: delta, path: ./lake/orders}
  console:
    source: {format: rate}
    sql: select * from source
    sink: {format: console}
  remote:
    source: {format: rate}
    sql: select * from source
    sink: {format: delta, path: "s3://lake/remote"}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a project's folder; the secret of its Spark is there, that of its storage is not."""
    (tmp_path / "holdfast.yaml").write_text(PROJECT)
    monkeypatch.setenv("SHOP_PASSWORD", "open sesame")
    return tmp_path


def wanted(folder: Path, *jobs: str | Job) -> tuple[list[str], frozenset[str], str]:
    """Give the names of the jobs, the features of their Spark and its master."""
    ready, options = requested_jobs(
        jobs, ProjectChoice(), working_folder=folder, offline=True, ui=False, verbose=False
    )
    return [job.name for job in ready], options.features, options.master


def test_named_jobs_decide_what_spark_needs(folder: Path) -> None:
    """In the order of the file; a secret that no chosen job needs is not asked for."""
    assert wanted(folder, "console", "orders") == (
        ["orders", "console"], frozenset({"delta"}), "local[3]",
    )  # fmt: skip
    assert wanted(folder, "console") == (["console"], frozenset(), "local[3]")


def test_a_secret_that_a_chosen_job_needs_is_asked_for(folder: Path) -> None:
    """With the line where it stands."""
    with pytest.raises(ProjectError, match="SHOP_KEY"):
        wanted(folder, "remote")


def test_secrets_of_spark_are_filled_in(folder: Path) -> None:
    """They come from references alone."""
    _, options = requested_jobs(
        ["console"], ProjectChoice(), working_folder=folder, offline=True, ui=True, verbose=True
    )
    assert options.conf["spark.password"] == "open sesame"
    assert (options.offline, options.ui, options.verbose) == (True, True, True)


def test_a_name_that_there_is_not(folder: Path) -> None:
    """The nearest is named."""
    with pytest.raises(UsageError, match="did you mean orders"):
        wanted(folder, "order")


def test_no_project_and_no_job(tmp_path: Path) -> None:
    """Two errors with two ways out."""
    with pytest.raises(ProjectError, match=r"no holdfast\.yaml"):
        wanted(tmp_path)
    (tmp_path / "holdfast.yaml").write_text("project: empty\n")
    with pytest.raises(UsageError, match="declares no job"):
        wanted(tmp_path)


def test_jobs_of_a_program(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They need no project file; both kinds don't mix."""
    monkeypatch.chdir(folder)
    job = Job(
        "built",
        checkpoint="checkpoints/built",
        source={"format": "rate"},
        sql="select * from source",
        sink={"format": "memory"},
        accept=["temporary-path"],
    )
    assert wanted(folder, job)[:2] == (["built"], frozenset())
    with pytest.raises(UsageError, match="the same call"):
        wanted(folder, job, "orders")
