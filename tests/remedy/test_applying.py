"""What the engine refuses, and that a refusal changes nothing."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import HoldfastError
from holdfast.records.history import History
from holdfast.records.journal import Act, Event
from holdfast.remedy.applying import Applying
from holdfast.remedy.evidence import evidence_of
from holdfast.remedy.plan import Draft, Effects, Plan, Step, encode_plan, plan_of, read_plan
from tests.backup.folders import aged, back_up_now, records_of, restore_now, tree_of
from tests.records.drivers import driver
from tests.records.runs import some_run
from tests.remedy.plans import (
    FACTS,
    apply,
    applying,
    assert_applied,
    assert_untouched,
    finish,
    killed_at,
    made,
    no_sink,
    some_plan,
    undo,
)


@pytest.fixture(autouse=True)
def _no_flushing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests lose no power."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return made(tmp_path)


def refused(act: Callable[[], object]) -> tuple[str, int]:
    """Return code and exit status of what an act is refused with."""
    with pytest.raises(HoldfastError) as caught:
        act()
    return caught.value.code.number, caught.value.exit_status


def all_of(root: Path) -> dict[str, Any]:
    """Return checkpoint and records, but for the lease, which each attempt takes."""
    tree = tree_of(root.parent).items()
    taken = ("/lease/", "/busy/")
    return {p: one for p, one in tree if one is not None and not any(t in p for t in taken)}


def act_folder(root: Path) -> Path:
    """Return the journal's folder of the newest act."""
    journal = root.parent / ".holdfast" / root.name / "journal"
    return max(one for one in journal.iterdir() if one.is_dir())


def edit(file: Path, **changes: object) -> None:
    """Change a document in place, as an editor does."""
    document = json.loads(file.read_bytes())
    file.write_text(json.dumps({**document, **changes}, sort_keys=True))


def test_applied_twice_it_is_applied_once(root: Path) -> None:
    plan = some_plan(root)
    assert apply(root, plan).outcome == "applied"
    before = all_of(root)
    again = apply(root, plan)
    assert (again.outcome, again.steps) == ("already-applied", ())
    assert all_of(root) == before
    assert finish(root).outcome == "nothing"


def test_undone_twice_it_is_undone_once(root: Path) -> None:
    apply(root, some_plan(root))
    assert undo(root).outcome == "undone"
    before = all_of(root)
    assert undo(root).outcome == "nothing"
    assert all_of(root) == before


def test_a_plan_that_was_undone_is_judged_again(root: Path) -> None:
    plan = some_plan(root)
    apply(root, plan)
    undo(root)
    now = some_plan(root, looked_at={**FACTS, "newest act": "another"})
    assert refused(lambda: applying(root).apply(plan, lambda: now)) == ("HF4605", 41)
    assert_untouched(root)


@pytest.mark.parametrize("fact", FACTS)
def test_a_stale_plan_names_the_fact_that_changed(root: Path, fact: str) -> None:
    plan, now = some_plan(root), some_plan(root, looked_at={**FACTS, fact: "changed"})
    before = all_of(root)
    with pytest.raises(HoldfastError, match=f"changed since it was made: {fact}") as caught:
        applying(root).apply(plan, lambda: now)
    assert (caught.value.code.number, caught.value.exit_status) == ("HF4605", 41)
    assert all_of(root) == before


def test_a_plan_is_stale_where_the_same_facts_give_other_steps(root: Path) -> None:
    plan, now = some_plan(root), some_plan(root, note="another release plans this")
    assert refused(lambda: applying(root).apply(plan, lambda: now)) == ("HF4605", 41)


@pytest.mark.parametrize(
    "content", [b"", b"\xff", b"[]", b"{}", b"null", b'{"id": 1}', b"[" * 9999]
)
def test_garbage_is_no_plan(content: bytes) -> None:
    assert refused(lambda: read_plan(content, "plan.json")) == ("HF4607", 2)


def test_an_edited_plan_is_no_plan(root: Path) -> None:
    document = encode_plan(some_plan(root))
    assert read_plan(json.dumps(document).encode(), "plan.json") == some_plan(root)
    edits: tuple[dict[str, Any], ...] = (
        {"target": "/elsewhere"},
        {"steps": document["steps"][1:]},
        {"looked_at": {**document["looked_at"], "sink": "batch 3"}},
        {"made_from": "0" * 64},
        {"effects": {**document["effects"], "sink": "loses nothing"}},
        {"id": "repair-0000000000000000"},
        {"remedy": "delete"},
    )
    for edit_of_plan in edits:
        content = json.dumps({**document, **edit_of_plan}).encode()
        assert refused(lambda c=content: read_plan(c, "plan.json")) == ("HF4607", 2)  # type: ignore[misc]


INTERRUPTED = "plan.file-removed:1"


@pytest.mark.parametrize("entry", ["000002.json", "000003.json"])
def test_with_an_edited_journal_nothing_is_finished_or_undone(root: Path, entry: str) -> None:
    plan = some_plan(root)
    assert killed_at(INTERRUPTED, lambda: apply(root, plan))
    edit(act_folder(root) / "entries" / entry, at="1970-01-01T00:00:00Z")
    before = all_of(root)
    for act in (lambda: apply(root, plan), lambda: finish(root), lambda: undo(root)):
        assert refused(act)[0] == "HF4616"
    assert all_of(root) == before


def test_an_edited_outcome_is_seen_once_another_act_began(root: Path) -> None:
    apply(root, some_plan(root))
    first = act_folder(root)
    apply(root, some_plan(root, note="another one"))
    edit(first / "outcome.json", outcome="undone")
    assert [one.is_intact for one in records_of(root).journal.acts()] == [True, False]


@pytest.mark.parametrize("name", ["intent.json", "entries/000002.json"])
def test_a_journal_of_garbage_is_an_error_and_no_traceback(root: Path, name: str) -> None:
    plan = some_plan(root)
    assert killed_at(INTERRUPTED, lambda: apply(root, plan))
    (act_folder(root) / name).write_bytes(b"\xff{")
    checkpoint = tree_of(root)
    for act in (lambda: apply(root, plan), lambda: finish(root), lambda: undo(root)):
        assert refused(act)[0] == ("HF4506" if name == "intent.json" else "HF4616")
    assert tree_of(root) == checkpoint


def test_a_plan_in_the_journal_that_was_edited_is_not_applied(root: Path) -> None:
    plan = some_plan(root)
    assert killed_at("plan.begun", lambda: apply(root, plan))
    intent = act_folder(root) / "intent.json"
    document = json.loads(intent.read_bytes())
    document["intent"]["plan"]["target"] = "/elsewhere"
    intent.write_text(json.dumps(document))
    for act in (lambda: finish(root), lambda: undo(root)):
        assert refused(act)[0] in ("HF4607", "HF4616")
    assert tree_of(root) == tree_of(made(root.parent / "other"))


@pytest.mark.parametrize("number", [errno.EROFS, errno.ENOSPC, errno.EACCES, errno.EDQUOT])
@pytest.mark.parametrize("at", ["open", "write"])
def test_where_nothing_can_be_written_nothing_is_changed(
    root: Path, monkeypatch: pytest.MonkeyPatch, number: int, at: str
) -> None:
    plan, before = some_plan(root), tree_of(root)

    def opened(path: Any, flags: int, *arguments: Any, **named: Any) -> int:
        if flags & os.O_CREAT:
            raise OSError(number, os.strerror(number))
        return real(path, flags, *arguments, **named)

    def write(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    real = os.open
    monkeypatch.setattr(os, at, opened if at == "open" else write)
    assert refused(lambda: apply(root, plan))[0].startswith("HF70")
    monkeypatch.undo()
    assert tree_of(root) == before
    apply(root, plan)
    assert_applied(root)


def test_a_full_disk_between_two_steps_leaves_an_act_to_finish_or_undo(root: Path) -> None:
    plan = some_plan(root)

    def full(_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        Applying(records_of(root), no_sink, watch=full).apply(plan, lambda: plan)
    assert refused(lambda: back_up_now(records_of(root))) == ("HF4606", 42)
    undo(root)
    assert_untouched(root)


def test_under_a_live_driver_nothing_is_applied(root: Path) -> None:
    plan = some_plan(root)
    with driver(root.parent):
        for act in (lambda: apply(root, plan), lambda: finish(root), lambda: undo(root)):
            assert refused(act) == ("HF2601", 22)
    assert_untouched(root)


def test_an_act_that_lost_the_lease_before_it_began_is_not_continued(root: Path) -> None:
    plan = some_plan(root)
    records = records_of(root)
    records.journal.begin(Act("20200101T000000000Z-0001", "repair", {"plan": encode_plan(plan)}))
    edit(act_folder(root) / "intent.json", generation=1)
    History(records.folder).write(some_run(5))
    now = some_plan(root, looked_at={**FACTS, "newest run": "5"})
    assert refused(lambda: applying(root).apply(plan, lambda: now)) == ("HF4605", 41)
    assert_untouched(root)


def test_another_plan_waits_for_the_one_that_was_interrupted(root: Path) -> None:
    assert killed_at(INTERRUPTED, lambda: apply(root, some_plan(root)))
    other = some_plan(root, note="another one")
    assert refused(lambda: apply(root, other)) == ("HF4606", 42)
    finish(root)
    assert_applied(root)


def test_a_query_that_went_on_before_the_start_was_blocked_stops_the_plan(root: Path) -> None:
    """Plain Spark knows no lease: it starts after the backup, and commits."""
    plan = some_plan(root)
    assert killed_at("plan.step-done:1", lambda: apply(root, plan))
    (root / "commits" / "1").write_bytes(b"v1\n{}")
    aged(root)
    assert refused(lambda: finish(root)) == ("HF4640", 40)
    undo(root)
    assert tree_of(root) == tree_of(made(root.parent / "other")) | {"commits/1": b"v1\n{}"}


def test_a_late_commit_keeps_the_start_blocked(root: Path) -> None:
    plan = some_plan(root)
    assert killed_at("plan.step-done:5", lambda: apply(root, plan))
    (root / "commits" / "1").write_bytes(b"v1\n{}")
    aged(root)
    assert refused(lambda: finish(root)) == ("HF4640", 40)
    assert (root / "metadata").read_bytes().startswith(b"holdfast is changing this checkpoint")


def test_the_journal_has_what_was_there_before_and_after(root: Path) -> None:
    apply(root, some_plan(root))
    (act,) = records_of(root).journal.acts()
    before, after = evidence_of(act, Event.BEFORE), evidence_of(act, Event.AFTER)
    assert before is not None
    assert after is not None
    assert before["batches"] == {"last_planned": 1, "last_committed": 0, "pending": 1}
    assert before["next_start"]["action"] == "fail"
    assert before["digest"] != after["digest"]
    undo(root)
    taken_back = records_of(root).journal.acts()[0]
    now = evidence_of(taken_back, Event.AFTER)
    assert now is not None
    assert now["digest"] == before["digest"]


def test_ids_sort_in_the_order_of_the_acts_where_the_clock_was_set_back(root: Path) -> None:
    records = records_of(root)
    records.journal.begin(Act("20990101T000000000Z-0001", "repair", {}))
    records.journal.end(Act("20990101T000000000Z-0001", "repair", {}), "undone")
    apply(root, some_plan(root))
    assert act_folder(root).name == "20990101T000000000Z-0002"


def test_a_plan_that_changes_files_needs_its_own_backup(root: Path) -> None:
    whole = some_plan(root)
    steps: tuple[Step, ...] = whole.steps[1:]
    plan: Plan = plan_of(Draft(steps, Effects()), whole.request, whole.target, None, FACTS)
    before = tree_of(root)
    assert refused(lambda: apply(root, plan))[0] == "HF4607"
    assert tree_of(root) == before


def restored(root: Path) -> str:
    """Damage a checkpoint that was backed up, and restore it."""
    backup = back_up_now(records_of(root)).result.backups[0].id
    (root / "offsets" / "1").unlink()
    (root / "extra").write_bytes(b"extra")
    aged(root)
    restore_now(records_of(root), backup)
    return backup


@pytest.mark.parametrize("old", [False, True], ids=["today", "an-older-release"])
def test_undo_takes_a_restore_back(root: Path, old: bool) -> None:
    restored(root)
    damaged = {p: c for p, c in tree_of(made(root.parent / "other")).items() if p != "offsets/1"}
    if old:
        for name in ("intent.json", "outcome.json"):
            file = act_folder(root) / name
            known = ("id", "kind", "intent", "outcome")
            document = json.loads(file.read_bytes())
            file.write_text(json.dumps({k: v for k, v in document.items() if k in known}))
    assert undo(root).remedy == "restore"
    assert tree_of(root) == damaged | {"extra": b"extra"}
    assert undo(root).outcome == "nothing"


def test_undoing_a_restore_may_be_killed(root: Path) -> None:
    restored(root)
    assert killed_at("plan.undone", lambda: undo(root))
    assert refused(lambda: back_up_now(records_of(root))) == ("HF4606", 42)
    finish(root)
    assert (root / "extra").exists()
    assert not (root / "offsets" / "1").exists()


def test_undo_goes_back_one_act_at_a_time(root: Path) -> None:
    apply(root, some_plan(root))
    first = act_folder(root).name
    apply(root, some_plan(root, note="another one"))
    assert refused(lambda: undo(root, act=first)) == ("HF4609", 40)
    undo(root)
    undo(root, act=first)
    assert_untouched(root)
    assert refused(lambda: undo(root, act="no-such-act")) == ("HF4610", 2)


def test_without_its_backup_an_act_cannot_be_undone(root: Path) -> None:
    done = apply(root, some_plan(root))
    records = records_of(root)
    records.store.writer.remove(f"snapshots/{done.backup}.json")
    before = all_of(root)
    assert refused(lambda: undo(root)) == ("HF4609", 40)
    assert all_of(root) == before


def test_undo_is_refused_where_something_came_after(root: Path) -> None:
    apply(root, some_plan(root))
    newer = applying(root)
    with pytest.raises(HoldfastError, match="the job ran again") as caught:
        newer.undo(None, lambda _: "the job ran again")
    assert (caught.value.code.number, caught.value.exit_status) == ("HF4609", 40)
    assert_applied(root)
