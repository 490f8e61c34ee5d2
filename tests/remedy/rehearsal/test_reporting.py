"""Rehearsals that need no Spark: stages, refusals, and originals that stay as they are."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import holdfast
from holdfast.errors import HoldfastError
from holdfast.remedy.plan import Plan
from tests.backup.folders import aged
from tests.cli.running import holdfast as command
from tests.remedy.played import Played
from tests.remedy.played import played as played_now
from tests.remedy.repairing import made as place_of


@pytest.fixture(autouse=True)
def own_temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let workspaces be made in a place of their own."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def everything(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Give every file with its bytes and the time of its last change."""
    return {
        str(one.relative_to(folder)): (one.read_bytes(), one.stat().st_mtime_ns)
        for one in sorted(folder.rglob("*"))
        if one.is_file()
    }


def played(folder: Path, **job: object) -> Played:
    """Give a project whose job ran some batches long ago."""
    made = played_now(folder, **job)  # type: ignore[arg-type]
    aged(made.checkpoint)
    return made


def retired(made: Played) -> Plan:
    """Plan to retire the job: a plan with steps after which nothing is started."""
    return holdfast.plan("job", "retire", project=made.file).result


def code_of(caught: pytest.ExceptionInfo[HoldfastError]) -> tuple[str, int]:
    """Give the code of an error and its exit status."""
    return caught.value.code.number, caught.value.exit_status


def test_a_plan_is_tried_on_copies_and_the_originals_stay(
    tmp_path: Path, own_temporary: Path
) -> None:
    """The steps are those of the plan; nothing of the project is written, and no copy is left."""
    made = played(tmp_path / "p")
    plan, before = retired(made), everything(made.folder)
    result = holdfast.rehearse(plan, project=made.file).result
    assert [one.act for one in result.steps] == [one.act for one in plan.steps]
    assert {one.event for one in result.steps} == {"done"}
    assert (result.start, result.verdict, result.workspace) == (None, None, None)
    assert result.not_started is not None and "retires" in result.not_started
    assert everything(made.folder) == before
    assert [*own_temporary.iterdir()] == []
    whats = {one.what: (one.files > 0, one.unchanged) for one in result.originals}
    assert whats == {
        "checkpoint": (True, True), "records": (True, True),
        "output": (True, True), "records of the output": (True, True),
    }  # fmt: skip
    assert result.sink is not None and result.sink.before == 3
    holdfast.apply(plan, even_if_running=True, project=made.file)


def test_the_copies_are_kept_where_they_are_asked_for(tmp_path: Path) -> None:
    """The plan is applied there: the checkpoint is emptied, its archive is beside it."""
    made, into = played(tmp_path / "p"), tmp_path / "copies"
    result = holdfast.rehearse(retired(made), into=into, keep=True, project=made.file).result
    assert result.workspace == str(into)
    copy = into / "checkpoints/job"
    assert not (copy / "offsets/0").exists()
    assert [*(into / "checkpoints/.holdfast/job/backups/snapshots").iterdir()]
    assert sorted(one.name for one in (into / "output/written").glob("*.json")) == sorted(
        one.name for one in made.output.glob("*.json")
    )
    inodes = {one.stat().st_ino for one in made.folder.rglob("*") if one.is_file()}
    copied = [one for one in into.rglob("*") if one.is_file()]
    assert not [one for one in copied if one.stat().st_ino in inodes], "no hard links"


def test_a_stale_plan_is_refused(tmp_path: Path, own_temporary: Path) -> None:
    """As apply refuses it, before anything is copied."""
    made = played(tmp_path / "p")
    plan = retired(made)
    made.run(4)
    aged(made.checkpoint)
    with pytest.raises(HoldfastError) as caught:
        holdfast.rehearse(plan, project=made.file)
    assert code_of(caught) == ("HF4605", 41)
    assert [*own_temporary.iterdir()] == []


@pytest.mark.parametrize("kind", ["file", "full"])
def test_a_place_that_is_taken_is_refused(tmp_path: Path, kind: str) -> None:
    """What is there stays."""
    made, into = played(tmp_path / "p"), tmp_path / "into"
    if kind == "full":
        into.mkdir()
    kept = into / "kept" if kind == "full" else into
    kept.write_text("kept", encoding="utf-8")
    with pytest.raises(HoldfastError) as caught:
        holdfast.rehearse(retired(made), into=into, project=made.file)
    assert code_of(caught) == ("HF4663", 2)
    assert kept.read_text(encoding="utf-8") == "kept"


@pytest.mark.parametrize("place", ["checkpoint", "records", "output"])
def test_a_place_inside_of_an_original_is_refused(tmp_path: Path, place: str) -> None:
    """What a killed rehearsal leaves there would be taken for a part of it."""
    made = played(tmp_path / "p")
    plan, before = retired(made), everything(made.folder)
    inside = {
        "checkpoint": made.checkpoint,
        "records": made.checkpoint.parent / ".holdfast" / made.checkpoint.name,
        "output": made.output / "below",
    }[place]
    with pytest.raises(HoldfastError) as caught:
        holdfast.rehearse(plan, into=inside / "copies", project=made.file)
    assert code_of(caught) == ("HF4663", 2)
    assert everything(made.folder) == before


def test_the_workspace_is_removed_after_a_failure(
    tmp_path: Path, own_temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also by Ctrl-C, in the middle of the steps."""
    made = played(tmp_path / "p")
    plan, before = retired(made), everything(made.folder)

    def interrupted(_step: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        holdfast.rehearse(plan, project=made.file, watch=interrupted)
    assert [*own_temporary.iterdir()] == []
    assert everything(made.folder) == before


def test_an_interrupted_rehearsal_says_that_the_originals_are_untouched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not how the act is finished that is open on the copies."""
    made = played(tmp_path / "p")
    file, before = str(tmp_path / "plan.json"), everything(made.folder)
    own = ("--project", str(made.file))
    assert command("plan", "retire", "job", "-o", file, *own).status == 0

    def interrupted(_step: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("holdfast.cli.commands.rehearse.show_step", interrupted)
    shown = command("rehearse", file, *own)
    assert (shown.status, shown.out) == (130, "")
    (line,) = filter(None, shown.err.splitlines())
    assert line == "stopped; a rehearsal works on copies: the originals are untouched"
    assert everything(made.folder) == before


def test_a_job_whose_sink_cannot_be_copied_is_rehearsed_without_it(tmp_path: Path) -> None:
    """The files part alone, and it says so."""
    made = played(tmp_path / "p", sink={"format": "custom", "function": "pipeline:deliver"})
    (made.folder / "pipeline.py").write_text("def deliver(batch, identity): ...\n", "utf-8")
    result = holdfast.rehearse(retired(made), project=made.file).result
    assert result.sink is None
    assert "as the scratch sink" in (result.not_started or "")
    assert [one.what for one in result.originals] == ["checkpoint", "records"]


def test_a_scratch_sink_is_named_only_where_none_can_be_made(tmp_path: Path) -> None:
    """A folder and a table are copied: the batches would not go where the option says."""
    made = played(tmp_path / "p")
    with pytest.raises(HoldfastError) as caught:
        holdfast.rehearse(retired(made), project=made.file, onto="pipeline:elsewhere")
    assert code_of(caught) == ("HF4663", 2)
    assert "is copied into the workspace" in caught.value.message


def test_a_topic_as_scratch_sink_takes_the_place_of_the_declared_one(tmp_path: Path) -> None:
    """Spark's own sink may be any: it is not redirected."""
    options = {"kafka.bootstrap.servers": "127.0.0.1:1", "topic": "orders"}
    for native in (False, True):
        sink = {"format": "kafka", "options": options, "native": native}
        made = played(tmp_path / str(native), sink=sink)
        result = holdfast.rehearse(retired(made), project=made.file, onto="scratch").result
        notes = [note for note in result.notes if "topic scratch" in note]
        assert (notes == []) == native
        assert ("cannot be copied" in (result.not_started or "")) == native


def test_a_checkpoint_of_no_job_is_rehearsed_without_a_start(tmp_path: Path) -> None:
    """A repair of files: afterwards the copy is forecast to start well."""
    place = place_of(tmp_path, "stateless")
    place.damage("crc-ahead-in-offsets")
    place.deliver(4)
    aged(place.root)
    plan = place.plan().result
    before = everything(place.root)
    result = holdfast.rehearse(plan).result
    assert [one.act for one in result.steps] == [one.act for one in plan.steps]
    assert "no job is known" in (result.not_started or "")
    assert everything(place.root) == before


def test_an_original_that_changes_meanwhile_is_reported(tmp_path: Path) -> None:
    """It was somebody else: the digest of that one differs."""
    made = played(tmp_path / "p")

    def written(_step: object) -> None:
        (made.output / "note.txt").write_text("late", encoding="utf-8")

    answer = holdfast.rehearse(retired(made), project=made.file, watch=written)
    assert [one.code for one in answer.findings] == ["HF4662"]
    assert [one.what for one in answer.result.originals if not one.unchanged] == ["output"]
    assert answer.exit_status == 3


def test_a_running_job_is_refused(tmp_path: Path) -> None:
    """A lease that is held: there is no one moment to copy."""
    from holdfast.records.leases.taking import take_lease
    from holdfast.records.processes import this_holder

    made = played(tmp_path / "p")
    plan = retired(made)
    lease = take_lease(made.records, job="job", holder=this_holder(None))
    try:
        with pytest.raises(HoldfastError) as caught:
            holdfast.rehearse(plan, project=made.file)
        assert code_of(caught) == ("HF2601", 22)
    finally:
        lease.release()


def test_a_killed_rehearsal_is_named_by_the_next_one(tmp_path: Path, own_temporary: Path) -> None:
    """SIGKILL leaves the copies; SIGTERM does not, and ends with 143."""
    made = played(tmp_path / "p")
    file = tmp_path / "plan.json"
    holdfast.plan("job", "retire", output=file, project=made.file)
    program = (
        "import sys, time, holdfast\n"
        "def stay(step):\n"
        "    print('there', flush=True)\n"
        "    time.sleep(60)\n"
        "holdfast.rehearse(sys.argv[1], project=sys.argv[2], watch=stay)\n"
    )
    for number, status in ((signal.SIGTERM, 143), (signal.SIGKILL, -signal.SIGKILL)):
        child = subprocess.Popen(
            [sys.executable, "-c", program, str(file), str(made.file)],
            stdout=subprocess.PIPE, env={**os.environ, "TMPDIR": str(own_temporary)},
        )  # fmt: skip
        assert child.stdout is not None and child.stdout.readline() == b"there\n"
        child.send_signal(number)
        assert child.wait(30) == status
        child.stdout.close()
        left = [*own_temporary.iterdir()]
        assert len(left) == (0 if number is signal.SIGTERM else 1)
    answer = holdfast.rehearse(file, project=made.file)
    (finding,) = answer.findings
    assert (finding.code, finding.evidence["folder"]) == ("HF4664", str(left[0].resolve()))
    assert finding.next_steps[0].startswith("rm -r ")
    shutil.rmtree(left[0])
    assert holdfast.rehearse(file, project=made.file).findings == ()


def test_the_command_prints_a_page_and_a_document(tmp_path: Path) -> None:
    """And names the next step: apply."""
    made = played(tmp_path / "p")
    file = tmp_path / "plan.json"
    assert (
        command("plan", "retire", "job", "--project", str(made.file), "-o", str(file)).status == 0
    )
    printed = command("rehearse", str(file), "--project", str(made.file))
    assert printed.status == 0
    assert "byte-identical before and after" in printed.out
    assert "holdfast apply --project" in printed.out
    document = command("rehearse", str(file), "--project", str(made.file), "--json").document
    assert document["schema"] == "holdfast.rehearse/1"
    assert document["result"]["plan"] in file.read_text(encoding="utf-8")
    assert command("rehearse", str(file), "--batches", "0").status == 2


def test_a_plan_on_several_jobs_is_refused(tmp_path: Path) -> None:
    """Only one job is copied."""
    from dataclasses import replace

    from holdfast.remedy.plan import Draft, Effects, Remedy, Request, Step, plan_of

    made = played(tmp_path / "p")
    step = Step(0, "reset-downstream", "gold", "resets gold", True, {"job": "gold", "plan": "{}"})
    plan = plan_of(
        Draft((step,), Effects()), Request(Remedy.RESET, "job", {"cascade": "true"}), "x", "job", {}
    )
    with pytest.raises(HoldfastError) as caught:
        holdfast.rehearse(replace(plan), project=made.file)
    assert code_of(caught) == ("HF4660", 40)
    assert "gold" in caught.value.message
