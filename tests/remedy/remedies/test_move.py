"""A moved checkpoint continues at its new place alone, and a move can be taken back."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

import holdfast
from holdfast.crashpoints import POINTS
from holdfast.errors import DecodeError, HoldfastError, PlanError
from holdfast.format.logs.log import decode_query
from holdfast.remedy.plan import Plan
from tests.corpus.loading import sample
from tests.drawing import draw
from tests.records.drivers import driver
from tests.remedy.plans import killed_at
from tests.remedy.repairing import Place, made, tree, without_checksums

POINT_NAMES = (
    "plan.begun", "plan.step-begun", "plan.step-applied", "plan.step-done", "plan.start-blocked",
    "plan.copy-begun", "plan.file-copied", "plan.records-copied", "plan.old-place-closed",
    "plan.new-place-opened", "plan.applied",
)  # fmt: skip
BACK = ("plan.step-undoing", "plan.step-undone", "plan.undone")


@pytest.fixture(autouse=True)
def _no_flushing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)


def some_place(folder: Path) -> Place:
    place = made(folder, "aggregation")
    place.record(4)
    place.keep(4)
    return place


def new_of(place: Place) -> Path:
    return place.root.parent.parent / "lake/orders"


def plan_of(place: Place) -> Plan:
    return place.plan("move", to=str(new_of(place))).result


def apply(plan: Plan) -> None:
    holdfast.apply(plan, even_if_running=True)


def assert_moved(place: Place, before: dict[str, bytes]) -> None:
    assert without_checksums(tree(new_of(place))) == without_checksums(before)
    with pytest.raises(DecodeError):
        decode_query((place.root / "metadata").read_bytes())
    codes = {one.code for one in holdfast.doctor(new_of(place)).findings}
    assert "HF2347" not in codes, "the records came along"
    assert holdfast.doctor(new_of(place)).result.targets[0].last_committed == 4


def assert_as_before(place: Place, before: dict[str, bytes]) -> None:
    assert place.files() == before
    assert not new_of(place).exists()
    assert not (new_of(place).parent / ".holdfast/orders").exists()


def test_a_checkpoint_is_moved_with_its_records(tmp_path: Path) -> None:
    place = some_place(tmp_path)
    before = place.files()
    plan = plan_of(place)
    assert place.files() == before
    apply(plan)
    assert_moved(place, before)
    records = new_of(place).parent / ".holdfast/orders"
    assert {"runs", "offsets", "moves"} <= {one.name for one in records.iterdir()}
    assert str(new_of(place)) in (place.root / "metadata").read_text()
    holdfast.undo(place.root)
    assert_as_before(place, before)


def test_the_old_place_is_not_repaired_into_a_second_one(tmp_path: Path) -> None:
    place = some_place(tmp_path)
    apply(plan_of(place))
    with pytest.raises(PlanError) as refused:
        place.plan("repair")
    assert refused.value.code == "HF4601"
    assert "moved" in refused.value.message


def test_paths_of_state_schemas_are_those_of_the_new_place(tmp_path: Path) -> None:
    root = tmp_path / "here/checkpoint"
    sample("transform-rows", "4.3.0").extract(tmp_path / "here")
    to = tmp_path / "there/orders"
    holdfast.apply(holdfast.plan(root, "move", {"to": str(to)}).result, even_if_running=True)
    (written,) = {path.read_text() for path in to.glob("state/*/_metadata/v2/*")}
    stores = json.loads(written.partition("\n")[2])["stateStoreInfo"]
    paths = [path for store in stores for path in store["stateSchemaFilePaths"]]
    assert paths
    assert all(Path(path.removeprefix("file:")).is_file() for path in paths)
    assert all(path.startswith(f"file:{to}/state/") for path in paths)
    assert not [*to.glob("state/*/_metadata/v2/.*.crc")]
    assert "HF2225" not in {one.code for one in holdfast.doctor(to).findings}


def test_a_move_is_not_undone_once_a_query_ran_at_the_new_place(tmp_path: Path) -> None:
    place = some_place(tmp_path)
    apply(plan_of(place))
    (new_of(place) / "offsets/5").write_bytes((new_of(place) / "offsets/4").read_bytes())
    with pytest.raises(PlanError) as refused:
        holdfast.undo(place.root)
    assert refused.value.code == "HF4609"
    assert "offsets/5" in refused.value.message


@pytest.mark.parametrize("where", ["itself", "inside", "around", "files", "records"])
def test_a_place_that_is_not_free_is_refused(tmp_path: Path, where: str) -> None:
    place = some_place(tmp_path)
    to = {
        "itself": place.root, "inside": place.root / "new", "around": place.root.parent,
        "files": tmp_path / "full", "records": tmp_path / "known/orders",
    }[where]  # fmt: skip
    (tmp_path / "full").mkdir()
    (tmp_path / "full/something").write_text("")
    (tmp_path / "known/.holdfast/orders/runs").mkdir(parents=True)
    before = place.files()
    with pytest.raises(HoldfastError) as refused:
        place.plan("move", to=str(to))
    assert refused.value.code == "HF4619"
    assert place.files() == before


def test_a_damaged_checkpoint_is_repaired_before_it_is_moved(tmp_path: Path) -> None:
    place = some_place(tmp_path)
    place.damage("state-newest-missing")
    with pytest.raises(PlanError) as refused:
        plan_of(place)
    assert refused.value.code == "HF4601"


def test_the_project_knows_the_new_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = some_place(tmp_path)
    (tmp_path / "holdfast.yaml").write_text(
        "project: shop\ncheckpoints: ./ckpt\njobs:\n  orders:\n"
        "    source: {format: text, path: /tmp/holdfast-restarts/input/left}\n"
        "    sql: select value, count(*) as n from source group by value\n    output_mode: update\n"
        "    sink: {format: console}\n"
    )
    listed = tmp_path / ".holdfast/checkpoints.json"
    listed.parent.mkdir(exist_ok=True)
    listed.write_text(json.dumps({"version": 1, "checkpoints": {
        "orders": {"location": "./ckpt/orders", "since": "2026-01-01T00:00:00Z"}}}))  # fmt: skip
    monkeypatch.chdir(tmp_path)
    before = listed.read_text()
    plan = holdfast.plan("orders", "move", {"to": str(new_of(place))}).result
    assert any("holdfast.yaml" in note for note in plan.notes)
    apply(plan)
    assert json.loads(listed.read_text())["checkpoints"]["orders"]["location"] == "./lake/orders"
    holdfast.undo(place.root)
    assert json.loads(listed.read_text()) == json.loads(before)


def times(folder: Path) -> Iterator[Path]:
    for time in count(1):
        (folder / str(time)).mkdir()
        yield folder / str(time)


def test_every_point_of_a_move_is_tried() -> None:
    own = {name for name, told in POINTS.items() if told.startswith("move: ")}
    assert own - {"plan.place-remembered"} <= {*POINT_NAMES}


@draw("how")
@pytest.mark.parametrize("how", ["finish", "apply", "undo"])
@pytest.mark.parametrize("point", POINT_NAMES)
def test_killed_while_it_moves(point: str, how: str, tmp_path: Path) -> None:
    for number, folder in enumerate(times(tmp_path), 1):
        place = some_place(folder)
        before, plan = place.files(), plan_of(place)
        if not killed_at(f"{point}:{number}", lambda p=plan: apply(p)):  # type: ignore[misc]
            assert number > 1
            return
        if how == "apply":
            apply(plan)
        elif how == "finish":
            holdfast.finish_plan(place.root)
        else:
            holdfast.undo(place.root)
        if how == "undo":
            assert_as_before(place, before)
        else:
            assert_moved(place, before)


@pytest.mark.parametrize("point", BACK)
def test_killed_while_a_move_is_undone(point: str, tmp_path: Path) -> None:
    for number, folder in enumerate(times(tmp_path), 1):
        place = some_place(folder)
        before = place.files()
        apply(plan_of(place))
        if not killed_at(f"{point}:{number}", lambda p=place: holdfast.undo(p.root)):  # type: ignore[misc]
            assert number > 1
            return
        holdfast.undo(place.root)
        assert_as_before(place, before)


def code_of(act: Callable[[], object]) -> str:
    """Give the code of what refuses an act."""
    with pytest.raises(HoldfastError) as refused:
        act()
    return refused.value.code.number


@pytest.mark.parametrize("point", ["plan.step-begun:3", "plan.step-begun:4", "plan.step-begun:6"])
def test_another_checkpoint_at_the_new_place_is_never_overwritten(
    tmp_path: Path, point: str
) -> None:
    """It came after the plan was made, or while the act that was killed was not continued."""
    place = some_place(tmp_path)
    before, plan = place.files(), plan_of(place)
    assert killed_at(point, lambda: apply(plan))
    new_of(place).mkdir(parents=True, exist_ok=True)
    (new_of(place) / "metadata").write_text('{"id":"5a1f3f0e-0000-4000-8000-000000000002"}')
    (new_of(place) / "mine").write_text("rows that are delivered")
    theirs = tree(new_of(place))
    for act in (lambda: apply(plan), lambda: holdfast.finish_plan(place.root)):
        assert code_of(act) == "HF4619"
        assert tree(new_of(place)) == theirs
    holdfast.undo(place.root)
    assert (place.files(), tree(new_of(place))) == (before, theirs)


def test_files_without_metadata_at_the_new_place_stop_the_move(tmp_path: Path) -> None:
    place = some_place(tmp_path)
    plan = plan_of(place)
    assert killed_at("plan.step-begun:3", lambda: apply(plan))
    (new_of(place) / "offsets").mkdir(parents=True)
    (new_of(place) / "offsets/0").write_text("v1\nof somebody else")
    assert code_of(lambda: holdfast.finish_plan(place.root)) == "HF4619"
    assert (new_of(place) / "offsets/0").read_text() == "v1\nof somebody else"


@pytest.mark.parametrize("point", ["plan.step-begun:3", "plan.step-begun:4", "plan.step-begun:6"])
def test_a_driver_that_holds_the_new_place_keeps_what_it_has_there(
    tmp_path: Path, point: str
) -> None:
    place = some_place(tmp_path)
    before, plan = place.files(), plan_of(place)
    assert killed_at(point, lambda: apply(plan))
    with driver(new_of(place).parent):
        there = tree(new_of(place).parent)
        for act in (lambda: holdfast.finish_plan(place.root), lambda: holdfast.undo(place.root)):
            assert code_of(act) == "HF2601"
            assert tree(new_of(place).parent).keys() >= there.keys()
    holdfast.undo(place.root)
    assert place.files() == before


def test_a_record_of_others_at_the_new_place_is_not_replaced(tmp_path: Path) -> None:
    place = some_place(tmp_path)
    plan = plan_of(place)
    assert killed_at("plan.step-begun:4", lambda: apply(plan))
    (run,) = (place.root.parent / ".holdfast" / place.root.name / "runs").glob("*.json")
    theirs = new_of(place).parent / ".holdfast/orders/runs" / run.name
    theirs.parent.mkdir(parents=True)
    theirs.write_text("{}")
    assert code_of(lambda: holdfast.finish_plan(place.root)) == "HF4619"
    assert theirs.read_text() == "{}"


def test_a_move_that_slept_changes_nothing_after_it_was_undone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped before it copies the records, while its lease is lost and somebody undoes it."""
    place = some_place(tmp_path)
    before, plan, left = place.files(), plan_of(place), [4]

    def stopped(point: str) -> None:
        left[0] -= point == "plan.step-begun"
        if point == "plan.step-begun" and not left[0]:
            shutil.rmtree(place.root.parent / ".holdfast" / place.root.name / "lease")
            holdfast.undo(place.root)

    monkeypatch.setattr("holdfast.remedy.applying.reach", stopped)
    assert code_of(lambda: apply(plan)) == "HF2610"
    assert place.files() == before
    records = new_of(place).parent / ".holdfast/orders"
    assert not new_of(place).exists()
    assert not [one for one in records.rglob("*.json") if one.parent.name != "lease"]
