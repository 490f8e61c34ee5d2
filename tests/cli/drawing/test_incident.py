"""The incident report says who did what, when, how far, and what was there before and after."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.backup.folders import records_of
from tests.cli.running import holdfast
from tests.remedy.plans import apply, finish, killed_at, made, some_plan, undo


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(os, "fsync", lambda _: None)
    return made(tmp_path)


def report(root: Path) -> str:
    shown = holdfast("journal", str(root), "--format", "markdown")
    assert shown.status in (0, 3)
    return shown.out


def test_the_report_has_everything_of_an_act(root: Path) -> None:
    plan = some_plan(root, note="a note | with a bar")
    done = apply(root, plan)
    undo(root)
    text = report(root)
    (undoing, applied) = records_of(root).journal.acts()
    for wanted in (
        f"### repair `{applied.act.id}`", f"### undo `{undoing.act.id}`",
        f"- plan: `{plan.id}`", f"- backup made first: `{done.backup}`",
        f"- undoes: `{applied.act.id}`", f"- by: {applied.act.by}",
        f"- began: {applied.act.at}", f"- ended: {applied.ended_at}",
        "- note: a note \\| with a bar", "| 3 | change-files | does change-files | done |",
        "| last committed batch | 0 | none |", "| pending batch | 1 | 1 |",
    ):  # fmt: skip
        assert wanted in text, text
    assert text.index(applied.act.id) < text.index(f"### undo `{undoing.act.id}`")
    rows = [line.split("|")[2:4] for line in text.splitlines() if line.startswith("| digest")]
    (first, second), (third, fourth) = ([one.strip() for one in row] for row in rows)
    assert (first, second) == (fourth, third)
    assert first != second


def test_an_interrupted_act_and_an_edited_journal_stand_out(root: Path) -> None:
    plan = some_plan(root)
    assert killed_at("plan.file-removed:1", lambda: apply(root, plan))
    text = report(root)
    assert "neither finished nor undone" in text
    assert "- ended: no record of an end" in text
    assert "HF4606" in text
    finish(root)
    (act,) = records_of(root).journal.acts()
    entry = Path(records_of(root).journal.reader.location) / act.act.id / "entries" / "000002.json"
    entry.write_bytes(entry.read_bytes().replace(b"T", b"U"))
    assert "its records were changed after they were written" in report(root)


def test_without_acts_it_says_so(root: Path) -> None:
    assert "Nothing was applied, restored or undone here." in report(root)
