"""A backfill that was killed while it was undone or given up: what was asked for ends as asked."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import holdfast
from holdfast.errors import HoldfastError
from tests.remedy.plans import killed_at
from tests.remedy.remedycases import Case, backfill


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    """Return the plan of a backfill, in two batches."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
    return backfill(tmp_path, monkeypatch)


def state(case: Case) -> list[str]:
    """Return how the acts of the backfill ended, the newest first."""
    places = holdfast.journal(case.target, project=case.project).result.places
    return [act.state for place in places for act in place.acts]


def undo(case: Case, *, keep_rows: bool = False) -> str:
    """Undo the backfill, or give it up."""
    return holdfast.undo(case.target, keep_rows=keep_rows, project=case.project).result.outcome


def begun(case: Case, point: str = "plan.step-begun:2") -> None:
    """Apply the plan, and die at a point."""
    assert killed_at(point, lambda: holdfast.apply(case.file, project=case.project))


def test_killed_once_older_drivers_are_locked_out_it_is_undone(case: Case) -> None:
    begun(case)
    assert killed_at("plan.backfill-fenced", lambda: undo(case))
    assert state(case) == ["open"]
    assert undo(case) == "undone"
    assert undo(case) == "nothing"
    assert case.look() == case.before
    assert state(case) == ["undone"]


@pytest.mark.parametrize("point", ["plan.backfill-fenced", "plan.given-up"])
def test_killed_while_it_is_given_up_it_is_given_up(case: Case, point: str) -> None:
    """No batch follows, whatever is asked for afterwards."""
    begun(case)
    assert killed_at(point, lambda: undo(case, keep_rows=True))
    assert state(case) == ["open"]
    assert undo(case, keep_rows=True) == "given-up"
    assert state(case) == ["given-up"]
    with pytest.raises(HoldfastError) as nothing:
        undo(case, keep_rows=True)
    assert nothing.value.code.number == "HF1001"
    assert holdfast.finish_plan(case.target, project=case.project).result.outcome == "nothing"


@pytest.mark.parametrize("how", ["finish", "undo"])
def test_one_that_was_being_given_up_may_still_be_settled_otherwise(case: Case, how: str) -> None:
    """The journal says where it was given up, and the act is open: nothing of it is in the sink."""
    begun(case)
    assert killed_at("plan.given-up", lambda: undo(case, keep_rows=True))
    if how == "undo":
        assert undo(case) == "undone"
        assert state(case) == ["undone"]
    else:
        done = holdfast.finish_plan(case.target, project=case.project).result
        assert done.outcome == "finished"
        assert state(case) == ["applied"]
