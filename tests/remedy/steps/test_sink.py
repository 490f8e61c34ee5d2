"""Steps on a real sink of files: no row of anybody is lost or doubled, whoever comes late."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

import holdfast
from holdfast.errors import HoldfastError, SinkError
from holdfast.ledgers.files.commit import FileCommits
from holdfast.ledgers.files.output import FileOutput
from holdfast.ledgers.identity import BatchIdentity
from holdfast.library import remedies
from holdfast.remedy.plan import Draft, plan_of
from holdfast.storage.location import parse_location
from holdfast.storage.options import StorageSettings
from holdfast.targets.opening import resolved
from tests.remedy.plans import killed_at
from tests.remedy.played import QUERY, Played, played, staged


@pytest.fixture(autouse=True)
def _no_flushing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A killed process loses nothing that it handed to the system: only power cuts need flushes."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


def reset(made: Played, output: str, **options: str) -> Any:
    """Plan a reset and apply it."""
    given = {"output": output, **options}
    plan = holdfast.plan("job", "reset", given, project=made.file).result
    return holdfast.apply(plan, project=made.file, even_if_running=True).result


def refused(act: Any) -> str:
    """Give the code of what refuses an act."""
    with pytest.raises(HoldfastError) as caught:
        act()
    return caught.value.code.number


class Driver:
    """A driver that lives on, whatever becomes of its lease."""

    def __init__(self, made: Played, query_id: str = QUERY) -> None:
        self._output = FileOutput(parse_location(str(made.output)), StorageSettings())
        self._commits = FileCommits(self._output)
        self._query_id = query_id

    def deliver(self, batch: int, row: int, generation: int = 1) -> None:
        """Deliver a batch of one row."""
        identity = BatchIdentity(self._query_id, batch, generation, f"digest {batch}")
        text = f'{{"n": {row}}}'
        self._commits.deliver(
            identity, lambda folder: staged(self._output, folder, identity, text)
        )  # fmt: skip


def emptied(folder: Path) -> Played:
    """Give a project whose output somebody removed with all that was kept of it."""
    made = played(folder)
    made.record(generation=1)
    shutil.rmtree(made.output)
    shutil.rmtree(made.output.parent / ".holdfast")
    return made


def test_after_a_reset_that_clears_nothing_a_late_driver_commits_nothing(tmp_path: Path) -> None:
    made = emptied(tmp_path / "p")
    assert reset(made, "none").outcome == "applied"
    with pytest.raises(SinkError) as late:
        Driver(made).deliver(4, 4)
    assert late.value.code.number == "HF5025"
    assert not made.output.exists() or made.rows() == Counter()
    Driver(made, "5a1f3f0e-0000-4000-8000-000000000002").deliver(0, 100, generation=9)
    assert made.rows() == Counter([100])


def test_a_batch_that_came_before_the_fence_stops_the_reset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = emptied(tmp_path / "p")
    late = Driver(made)

    def begun(point: str) -> None:
        if point == "plan.begun":
            late.deliver(4, 4)

    monkeypatch.setattr("holdfast.remedy.applying.reach", begun)
    assert refused(lambda: reset(made, "none")) == "HF4601"
    assert made.rows() == Counter([4])
    before = set(made.ids("offsets"))
    assert holdfast.undo("job", project=made.file).result.outcome == "undone"
    assert (set(made.ids("offsets")), made.rows()) == (before, Counter([4]))


def test_a_sink_without_a_fence_is_said_to_have_none(tmp_path: Path) -> None:
    sink = {"format": "json", "path": "./lake/written", "native": True}
    made = Played(tmp_path / "p", sink=sink)
    made.plan(0)
    plan = holdfast.plan("job", "reset", {"output": "none"}, project=made.file).result
    assert "fence-sink" not in [one.act for one in plan.steps]
    assert any("is not locked out of the output" in one for one in plan.notes)


def stolen(made: Played) -> None:
    """Let another person undo the act: its process was stopped for so long that the lease is lost.

    Without its files the lease is nobody's; the next generation is newer than the journal's.
    """
    shutil.rmtree(made.checkpoint.parent / ".holdfast/job/lease")
    assert holdfast.undo("job", project=made.file).result.outcome == "undone"


class Stopped:
    """Something that happens while an act is stopped at a crash point."""

    def __init__(self, point: str, time: int, happens: Callable[[], object]) -> None:
        self._point = point
        self._left = time
        self._happens = happens

    def __call__(self, point: str) -> None:
        if point == self._point:
            self._left -= 1
            if not self._left:
                self._happens()


def at(patch: pytest.MonkeyPatch, point: str, time: int, happens: Callable[[], object]) -> None:
    """Let something happen when the next act comes to a crash point this often."""
    for place in ("applying", "steps.sink"):
        patch.setattr(f"holdfast.remedy.{place}.reach", Stopped(point, time, happens))


RESET, REPLAY = {"output": "clear"}, {"from_batch": 2}


@pytest.mark.parametrize(("remedy", "options"), [("reset", RESET), ("replay", REPLAY)])
@pytest.mark.parametrize(
    ("point", "time", "code"),
    [("plan.step-begun", 4, "HF2610"), ("plan.sink-confirmed", 1, "HF5026")],
)
def test_an_act_that_slept_takes_no_row_after_it_was_undone(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    remedy: str,
    options: dict[str, Any],
    point: str,
    time: int,
    code: str,
) -> None:
    """Stopped right before the sink is changed, and continued after somebody undid the act."""
    made = played(tmp_path / "p")
    made.record(generation=1)
    plan = holdfast.plan("job", remedy, options, project=made.file).result
    files = made.tree()
    at(monkeypatch, point, time, lambda: stolen(made))
    with pytest.raises(HoldfastError) as caught:
        holdfast.apply(plan, project=made.file, even_if_running=True)
    assert caught.value.code.number == code
    assert "holdfast restore" not in " ".join(caught.value.next_steps)
    assert (made.rows(), made.tree()) == (Counter(range(4)), files)
    made.run(4, generation=9)
    assert made.rows() == Counter(range(5))


def test_rows_of_an_older_query_that_are_gone_keep_the_checkpoint_gone(tmp_path: Path) -> None:
    """The query of now has delivered nothing yet; the output has rows of the one before it."""
    made = Played(tmp_path / "p")
    made.plan(0)
    former = "5a1f3f0e-0000-4000-8000-000000000002"
    Driver(made, former).deliver(0, 7)
    made.record(generation=1)
    assert refused(lambda: reset(made, "clear")) == "HF4602", "nothing says that it is our own"
    reset(made, "clear", clear_query=former)
    assert made.rows() == Counter()
    assert refused(lambda: holdfast.undo("job", project=made.file)) == "HF4609"
    assert made.tree() == {}


def declare(made: Played, path: str) -> None:
    """Edit the output's path in the project file."""
    text = made.file.read_text(encoding="utf-8")
    now = yaml.safe_load(text)
    now["jobs"]["job"]["sink"]["path"] = path
    made.file.write_text(yaml.safe_dump(now), encoding="utf-8")


@pytest.mark.parametrize(("remedy", "options"), [("reset", RESET), ("replay", REPLAY)])
def test_an_edited_declaration_moves_no_step_to_another_output(
    tmp_path: Path, remedy: str, options: dict[str, Any]
) -> None:
    """The act was killed before the output was changed, and another path is declared since."""
    made = played(tmp_path / "p")
    for point in ("plan.step-begun:3", "plan.step-begun:4"):
        plan = holdfast.plan("job", remedy, options, project=made.file).result
        apply = partial(holdfast.apply, plan, project=made.file, even_if_running=True)
        assert killed_at(point, apply)
        shutil.copytree(made.output, made.folder / "lake/precious")
        shutil.copytree(
            made.folder / "lake/.holdfast/written", made.folder / "lake/.holdfast/precious"
        )
        declare(made, "./lake/precious")
        for act in (apply, partial(holdfast.finish_plan, "job", project=made.file)):
            assert refused(act) == "HF4647"
        precious = made.folder / "lake/precious"
        assert len([*precious.rglob("*.json")]) == 4
        declare(made, "./lake/written")
        assert holdfast.undo("job", project=made.file).result.outcome == "undone"
        assert made.rows() == Counter(range(4))
        shutil.rmtree(precious)
        shutil.rmtree(made.folder / "lake/.holdfast/precious")


def test_an_act_is_not_undone_by_what_another_output_holds(tmp_path: Path) -> None:
    made = played(tmp_path / "p")
    reset(made, "clear")
    declare(made, "./lake/another")
    assert refused(lambda: holdfast.undo("job", project=made.file)) == "HF4647"
    declare(made, "./lake/written")
    assert refused(lambda: holdfast.undo("job", project=made.file)) == "HF4609"


def test_a_plan_of_before_that_names_no_output_is_honoured(tmp_path: Path) -> None:
    made = played(tmp_path / "p")
    new = holdfast.plan("job", "reset", RESET, project=made.file).result
    names = {"output", "output_kind", "table", "table_id"}
    steps = tuple(
        replace(one, arguments={k: v for k, v in one.arguments.items() if k not in names})
        for one in new.steps
    )
    assert steps != new.steps
    draft = Draft(steps, new.effects, new.notes)
    plan = plan_of(draft, new.request, new.target, new.job, new.looked_at)
    applying = partial(
        remedies.applying_at, resolved("job", made.project, ()), True, remedies.Heard(), ()
    )
    assert killed_at("plan.step-begun:4", lambda: applying().apply(plan, lambda: plan))
    assert holdfast.finish_plan("job", project=made.file).result.outcome == "finished"
    assert made.rows() == Counter()
