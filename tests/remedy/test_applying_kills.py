"""Killed at any moment, a plan is finished whole or undone byte-identical."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from holdfast.crashpoints import POINTS
from holdfast.errors import CheckpointError, HoldfastError, LeaseError
from holdfast.remedy.applying import Applying
from holdfast.remedy.plan import Plan
from tests.backup.folders import assert_store_is_sound, back_up_now, records_of
from tests.backup.writers import failed_here, killed_in_child
from tests.drawing import DrawnMoments, draw
from tests.remedy.plans import (
    apply,
    assert_applied,
    assert_untouched,
    broken_from,
    finish,
    killed_at,
    made,
    no_sink,
    some_plan,
    undo,
)


@pytest.fixture(autouse=True)
def _no_flushing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A killed process loses nothing that it handed to the system: only power cuts need flushes."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


FORWARDS = (
    "plan.begun", "plan.step-begun", "plan.step-applied", "plan.step-done", "plan.applied",
    "plan.start-blocked", "plan.file-removed", "plan.start-allowed",
)  # fmt: skip
BACKWARDS = ("plan.step-undoing", "plan.step-undone", "plan.undone", "plan.start-blocked")
AFTERWARDS = ("apply", "finish", "undo")


def settle(root: Path, plan: Plan, how: str) -> None:
    """Do what a person does after a kill, and expect what it promises; twice is no harm."""
    for _ in range(2):
        if how == "apply":
            apply(root, plan)
        elif how == "finish":
            finish(root)
        else:
            undo(root)
    (assert_untouched if how == "undo" else assert_applied)(root)


def assert_kept_apart(root: Path) -> None:
    """While an act is open nothing else is done to the checkpoint."""
    with pytest.raises(CheckpointError) as refused:
        back_up_now(records_of(root))
    assert (refused.value.code.number, refused.value.exit_status) == ("HF4606", 42)


def test_every_point_of_a_plan_is_tried() -> None:
    known = {name for name in POINTS if name.startswith("plan.")}
    assert {*FORWARDS, *BACKWARDS} <= known


@draw("how")
@pytest.mark.parametrize("how", AFTERWARDS)
@pytest.mark.parametrize("point", FORWARDS)
def test_killed_at_a_point_while_applying(point: str, how: str, tmp_path: Path) -> None:
    for time in count(1):
        root = made(tmp_path / str(time))
        plan = some_plan(root)
        struck = killed_at(f"{point}:{time}", lambda r=root, p=plan: apply(r, p))  # type: ignore[misc]
        if not struck:
            assert time > 1, f"{point} is never reached"
            assert_applied(root)
            return
        assert_kept_apart(root)
        settle(root, plan, how)


@draw("how")
@pytest.mark.parametrize("how", ("undo", "finish"))
@pytest.mark.parametrize("point", BACKWARDS)
def test_killed_at_a_point_while_an_applied_plan_is_undone(
    point: str, how: str, tmp_path: Path
) -> None:
    for time in count(1):
        root = made(tmp_path / str(time))
        plan = some_plan(root)
        apply(root, plan)
        struck = killed_at(f"{point}:{time}", lambda r=root: undo(r))  # type: ignore[misc]
        if not struck:
            assert time > 1, f"{point} is never reached"
            return
        assert_kept_apart(root)
        assert (undo if how == "undo" else finish)(root).outcome == "undone"
        assert_untouched(root)


@draw("how")
@pytest.mark.parametrize("how", AFTERWARDS)
@pytest.mark.parametrize("first", ("plan.applied", "plan.step-begun:4", "plan.file-removed:1"))
def test_killed_forwards_and_then_backwards(first: str, how: str, tmp_path: Path) -> None:
    for time in count(1):
        root = made(tmp_path / str(time))
        plan = some_plan(root)
        assert killed_at(first, lambda r=root, p=plan: apply(r, p))  # type: ignore[misc]
        struck = killed_at(f"plan.step-undone:{time}", lambda r=root: undo(r))  # type: ignore[misc]
        if not struck:
            assert time > 2
            assert_untouched(root)
            return
        settle(root, plan, how)


@draw("how", "striking")
@pytest.mark.parametrize("how", AFTERWARDS)
@pytest.mark.parametrize("striking", ("killed", "failed", "broken"))
def test_struck_at_any_call_of_the_storage(
    striking: str, how: str, tmp_path: Path, moments: DrawnMoments
) -> None:
    strike = {"killed": killed_in_child, "failed": failed_here, "broken": broken_from}[striking]
    opened = 0
    for fatal in moments(AFTERWARDS.index(how)):
        root = made(tmp_path / str(fatal))
        plan = some_plan(root)
        struck = strike(lambda opener, r=root, p=plan: apply(r, p, opener), fatal)  # type: ignore[misc]
        is_open = records_of(root).journal.unfinished() is not None
        opened += is_open
        if is_open:
            settle(root, plan, how)
        assert_store_is_sound(records_of(root))
        if not struck:
            assert opened > 10, "too few calls lay between intent and outcome"
            assert_applied(root)
            return
        if not is_open:
            assert_done_or_untouched(root)


@draw("striking")
@pytest.mark.parametrize("striking", ("killed", "failed", "broken"))
def test_undo_struck_at_any_call_of_the_storage(
    striking: str, tmp_path: Path, moments: DrawnMoments
) -> None:
    strike = {"killed": killed_in_child, "failed": failed_here, "broken": broken_from}[striking]
    for fatal in moments():
        root = made(tmp_path / str(fatal))
        plan = some_plan(root)
        apply(root, plan)
        struck = strike(lambda opener, r=root: undo(r, opener), fatal)  # type: ignore[misc]
        undo(root)
        assert_untouched(root)
        if not struck:
            assert fatal > 30, "too few calls were counted"
            return


def assert_done_or_untouched(root: Path) -> None:
    attempt: Callable[[Path], None]
    errors: list[AssertionError] = []
    for attempt in (assert_untouched, assert_applied):
        try:
            attempt(root)
        except AssertionError as error:
            errors.append(error)
        else:
            return
    raise errors[0]


def test_a_second_applier_is_refused_while_the_first_one_works(tmp_path: Path) -> None:
    root = made(tmp_path)
    plan = some_plan(root)
    reached, going_on = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:

            def wait(*_: object) -> None:
                os.write(reached[1], b".")
                os.read(going_on[0], 1)

            Applying(records_of(root), no_sink, watch=wait).apply(plan, lambda: plan)
            status = 0
        finally:
            os._exit(status)
    for _ in plan.steps:
        os.read(reached[0], 1)
        others: tuple[Callable[[], object], ...] = (
            partial(apply, root, plan),
            partial(undo, root),
            partial(finish, root),
        )
        for other in others:
            with pytest.raises(HoldfastError) as refused:
                other()
            assert isinstance(refused.value, LeaseError)
            assert refused.value.exit_status == 22
        os.write(going_on[1], b".")
    _, status = os.waitpid(child, 0)
    assert os.WEXITSTATUS(status) == 0
    assert_applied(root)
    assert apply(root, plan).outcome == "already-applied"
