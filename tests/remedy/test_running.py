"""A query that plain Spark runs is noticed before an act is continued or taken back."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

import holdfast
from holdfast.errors import HoldfastError
from tests.backup.folders import aged
from tests.remedy.plans import killed_at
from tests.remedy.played import Played, played


@pytest.fixture(autouse=True)
def _no_flushing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)


def refused(act: Callable[[], object]) -> HoldfastError:
    """Give what refuses an act."""
    with pytest.raises(HoldfastError) as caught:
        act()
    return caught.value


def interrupted(folder: Path, point: str) -> tuple[Played, Callable[[], object]]:
    """Give a project in which a replay was killed, and what applies it again."""
    made = played(folder)
    aged(made.checkpoint)
    plan = holdfast.plan("job", "replay", {"from_batch": 2}, project=made.file).result
    apply = partial(holdfast.apply, plan, project=made.file)
    assert killed_at(point, apply)
    return made, apply


@pytest.mark.parametrize("point", ["plan.step-begun:1", "plan.step-begun:3", "plan.applied:1"])
def test_an_open_act_waits_while_a_query_writes(tmp_path: Path, point: str) -> None:
    """Finished or undone beside it, batches would be planned twice."""
    made, apply = interrupted(tmp_path / "p", point)
    (made.checkpoint / "state/0/0").mkdir(parents=True)
    (made.checkpoint / "state/0/0/5.delta").write_bytes(b"of plain Spark")
    finish = partial(holdfast.finish_plan, "job", project=made.file)
    undo = partial(holdfast.undo, "job", project=made.file)
    for act in (apply, finish, *((undo,) if point != "plan.applied:1" else ())):
        error = refused(act)
        assert (error.code.number, "5.delta" in error.message) == ("HF4505", True)
    assert "--even-if-running" not in " ".join(refused(finish).next_steps)
    aged(made.checkpoint)
    assert finish().result.outcome == "finished"


@pytest.mark.parametrize("point", ["plan.step-begun:1", "plan.step-begun:5", "plan.applied:1"])
@pytest.mark.parametrize("how", ["apply", "finish"])
def test_what_the_act_itself_wrote_is_no_query(tmp_path: Path, point: str, how: str) -> None:
    made, apply = interrupted(tmp_path / "p", point)
    if how == "apply":
        apply()
    else:
        holdfast.finish_plan("job", project=made.file)
    assert made.ids("offsets") == [0, 1]


def test_neither_undo_nor_the_next_plan_passes_beside_a_query(tmp_path: Path) -> None:
    """The end of the undone act is newer than what the query wrote."""
    made, _ = interrupted(tmp_path / "p", "plan.step-begun:3")
    undo = partial(holdfast.undo, "job", project=made.file)
    (made.checkpoint / "commits/9").write_bytes(b'v1\n{"nextBatchWatermarkMs":0}')
    assert refused(undo).code.number == "HF4505"
    (made.checkpoint / "commits/9").unlink()
    assert undo().result.outcome == "undone"
    plan = holdfast.plan("job", "replay", {"from_batch": 2}, project=made.file).result
    (made.checkpoint / "sources/0/9").write_bytes(b"v1\n{}")
    assert refused(partial(holdfast.apply, plan, project=made.file)).code.number == "HF4505"
    (made.checkpoint / "sources/0/9").unlink()
    assert holdfast.apply(plan, project=made.file).result.outcome == "applied"
