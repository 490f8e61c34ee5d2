"""A retired job does not start, its output is fenced, and undo brings it back."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import holdfast
from holdfast.errors import DecodeError, PlanError
from holdfast.format.logs.log import decode_query
from tests.backup.folders import tree_of
from tests.remedy.plans import killed_at
from tests.remedy.resetting import Project, made


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setattr(os, "fsync", lambda _: None)
    return made(tmp_path, monkeypatch)


def state(project: Project) -> str:
    """Return how status shows the job."""
    (job,) = holdfast.status(project=project.file).result.jobs
    return job.state.value


def test_a_retired_job_is_refused_until_it_is_brought_back(project: Project) -> None:
    files = tree_of(project.checkpoint)
    project.apply(project.plan("retire"))
    metadata = (project.checkpoint / "metadata").read_bytes()
    assert set(tree_of(project.checkpoint)) == {"metadata"}
    assert b"retired this job at 20" in metadata
    assert holdfast.status(project=project.file).findings == ()
    with pytest.raises(DecodeError):
        decode_query(metadata)
    answer = holdfast.run("ingest", project=project.file, raise_on_failure=False)
    assert (answer.exit_status, [one.code for one in answer.findings]) == (30, ["HF3031"])
    assert state(project) == "retired"
    project.undo()
    assert (tree_of(project.checkpoint), state(project)) == (files, "refused")


@pytest.mark.parametrize("point", ["plan.start-blocked", "plan.file-removed", "plan.applied"])
def test_killed_anywhere_it_is_finished_or_undone(project: Project, point: str) -> None:
    files, plan = tree_of(project.checkpoint), project.plan("retire")
    assert killed_at(point, lambda: project.apply(plan))
    project.undo()
    assert tree_of(project.checkpoint) == files
    assert killed_at(point, lambda: project.apply(project.plan("retire")))
    project.finish()
    assert state(project) == "retired"


def test_a_retired_job_has_no_other_remedy(project: Project) -> None:
    project.apply(project.plan("retire"))
    for remedy in ("retire", "repair", "reset"):
        with pytest.raises(PlanError) as refused:
            project.plan(remedy)
        assert refused.value.code.number == "HF4611"


def test_a_marker_is_no_damage(project: Project) -> None:
    project.apply(project.plan("retire"))
    for ask in (holdfast.doctor, holdfast.inspect, holdfast.evidence):
        found = [
            (one.code, one.severity.value) for one in ask("ingest", project=project.file).findings
        ]
        assert found == [("HF3031", "info")], ask


def test_a_pending_batch_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = made(tmp_path, monkeypatch)
    newest = max((project.checkpoint / "commits").glob("[0-9]*"), key=lambda one: int(one.name))
    newest.unlink()
    assert any("is pending" in note for note in project.plan("retire").notes)
