"""Reset is refused where rows would be lost or doubled, and killed anywhere it ends whole."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.backup.access import open_records
from holdfast.errors import HoldfastError, PlanError
from holdfast.jobs.discovery import load_project
from holdfast.jobs.readying import ready_job
from holdfast.records.folder import records_of
from holdfast.records.offsetcopies import OffsetCopies
from holdfast.running.admission import refuse_given_up
from holdfast.storage.location import parse_location
from holdfast.storage.options import StorageSettings
from tests.backup.folders import tree_of
from tests.diagnosis.doctor.recording import a_run, records_beside, write_runs
from tests.drawing import draw
from tests.ledgers.files.test_manifests import QUERY, deliver, local
from tests.remedy.plans import killed_at
from tests.remedy.resetting import Project, made


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setattr(os, "fsync", lambda _: None)
    return made(tmp_path, monkeypatch)


def refusal(project: Project, **options: Any) -> str:
    with pytest.raises(PlanError) as refused:
        project.plan(**options)
    return refused.value.code.number


def test_the_output_is_cleared_before_the_checkpoint_is_emptied(project: Project) -> None:
    plan = project.plan()
    assert [step.act for step in plan.steps] == [
        "backup-checkpoint", "block-start", "mark-sink", "clear-sink", "note-rewind",
        "empty-checkpoint",
    ]  # fmt: skip
    assert plan.irreversible == ()
    assert plan == project.plan()


def test_planning_writes_nothing(project: Project) -> None:
    before = tree_of(project.folder)
    project.plan()
    assert tree_of(project.folder) == before


def test_an_applied_reset_leaves_an_empty_checkpoint_and_an_archive(project: Project) -> None:
    files = tree_of(project.checkpoint)
    plan = project.plan()
    assert project.apply(plan).outcome == "applied"
    assert (tree_of(project.checkpoint), project.output.state["rows"]) == ({}, [])
    assert project.apply(plan).outcome == "already-applied"
    assert refusal(project) == "HF4611"
    assert project.undo().outcome == "undone"
    assert tree_of(project.checkpoint) == files
    assert project.output.state["rows"] == [1, 2, 3]


def test_after_a_reset_nothing_is_found_and_nothing_is_repaired(project: Project) -> None:
    """The copies that runs kept of offsets are of the query before."""
    query_id = json.loads((project.checkpoint / "metadata").read_text(encoding="utf-8"))["id"]
    copies = OffsetCopies(records_beside(project.checkpoint))
    for batch in range(3):
        content = (project.checkpoint / f"offsets/{batch}").read_bytes()
        copies.keep(query_id, batch, content)
    run = a_run(query_id=query_id, last_batch=0, job="ingest", project="test")
    write_runs(project.checkpoint, run)
    project.apply(project.plan())

    answer = holdfast.doctor("ingest", project=project.file)

    assert [one.code for one in answer.findings if one.code == "HF2342"] == []
    assert [step for step in answer.next_steps if "plan repair" in step] == []
    with pytest.raises(PlanError) as refused:
        project.plan("repair")
    assert refused.value.code in ("HF4611", "HF4618")


@pytest.mark.parametrize("remedy", ["resume", "repair", "clean", "replay", "reset", "retire"])
def test_an_interrupted_act_is_settled_before_anything_else_is_planned(
    project: Project, remedy: str
) -> None:
    """What it replaced looks like damage, and must not be repaired."""
    project.output.refuses = True
    with pytest.raises(PlanError):
        project.apply(project.plan())
    with pytest.raises(HoldfastError) as refused:
        project.plan(remedy, **({"from_batch": "1"} if remedy == "replay" else {}))
    assert refused.value.code == "HF4606"
    for ask in (holdfast.doctor, holdfast.inspect, holdfast.evidence):
        answer = ask("ingest", project=project.file)
        assert [one.code for one in answer.findings] == ["HF4606"], answer.command
    about = holdfast.status(project=project.file).findings
    assert {one.code for one in about if "ingest" in str(one.place)} <= {"HF4606"}
    assert not {one.code for one in about if one.code.startswith("HF21")}


def test_a_changed_copy_in_the_archive_keeps_the_checkpoint(project: Project) -> None:
    project.output.refuses = True
    with pytest.raises(PlanError):
        project.apply(project.plan())
    (store,) = project.checkpoint.parent.glob(".holdfast/*/backups/objects")
    damaged = max((one for one in store.rglob("*") if one.is_file()), key=lambda one: one.name)
    damaged.chmod(0o644)
    damaged.write_bytes(b"damaged")
    project.output.refuses = False
    there = set(tree_of(project.checkpoint))
    with pytest.raises(HoldfastError) as refused:
        project.finish()
    assert refused.value.code.number == "HF4510"
    assert set(tree_of(project.checkpoint)) >= there - {".metadata.crc"}


def test_a_sink_that_refuses_leaves_everything_as_it_was(project: Project) -> None:
    files = tree_of(project.checkpoint)
    project.output.refuses = True
    with pytest.raises(PlanError) as refused:
        project.apply(project.plan())
    assert refused.value.code.number == "HF4602"
    project.undo()
    assert tree_of(project.checkpoint) == files
    assert project.output.state["rows"] == [1, 2, 3]


POINTS = (
    "plan.begun", "plan.step-begun:3", "plan.start-blocked", "plan.sink-cleared",
    "plan.step-applied:4", "plan.step-done:4", "plan.file-removed:1", "plan.file-removed:3",
    "plan.checkpoint-emptied", "plan.applied",
)  # fmt: skip


@draw("how")
@pytest.mark.parametrize("how", ["finish", "apply", "undo"])
@pytest.mark.parametrize("point", POINTS)
def test_killed_anywhere_it_is_finished_or_undone(project: Project, point: str, how: str) -> None:
    files, plan = tree_of(project.checkpoint), project.plan()
    assert killed_at(point, lambda: project.apply(plan))
    for _ in range(2):
        if how == "undo":
            project.undo()
        else:
            project.finish() if how == "finish" else project.apply(plan)
    left = {} if how != "undo" else files
    assert tree_of(project.checkpoint) == left
    assert project.output.state["rows"] == ([1, 2, 3] if how == "undo" else [])


@pytest.mark.parametrize(
    "point", ["plan.step-undoing:2", "plan.step-undone:1", "plan.sink-brought-back", "plan.undone"]
)
def test_killed_while_it_is_undone_it_is_undone(project: Project, point: str) -> None:
    files = tree_of(project.checkpoint)
    project.apply(project.plan())
    assert killed_at(point, project.undo)
    project.undo()
    assert tree_of(project.checkpoint) == files
    assert project.output.state["rows"] == [1, 2, 3]


def test_the_checkpoint_stays_gone_where_the_rows_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = made(tmp_path, monkeypatch, gives_back=False)
    project.declare(sink={"format": "parquet", "path": "./lake/raw"})
    plan = project.plan()
    assert [step.act for step in plan.irreversible] == ["clear-sink"]
    project.apply(plan)
    with pytest.raises(PlanError) as refused:
        project.undo()
    assert refused.value.code.number == "HF4609"
    assert tree_of(project.checkpoint) == {}


def test_a_kill_before_the_rows_went_is_undone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = made(tmp_path, monkeypatch, gives_back=False)
    project.declare(sink={"format": "parquet", "path": "./lake/raw"})
    files, plan = tree_of(project.checkpoint), project.plan()
    assert killed_at("plan.step-begun:4", lambda: project.apply(plan))
    project.undo()
    assert tree_of(project.checkpoint) == files


def test_options_that_do_not_fit_are_refused(project: Project) -> None:
    assert refusal(project, output="everything") == "HF4643"
    for given, meant in (("claer", "clear"), ("keep_new:./lake/two", "keep-new:PATH")):
        with pytest.raises(PlanError, match=f"did you mean {meant}") as refused:
            project.plan(output=given)
        assert refused.value.exit_status == 2
    with pytest.raises(PlanError, match=r"not plan\.json") as refused:
        project.plan(output="plan.json")
    saved, help_shown = refused.value.next_steps
    assert saved == "to save the plan in a file: -o FILE"
    assert "holdfast plan reset" in help_shown
    assert refusal(project, output="keep-new:") == "HF4643"
    assert refusal(project, output="keep-new:./lake/raw") == "HF4643"
    assert refusal(project, output="keep-new:./lake/two", cascade=True) == "HF4643"
    assert refusal(project, starting_offsets="latest") == "HF4643"


def test_a_sink_that_cannot_be_cleared_is_refused_at_planning(project: Project) -> None:
    project.declare(sink={"format": "parquet", "path": "./lake/raw", "native": True})
    assert refusal(project) == "HF4602"
    project.declare(sink={"format": "console"})
    assert refusal(project) == "HF4602"
    assert refusal(project, output="keep-new:elsewhere") == "HF4602"


def test_batches_of_another_query_are_not_cleared_unless_it_is_named(project: Project) -> None:
    """Two jobs share a directory: the rows of the other one would never come back."""
    project.declare(sink={"format": "csv", "path": "./lake/raw"})
    deliver(local(project.folder / "lake"), 0, "a")
    (project.folder / "lake/out").rename(project.folder / "lake/raw")
    (project.folder / "lake/.holdfast/out").rename(project.folder / "lake/.holdfast/raw")
    with pytest.raises(PlanError, match=f"also has batches of {QUERY}") as refused:
        project.plan()
    assert refused.value.code.number == "HF4602"
    assert any("--clear-query" in step for step in refused.value.next_steps)
    plan = project.plan(clear_query=QUERY)
    (step,) = (one for one in plan.steps if one.act == "clear-sink")
    assert step.arguments["queries"] == QUERY


def test_an_output_with_rows_is_not_taken_for_empty(project: Project) -> None:
    project.plan(output="none")
    lake = project.folder / "lake/raw"
    lake.mkdir(parents=True)
    (lake / "part-0.parquet").write_bytes(b"rows")
    assert refusal(project, output="none") == "HF4601"


def test_a_protected_job_needs_force(project: Project) -> None:
    project.declare(protect=True)
    assert refusal(project) == "HF4604"
    plan = project.plan(force_protected=True)
    assert any("is protected" in note for note in plan.notes)


def test_a_new_output_says_which_line_to_change(project: Project) -> None:
    plan = project.plan(output="keep-new:./lake/two")
    assert "clear-sink" not in [step.act for step in plan.steps]
    assert any("holdfast.yaml" in note and "./lake/two" in note for note in plan.notes)
    (step,) = (one for one in plan.steps if one.act == "set-start")
    assert step.arguments["output"].endswith("/lake/two")


def test_the_plan_says_what_happens_to_readers(project: Project) -> None:
    project.add_reader("gold")
    (effect,) = project.plan().effects.downstream
    assert (effect.job, "DELTA_SOURCE_IGNORE_DELETE" in effect.effect) == ("gold", True)
    (effect,) = project.plan(output="keep-new:./lake/two").effects.downstream
    assert "former output" in effect.effect
    (effect,) = project.plan(cascade=True).effects.downstream
    assert "is reset too" in effect.effect


def test_a_reader_that_never_started_loses_nothing(project: Project) -> None:
    """Neither is it reset, nor does it meet rows that were removed."""
    shutil.rmtree(project.add_reader("gold"))
    project.others["gold"].put(rows=[], batch=None, generation=1)
    for cascade in (False, True):
        effects = project.plan(cascade=cascade).effects.downstream
        assert [one.effect.partition(":")[0] for one in effects] == ["has no checkpoint"]


@draw("how")
@pytest.mark.parametrize("how", ["finish", "undo"])
@pytest.mark.parametrize(
    "point", ["plan.sink-cleared:1", "plan.checkpoint-emptied:1", "plan.sink-cleared:2",
              "plan.applied:1"]
)  # fmt: skip
def test_a_cascade_killed_anywhere_ends_as_a_whole(project: Project, point: str, how: str) -> None:
    gold = project.add_reader("gold")
    files = {one: tree_of(one) for one in (project.checkpoint, gold)}
    plan = project.plan(cascade=True)
    assert killed_at(point, lambda: project.apply(plan))
    answer = holdfast.run("gold", project=project.file, raise_on_failure=False)
    assert (answer.exit_status, [one.code for one in answer.findings]) == (42, ["HF4606"])
    with pytest.raises(PlanError) as refused:
        holdfast.finish_plan("gold", project=project.file)
    assert refused.value.code.number == "HF4644"
    project.finish() if how == "finish" else project.undo()
    left = {one: {} for one in files} if how == "finish" else files
    assert {one: tree_of(one) for one in files} == left
    rows = [project.output.state["rows"], project.others["gold"].state["rows"]]
    assert rows == ([[], []] if how == "finish" else [[1, 2, 3], [7]])
    assert holdfast.journal("gold", project=project.file).findings == ()


@pytest.mark.parametrize(
    "point", ["plan.step-undoing:3", "plan.step-undone:3", "plan.undone:1", "plan.undone:2"]
)
def test_a_cascade_killed_while_it_is_undone_is_undone(project: Project, point: str) -> None:
    """Also in the middle of the reader's own journal, which only the whole may settle."""
    gold = project.add_reader("gold")
    files = {one: tree_of(one) for one in (project.checkpoint, gold)}
    project.apply(project.plan(cascade=True))
    assert killed_at(point, project.undo)
    project.undo()
    assert {one: tree_of(one) for one in files} == files
    assert [project.output.state["rows"], project.others["gold"].state["rows"]] == [[1, 2, 3], [7]]
    assert holdfast.journal("gold", project=project.file).findings == ()


def test_a_part_of_a_cascade_is_not_undone_alone(project: Project) -> None:
    project.add_reader("gold")
    project.apply(project.plan(cascade=True))
    with pytest.raises(PlanError) as refused:
        holdfast.undo("gold", project=project.file)
    assert refused.value.code.number == "HF4644"
    assert "the reset of job ingest" in refused.value.message


def test_a_reset_job_is_new_and_nothing_is_lost_in_the_eyes_of_status(project: Project) -> None:
    project.apply(project.plan())
    answer = holdfast.status(project=project.file)
    assert (answer.result.jobs[0].state.value, answer.findings) == ("new", ())
    assert holdfast.doctor("ingest", project=project.file).findings == ()


def test_an_archive_outlives_every_retention(project: Project) -> None:
    project.apply(project.plan())
    project.undo()
    for _ in range(3):
        holdfast.back_up("ingest", project=project.file, keep_last=1)
    kept = holdfast.list_backups("ingest", project=project.file).result.places[0].backups
    assert [one.purpose for one in kept] == ["backup", "archive"]


def test_the_former_output_is_refused_after_a_new_one_was_named(project: Project) -> None:
    project.apply(project.plan(output="keep-new:./lake/two"))
    answer = holdfast.run("ingest", project=project.file, raise_on_failure=False)
    assert (answer.exit_status, [one.code for one in answer.findings]) == (30, ["HF3032"])
    project.declare(sink={"format": "delta", "path": "./lake/two"})
    job = ready_job(load_project(project.file), "ingest")
    refuse_given_up(job, records_of(job.checkpoint, job.settings))


def test_a_deleted_checkpoint_is_followed_by_its_output(project: Project) -> None:
    """Somebody deleted the checkpoint alone: the rows that it delivered go, and nothing else."""
    shutil.rmtree(project.checkpoint)
    lake = project.folder / "lake/raw"
    lake.mkdir(parents=True)
    (lake / "part-0.parquet").write_bytes(b"rows")
    project.declare(sink={"format": "parquet", "path": "./lake/raw"})
    plan = project.plan()
    assert [step.act for step in plan.steps] == ["mark-sink", "clear-sink", "note-rewind"]
    project.apply(plan)
    assert project.output.state["rows"] == []
    project.undo()
    assert (project.output.state["rows"], project.checkpoint.exists()) == ([1, 2, 3], False)


def test_a_kafka_source_that_begins_with_new_records_is_named(project: Project) -> None:
    options = {"kafka.bootstrap.servers": "localhost:1", "subscribe": "orders"}
    project.declare(source={"format": "kafka", "options": options})
    assert any("begins with new records" in note for note in project.plan().notes)
    plan = project.plan(starting_offsets="earliest")
    assert not any("begins with new records" in note for note in plan.notes)
    (step,) = (one for one in plan.steps if one.act == "set-start")
    assert json.loads(step.arguments["starting"]) == {"source": {"startingOffsets": "earliest"}}


def gold_is_free(project: Project) -> bool:
    """Whether nothing keeps the reader from starting."""
    return holdfast.journal("gold", project=project.file).findings == ()


def test_a_cascade_that_slept_resets_no_reader_after_it_was_undone(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped right before the reader's part begins, and continued after somebody undid it."""
    gold = project.add_reader("gold")
    files = {one: tree_of(one) for one in (project.checkpoint, gold)}
    plan, left = project.plan(cascade=True), [3]

    def stopped(point: str) -> None:
        left[0] -= point == "plan.step-begun"
        if point == "plan.step-begun" and not left[0]:
            shutil.rmtree(project.checkpoint.parent / ".holdfast/ingest/lease")
            assert project.undo().outcome == "undone"

    monkeypatch.setattr("holdfast.remedy.applying.reach", stopped)
    with pytest.raises(HoldfastError) as late:
        project.apply(plan)
    assert late.value.code.number == "HF2610"
    assert {one: tree_of(one) for one in files} == files
    assert project.others["gold"].state["rows"] == [7]
    assert gold_is_free(project)


@pytest.mark.parametrize("how", ["finish", "undo"])
def test_a_part_that_its_whole_left_open_is_settled_alone(project: Project, how: str) -> None:
    """An act that slept has left it behind: the reset of the other job was undone before."""
    gold = project.add_reader("gold")
    files, plan = tree_of(gold), project.plan(cascade=True)
    assert killed_at("plan.sink-cleared:1", lambda: project.apply(plan))
    journal = open_records(parse_location(str(project.checkpoint)), StorageSettings()).journal
    (whole,) = journal.acts()
    journal.end(whole.act, "undone")
    if how == "undo":
        assert holdfast.undo("gold", project=project.file).result.outcome == "undone"
    else:
        assert holdfast.finish_plan("gold", project=project.file).result.outcome == "finished"
    assert tree_of(gold) == (files if how == "undo" else {})
    assert project.others["gold"].state["rows"] == ([7] if how == "undo" else [])
    assert gold_is_free(project)
