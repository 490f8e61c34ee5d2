"""A job that its project starts on a cluster, and places that only one machine has."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.diagnosis.inspection.subject import declared_job
from holdfast.findings import Severity
from holdfast.jobs.discovery import load_project
from tests.checkpoint.pictures import files_of
from tests.diagnosis.doctor.examining import examinee, found
from tests.diagnosis.doctor.scenarios import declared

CLUSTER = "spark://head:7077"
PROJECT = """
project: shop
spark: {{master: "{master}"}}
jobs:
  orders:
    source: {{format: json, path: ./in, schema: "n long"}}
    sql: select n from source
    sink: {sink}
"""


@pytest.mark.parametrize(
    ("shape", "output", "severity"),
    [
        ("stateless", "/lake/out", Severity.ERROR),
        ("stateless", None, Severity.WARNING),
        ("aggregation-complete", None, Severity.ERROR),
    ],
)
def test_the_doctor_reports_them(shape: str, output: str | None, severity: Severity) -> None:
    """Executors write state into the checkpoint; without state the driver alone writes it."""
    job = replace(declared(), master=CLUSTER, local_output=output)
    finding = found(examinee(files_of(shape), job=job))["HF3028"]
    assert finding.severity is severity
    assert finding.evidence["output"] == output
    assert f"and Spark runs on {CLUSTER}" in finding.message


@pytest.mark.parametrize(
    "master", ["local[*]", "local[4]", "local-cluster[2,1,1024]", "locl[*]", None]
)
def test_what_is_no_cluster_is_no_finding(master: str | None) -> None:
    job = replace(declared(), master=master, local_output="/lake/out")
    assert "HF3028" not in found(examinee(files_of("stateless"), job=job))


@pytest.mark.parametrize(
    ("sink", "is_local"),
    [
        ("{format: parquet, path: ./out}", True),
        ("{format: delta, path: ./out, native: true}", True),
        ("{format: delta, path: s3a://lake/out}", False),
        ("{format: postgres, url: 'postgresql://db/shop', table: orders}", False),
    ],
)
def test_what_a_project_declares(tmp_path: Path, sink: str, is_local: bool) -> None:
    text = PROJECT.format(master=CLUSTER, sink=sink)
    (tmp_path / "holdfast.yaml").write_text(text, encoding="utf-8")
    job = declared_job(load_project(tmp_path), "orders")
    assert (job.master, job.local_output is not None) == (CLUSTER, is_local)
