"""The commands that apply, finish and undo plans: what they say, and when they ask."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from holdfast.library.reaching import opened_sink
from tests.cli.running import Printed, holdfast
from tests.remedy.plans import killed_at
from tests.remedy.resetting import JOB, Output, Project, made


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setattr(os, "fsync", lambda _: None)
    return made(tmp_path, monkeypatch)


def told(project: Project, *words: str) -> Printed:
    """Run a command without a terminal."""
    return holdfast(*words, "--project", str(project.file))


def saved(project: Project, *options: str) -> str:
    """Save the plan of a reset that clears the output."""
    file = str(project.folder / "plan.json")
    words = ("plan", "reset", JOB, "--output", "clear", "-o", file, *options)
    assert told(project, *words).status == 0
    return file


def test_every_step_line_names_its_job_and_how_many_there_are(project: Project) -> None:
    """In a cascade the steps of several plans follow each other."""
    project.add_reader("gold")
    done = told(project, "apply", saved(project, "--cascade"), "--yes", "--even-if-running")
    assert done.status == 0, done.err
    lines = [line.partition(": ")[::2] for line in done.err.splitlines()]
    steps = {job: [rest.partition(":")[0] for one, rest in lines if one == job]
             for job in (JOB, "gold")}  # fmt: skip
    for job, numbers in steps.items():
        count = int(numbers[0].rpartition(" ")[2])
        # The act of the reader is closed by a step of the whole plan.
        assert numbers == [f"step {one} of {count}" for one in range(1, count + 1)], job
    assert sum(map(len, steps.values())) == len(lines)
    undone = told(project, "undo", JOB, "--yes")
    assert undone.status == 0, undone.err
    assert undone.err.splitlines()[0].startswith(f"{JOB}: step ")


def test_a_plan_that_cannot_be_read_is_reported_before_anybody_is_asked(project: Project) -> None:
    assert "HF4607" in told(project, "apply", str(project.folder / "missing.json")).err


def test_a_plan_is_not_written_onto_a_directory(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = project.folder / "plans"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for output in (".", "..", str(folder), "/"):
        refused = told(project, "plan", "retire", JOB, "-o", output)
        assert (refused.status, "HF4617" in refused.err) == (2, True), refused.err
        assert "is a directory" in refused.err
    assert list(folder.iterdir()) == []
    assert list(project.folder.glob(".*.tmp")) == []


def test_who_cannot_be_asked_is_told_so_only_where_something_would_be_done(
    project: Project,
) -> None:
    """Nothing to finish, nothing to undo and a plan that is applied already need no answer."""
    for words in (("apply", "--finish", JOB), ("undo", JOB)):
        done = told(project, *words)
        assert (done.status, "Nothing to do" in done.out) == (0, True), done.err
    plan = saved(project)
    refused = told(project, "apply", plan, "--even-if-running")
    assert (refused.status, "HF4608" in refused.err) == (2, True)
    assert project.output.state["rows"] == [1, 2, 3]
    assert told(project, "apply", plan, "--even-if-running", "--yes").status == 0
    again = told(project, "apply", plan)
    assert (again.status, "Already applied" in again.out) == (0, True)
    refused = told(project, "undo", JOB)
    assert (refused.status, "HF4608" in refused.err) == (2, True)
    assert project.output.state["rows"] == []
    assert "HF4610" in told(project, "undo", JOB, "unknown-act").err


def test_who_is_asked_reads_what_is_finished_or_undone(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its name is that of the journal; whoever says no changes nothing."""
    plan = project.plan()
    assert killed_at("plan.sink-cleared:1", lambda: project.apply(plan))
    monkeypatch.setattr("holdfast.cli.commands.apply.refuse_unasked", lambda: None)
    asked: list[str] = []

    def answering(answer: bool) -> Callable[..., bool]:
        def confirm(question: str, **_: Any) -> bool:
            asked.append(question)
            return answer

        return confirm

    monkeypatch.setattr("click.confirm", answering(False))
    refused = told(project, "apply", "--finish", JOB)
    assert (refused.status, "HF4608" in refused.err) == (2, True)
    assert "HF4608" in told(project, "undo", JOB).err
    monkeypatch.setattr("click.confirm", answering(True))
    done = told(project, "apply", "--finish", JOB)
    assert done.status == 0, done.err
    finish, undo, again = asked
    assert finish == again and finish.startswith("Finish reset ") and finish.endswith(f"on {JOB}?")
    assert undo == finish.replace("Finish", "Undo")


def test_a_start_of_spark_is_announced(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes longer than any other step."""

    @contextmanager
    def by_spark(_job: Any, _session: Any, step: Callable[[str], None]) -> Iterator[Output]:
        step("starting Spark 4.2.0…")
        yield project.output

    monkeypatch.setattr(project.output, "sight", lambda _: None, raising=False)
    monkeypatch.setattr("holdfast.remedy.outputs.table_seen", lambda _: None)
    monkeypatch.setattr("holdfast.remedy.outputs.refuse_other_table", lambda *_: None)
    monkeypatch.setattr("holdfast.library.remedies.opened_sink", opened_sink)
    monkeypatch.setattr("holdfast.spark.planning.opened_sink", by_spark)
    plan = saved(project)
    done = told(project, "apply", plan, "--yes", "--even-if-running")
    assert (done.status, "starting Spark 4.2.0…" in done.err.splitlines()) == (0, True), done.err
    undone = told(project, "undo", JOB, "--yes")
    assert (undone.status, "starting Spark 4.2.0…" in undone.err.splitlines()) == (0, True)


def test_after_a_kill_every_command_names_the_job_and_the_project(project: Project) -> None:
    """Not the path of the checkpoint, which is long and stands beside it."""
    plan = project.plan()
    assert killed_at("plan.sink-cleared:1", lambda: project.apply(plan))
    undo = f"holdfast undo --project {project.file} {JOB}"
    for words in (("run", JOB), ("status",), ("doctor", JOB), ("inspect", JOB), ("journal",)):
        shown = " ".join(told(project, *words).out.split())
        assert undo in shown, (words, shown)
        assert f"{JOB} was interrupted" not in shown, words
