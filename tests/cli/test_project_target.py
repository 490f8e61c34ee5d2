"""A job's name as TARGET: its place, its storage and its declared sources come from the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import holdfast
from tests.corpus.loading import sample

PROJECT = """\
project: sensors
checkpoints: ./places
jobs:
  readings:
    source: {format: socket, options: {host: localhost, port: "9999"}}
    sql: select * from source
    sink: {format: console}
  never-ran:
    source: {format: rate}
    sql: select * from source
    sink: {format: console}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one job that ran and one that did not."""
    sample("socket", "4.3.0").extract(tmp_path / "unpacked")
    (tmp_path / "places").mkdir()
    (tmp_path / "unpacked" / "checkpoint").rename(tmp_path / "places" / "readings")
    (tmp_path / "holdfast.yaml").write_text(PROJECT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_job_is_found_by_its_name(project: Path) -> None:
    """And the declared format tells a socket from a memory stream."""
    result = holdfast("inspect", "readings", "--json").document["result"]
    assert result["location"] == str(project / "places" / "readings")
    assert result["sources"][0]["kind"] == "socket"
    assert result["sources"][0]["basis"] == "declared"


def test_a_job_that_never_ran_starts_fresh(project: Path) -> None:
    """No folder yet is no error for a job."""
    answered = holdfast("inspect", "never-ran", "--json")
    assert answered.status == 0
    assert answered.document["result"]["next_start"]["action"] == "fresh"


def test_an_unknown_job_names_the_nearest(project: Path) -> None:
    """Status 2."""
    shown = holdfast("inspect", "reading")
    assert shown.status == 2
    assert "HF1002" in shown.err
    assert "readings" in shown.err


def test_a_broken_project_file_is_located(project: Path) -> None:
    """Line and nearest key; status 10."""
    (project / "holdfast.yaml").write_text(PROJECT.replace("checkpoints:", "checkpoint:", 1))
    shown = holdfast("inspect", "readings")
    assert shown.status == 10
    assert "HF1103" in shown.err
    assert "holdfast.yaml:2" in shown.err
    assert "checkpoints" in shown.err
