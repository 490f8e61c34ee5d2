"""Disk full, rights lost, Ctrl-C at any call of the storage: finished whole, or undone."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import holdfast
from holdfast.errors import HoldfastError
from holdfast.remedy.results import JournalEntry
from holdfast.remedy.steps import STEP_KINDS
from tests.drawing import draw
from tests.remedy.remedycases import CASES, Case, comparable
from tests.remedy.striking import STRIKES, Ended, Strike, struck

NEVER = 10**9
FEW, MANY = 5, 60
_CODE = re.compile(r"^error (HF\d{4}): ", re.MULTILINE)
_SETTLE = re.compile(r"holdfast (apply (--project \S+ )?--finish|undo) ")
UNDONE = [name for name in CASES if name not in ("replay", "reset", "backfill")]
"""Those whose every step can be undone once it is done."""


@pytest.fixture(autouse=True)
def _no_flushing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that ends loses nothing that it handed to the system."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def case(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    """Return a plan, and what the folder looks like once it is applied."""
    made = CASES[request.param](tmp_path, monkeypatch)
    # In this process, so that those that are struck need not load the package again.
    holdfast.apply(made.file, project=made.project, even_if_running=True)
    made.applied = comparable(made.look())
    assert made.applied != comparable(made.before)
    made.put_back()
    assert made.look() == made.before
    return made


def applying(case: Case) -> list[str]:
    """Return the command that applies the plan."""
    return case.words("apply", str(case.file), "--even-if-running")


def moments(case: Case, words: list[str], strike: Strike, most: int | None) -> Iterator[int]:
    """Number the calls to strike at: all of them, or so many that differ by case and strike."""
    calls = struck(words, strike, NEVER, case.root).calls
    assert calls > 20, "too few calls are counted"
    every = 1 if most is None else max(calls // most, 1)
    first = len(case.plan.id + strike.name) % every
    yield from range(1 + first, calls + 1, every)


def understood(case: Case, ended: Ended, strike: Strike) -> None:
    """Demand a code, a next step and no traceback of a command that was struck."""
    said = ended.said
    assert "Traceback" not in said, said
    assert "HF1003" not in said, said
    if ended.status == 0:
        return
    left = [act for act in acts(case) if act.state == "open"]
    begun = any(step.event != "not begun" for act in left for step in act.steps)
    if strike.name == "ctrl-c":
        assert ended.status == 130, said
    else:
        assert _CODE.search(said), said
        assert "\n  next  " in said, said
    if begun:
        assert _CODE.search(said), said
        assert _SETTLE.search(said), said
        assert "nothing was changed" not in said, said


def acts(case: Case) -> list[JournalEntry]:
    """Return every act in the journals."""
    places = holdfast.journal(case.target, project=case.project).result.places
    return [act for place in places for act in place.acts]


def settle(case: Case, how: str) -> str:
    """Do what a person does then; return what became of it: `applied` or `untouched`."""
    if how == "undo":
        try:
            holdfast.undo(case.target, project=case.project)
        except HoldfastError as refused:
            assert refused.code.number == "HF4609", refused
            assert case.plan.irreversible, "undo is refused only where the plan says so"
            how = "finish"
        else:
            return "untouched"
    if how == "finish":
        done = holdfast.finish_plan(case.target, project=case.project).result
        if done.outcome == "nothing" and case.look() == case.before:
            return "untouched"
    else:
        holdfast.apply(case.file, project=case.project, even_if_running=True)
    return "applied"


def judge(case: Case, became: str) -> None:
    """Demand that everything is as it was, byte for byte, or as the plan says; nothing is open."""
    if became == "untouched":
        assert case.look() == case.before
    else:
        assert comparable(case.look()) == case.applied
    assert [act for act in acts(case) if act.state == "open"] == []


def test_every_kind_of_step_is_struck(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plans = [make(tmp_path / name, monkeypatch).plan for name, make in CASES.items()]
    assert {step.act for plan in plans for step in plan.steps} == set(STEP_KINDS)


def each_moment(
    case: Case, words: list[str], name: str, ways_on: tuple[str, ...], most: int | None
) -> None:
    """Strike a command at every moment, and do each time what a person does then."""
    strike = STRIKES[name]
    for fatal in moments(case, words, strike, most):
        case.put_back()
        ended = struck(words, strike, fatal, case.root)
        how = ways_on[fatal % len(ways_on)]
        try:
            understood(case, ended, strike)
            # Twice is no harm.
            for became in (settle(case, how), None):
                judge(case, became or settle(case, how))
        except (AssertionError, HoldfastError) as error:
            at = f"struck by {name} at call {fatal}, ended with {ended.status}, then {how}:"
            raise AssertionError(f"{at}\n{ended.said}\n{error}") from error


@draw("name")
@pytest.mark.parametrize("name", STRIKES)
@pytest.mark.parametrize("case", CASES, indirect=True)
def test_struck_while_it_is_applied(case: Case, name: str, whole: bool) -> None:
    # Every call fails once; what else can happen there happens at many of them.
    most = (None if name == "fails-once" else MANY) if whole else FEW
    each_moment(case, applying(case), name, ("finish", "apply", "undo"), most)


@draw("case", "name")
@pytest.mark.parametrize("name", STRIKES)
@pytest.mark.parametrize("case", UNDONE, indirect=True)
def test_struck_while_it_is_undone(case: Case, name: str, whole: bool) -> None:
    """Undo goes on where it was; to finish is to go on with what was interrupted, the undoing."""
    holdfast.apply(case.file, project=case.project, even_if_running=True)
    case.keep()
    each_moment(case, case.words("undo", case.target), name, ("undo",), MANY if whole else FEW)
