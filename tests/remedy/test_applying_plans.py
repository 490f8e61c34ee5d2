"""Real plans: pure, stale when anything changed, undone until something came after."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import holdfast
from holdfast.errors import HoldfastError, UsageError
from holdfast.ledgers.sinkstate import LastCommitted
from holdfast.records.history import History
from holdfast.records.journal import Act
from holdfast.records.run import Ended
from holdfast.remedy.evidence import sink_moved, what_came_after
from holdfast.remedy.plan import Plan, encode_plan
from tests.backup.folders import aged, extracted, records_of, tree_of
from tests.records.runs import some_run

LEFTOVER = "offsets/.0.01234567-89ab-cdef-0123-456789abcdef.tmp"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = extracted(tmp_path / "orders")
    (folder / LEFTOVER).write_bytes(b"torn")
    return aged(folder)


def planned(root: Path) -> Plan:
    return holdfast.plan(root, "clean").result


def refused(act: Callable[[], object]) -> tuple[str, int]:
    with pytest.raises(HoldfastError) as caught:
        act()
    return caught.value.code.number, caught.value.exit_status


def test_planning_is_pure_and_writes_nothing(root: Path, tmp_path: Path) -> None:
    before = tree_of(root.parent)
    first, second = planned(root), planned(root)
    assert json.dumps(encode_plan(first)) == json.dumps(encode_plan(second))
    holdfast.plan(root, "clean", output=tmp_path.parent / f"{tmp_path.name}.json")
    assert tree_of(root.parent) == before


def test_applied_and_undone_the_checkpoint_is_byte_identical(root: Path) -> None:
    before = tree_of(root)
    plan = planned(root)
    assert holdfast.apply(plan).result.outcome == "applied"
    assert tree_of(root) == {path: one for path, one in before.items() if path != LEFTOVER}
    assert holdfast.apply(plan).result.outcome == "already-applied"
    assert holdfast.undo(root).result.outcome == "undone"
    assert tree_of(root) == before
    assert refused(lambda: holdfast.apply(plan)) == ("HF4605", 41)
    assert holdfast.apply(planned(root)).result.outcome == "applied"


def change_checkpoint(root: Path) -> None:
    (root / "offsets" / ".8.0123.tmp").write_bytes(b"")


def change_query(root: Path) -> None:
    (root / "metadata").write_text('{"id":"00000000-0000-0000-0000-000000000000"}')


def change_run(root: Path) -> None:
    run = replace(some_run(3), ended=Ended.FINISHED)
    History(records_of(root).folder).write(run)


def change_act(root: Path) -> None:
    journal, act = records_of(root).journal, Act("20300101T000000000Z-0001", "clean", {})
    journal.begin(act)
    journal.end(act, "undone")


CHANGES: dict[str, Callable[[Path], None]] = {
    "checkpoint": change_checkpoint,
    "query": change_query,
    "newest run": change_run,
    "newest act": change_act,
}


@pytest.mark.parametrize("fact", CHANGES)
def test_a_plan_is_stale_once_a_fact_has_changed(root: Path, fact: str) -> None:
    plan = planned(root)
    assert set(CHANGES) <= set(plan.looked_at)
    CHANGES[fact](root)
    aged(root)
    before = tree_of(root)
    with pytest.raises(HoldfastError, match=fact) as caught:
        holdfast.apply(plan)
    assert (caught.value.code.number, caught.value.exit_status) == ("HF4605", 41)
    assert tree_of(root) == before


PROJECT = """
project: shop
jobs:
  orders:
    source: {format: rate}
    sql: select * from source
    sink: {format: console}
"""


def test_a_plan_of_another_checkpoint_is_stale(root: Path, tmp_path: Path) -> None:
    """A job of the same name, with the same leftover, in another project."""
    places = [tmp_path / "here", tmp_path / "there"]
    for place in places:
        shutil.copytree(root, place / "checkpoints" / "orders")
        (place / "holdfast.yaml").write_text(PROJECT)
        aged(place)
    one, other = (place / "holdfast.yaml" for place in places)
    plan = holdfast.plan("orders", "clean", project=one).result
    before = tree_of(other.parent / "checkpoints" / "orders")
    assert refused(lambda: holdfast.apply(plan, project=other)) == ("HF4605", 41)
    assert tree_of(other.parent / "checkpoints" / "orders") == before
    assert holdfast.apply(plan, project=one).result.outcome == "applied"


def test_undo_is_refused_once_the_job_ran(root: Path) -> None:
    holdfast.apply(planned(root))
    History(records_of(root).folder).write(replace(some_run(99), ended=Ended.FINISHED))
    before = tree_of(root)
    assert refused(lambda: holdfast.undo(root)) == ("HF4609", 40)
    assert tree_of(root) == before


@pytest.mark.parametrize("log", ["offsets", "commits"])
def test_undo_is_refused_once_plain_spark_ran(root: Path, log: str) -> None:
    holdfast.apply(planned(root))
    newest = max(int(one.name) for one in (root / log).iterdir() if one.name.isdigit())
    shutil.copy(root / log / str(newest), root / log / str(newest + 1))
    before = tree_of(root)
    assert refused(lambda: holdfast.undo(root)) == ("HF4609", 40)
    assert tree_of(root) == before


def test_undo_of_a_restore_is_refused_once_anything_changed(root: Path) -> None:
    backup = holdfast.back_up(root).result.backups[0].id
    (root / LEFTOVER).unlink()
    aged(root)
    holdfast.restore(f"{root}@{backup}")
    (root / "commits" / "99").write_bytes(b"v1\n{}")
    before = tree_of(root)
    assert refused(lambda: holdfast.undo(root)) == ("HF4609", 40)
    assert tree_of(root) == before
    (root / "commits" / "99").unlink()
    assert holdfast.undo(root).result.remedy == "restore"


HELD = (
    (LastCommitted.nothing("asked"), LastCommitted.nothing("asked"), False),
    (LastCommitted.batch(3, "asked"), LastCommitted.batch(3, "asked"), False),
    (LastCommitted.batch(3, "asked"), LastCommitted.batch(4, "asked"), True),
    (LastCommitted.nothing("asked"), LastCommitted.batch(0, "asked"), True),
    (LastCommitted.batch(3, "asked"), LastCommitted.unknown("no network"), True),
    (LastCommitted.unknown("no network"), LastCommitted.batch(4, "asked"), False),
)


@pytest.mark.parametrize(("then", "now", "moved"), HELD)
def test_a_newer_commit_of_the_sink_stops_undo(
    root: Path, then: LastCommitted, now: LastCommitted, moved: bool
) -> None:
    def shown(held: LastCommitted) -> dict[str, object]:
        return {"answer": held.answer.value, "value": held.value, "basis": held.basis}

    assert (sink_moved(shown(then), shown(now)) is not None) is moved


def test_the_sink_is_asked_before_an_act_is_undone(root: Path) -> None:
    from holdfast.remedy.applying import Applying
    from tests.remedy.plans import no_sink

    records, plan = records_of(root), planned(root)
    held = [LastCommitted.batch(1, "asked")]
    applying = Applying(records, no_sink, ask_sink=lambda _: held[-1])
    applying.apply(plan, lambda: plan)
    (act,) = records.journal.acts()
    assert what_came_after(act, records.checkpoint, applying.ask_sink) is None
    held.append(LastCommitted.batch(2, "asked"))
    told = what_came_after(act, records.checkpoint, applying.ask_sink)
    assert told == "the sink has batch 2 since"


def test_a_remedy_that_does_not_exist_is_a_usage_error(tmp_path: Path) -> None:
    """With the names of those that do."""
    with pytest.raises(UsageError) as refused:
        holdfast.plan(tmp_path, "rewind")
    assert refused.value.code == "HF1001" and "replay" in refused.value.message
