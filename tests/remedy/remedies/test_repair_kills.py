"""Killed at any moment, a repair is finished whole or undone byte-identical."""

from __future__ import annotations

import os
from itertools import count
from pathlib import Path

import pytest

import holdfast
from tests.drawing import draw
from tests.remedy.plans import killed_at
from tests.remedy.repairing import Place, made, without_checksums
from tests.restarts.loading import base_files

POINTS = (
    "plan.begun", "plan.start-blocked", "plan.step-begun", "plan.step-applied", "plan.step-done",
    "plan.start-allowed", "plan.applied",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _no_flushing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)


def damaged(folder: Path) -> Place:
    """Lack a partition of the state, which a backup has."""
    place = made(folder, "aggregation")
    holdfast.back_up(place.root)
    place.damage("state-partition-removed")
    return place


@draw("how")
@pytest.mark.parametrize("how", ["finish", "undo"])
@pytest.mark.parametrize("point", POINTS)
def test_killed_while_it_repairs(point: str, how: str, tmp_path: Path) -> None:
    whole = without_checksums(base_files("4.3.0", "aggregation"))
    for number in count(1, 3):
        (tmp_path / str(number)).mkdir()
        place = damaged(tmp_path / str(number))
        before, plan = place.files(), place.plan().result
        struck = killed_at(
            f"{point}:{number}",
            lambda p=plan: holdfast.apply(p, even_if_running=True),  # type: ignore[misc]
        )
        if not struck:
            assert number > 1, f"{point} is never reached"
            return
        if how == "finish":
            holdfast.finish_plan(place.root)
            assert without_checksums(place.files()) == whole
        else:
            holdfast.undo(place.root)
            assert place.files() == before
