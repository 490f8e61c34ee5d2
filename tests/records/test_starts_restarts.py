"""A driver that waits to start its job again leaves a note, which nobody needs to trust blindly."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.errors import CheckpointError
from holdfast.records.moments import moment_after, moment_now
from holdfast.records.processes import this_holder
from holdfast.records.starts import NextRestart, Restarts, awaited_restart
from tests.diagnosis.doctor.recording import dead_holder, records_beside
from tests.records.drivers import elsewhere


def a_note(after_seconds: float = 60.0) -> NextRestart:
    now = moment_now()
    due = moment_after(now, after_seconds)
    assert due is not None
    return NextRestart("orders", this_holder(None), now, due, 1, 10, "HF5041", "unreachable")


def test_a_note_is_kept_until_it_is_cleared(tmp_path: Path) -> None:
    restarts = Restarts(records_beside(tmp_path / "orders"))
    assert restarts.note() is None
    restarts.clear()
    restarts.write(a_note())
    note = a_note(90.0)
    restarts.write(note)
    assert restarts.note() == note
    restarts.clear()
    assert restarts.note() is None


def test_a_note_that_cannot_be_read_is_reported(tmp_path: Path) -> None:
    folder = records_beside(tmp_path / "orders")
    folder.writer("restarts").replace("next.json", b"{")
    with pytest.raises(CheckpointError, match="HF2603"):
        Restarts(folder).note()


def test_a_note_counts_while_its_driver_lives_and_nothing_happened_since() -> None:
    note = a_note()
    later, before = a_note(), moment_after(note.at, -5.0)
    assert before is not None
    assert awaited_restart(note, before) == note and awaited_restart(note, note.at) == note
    assert awaited_restart(note, moment_after(later.at, 5.0) or "") is None
    assert awaited_restart(replace(note, holder=dead_holder()), before) is None
    assert awaited_restart(None, before) is None


def test_a_driver_elsewhere_is_believed_until_its_restart_is_overdue() -> None:
    note = replace(a_note(-10.0), holder=elsewhere())
    assert awaited_restart(note, "") == note and not note.is_here
    assert awaited_restart(replace(note, due_at=a_note(-60.0).due_at), "") is None
    assert a_note(-600.0).is_here and awaited_restart(a_note(-600.0), "") is not None
