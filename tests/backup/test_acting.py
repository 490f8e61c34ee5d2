"""A restore holds the lease of what it changes: under a driver it changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from holdfast.answers import Answer
from holdfast.backup import restoring
from holdfast.backup.access import Records, open_store, reopened
from holdfast.backup.commands import SinkLog, back_up
from holdfast.backup.making import make_backup
from holdfast.backup.restoring import RestoreOptions, restore_backup
from holdfast.backup.results import Restoration, RestoreAct
from holdfast.backup.settling import settle_restore
from holdfast.backup.sinklog import SinkLogOptions, write_sink_log
from holdfast.backup.store import Retention
from holdfast.errors import HoldfastError, LeaseError
from holdfast.records.history import History
from holdfast.records.journal import unfinished_act
from holdfast.records.leases.taking import Standing, lease_state, take_lease
from holdfast.records.processes import this_holder
from holdfast.storage.local import LocalReader
from holdfast.storage.options import StorageSettings
from holdfast.storage.writing import Writer
from tests.backup.folders import (
    NOW_MS,
    Tree,
    aged,
    back_up_now,
    make_tree,
    records_of,
    restore_now,
    small,
    tree_of,
)
from tests.records.drivers import Clock, driver
from tests.records.runs import some_run

LATER = NOW_MS + 60_000


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_tree(tmp_path / "orders", small())


@pytest.fixture
def records(root: Path) -> Records:
    return records_of(root)


@pytest.fixture
def backup(records: Records, root: Path) -> str:
    made = back_up_now(records).result.backups[0].id
    (root / "offsets/1").unlink()
    (root / "commits/0").unlink()
    (root / "extra").write_bytes(b"extra")
    aged(root)
    return made


def settle(records: Records, *, finish: bool) -> Answer[Restoration]:
    return settle_restore(
        records, finish=finish, open_store=lambda url: open_store(reopened(url), StorageSettings())
    )


def interrupt(records: Records, backup: str) -> Tree:
    """Stop a restore after its first change; give what it left."""

    def stop(_done: int, _total: int) -> None:
        if records.journal.unfinished() is not None:
            raise KeyboardInterrupt

    wish = RestoreOptions(records.store.snapshot(backup), records.store, records, False)
    with pytest.raises(KeyboardInterrupt):
        restore_backup(wish, now_ms=LATER, confirm=lambda _: True, progress=stop)
    return tree_of(Path(records.location))


@pytest.mark.parametrize("even_if_running", [False, True])
def test_under_a_driver_the_checkpoint_stays_as_it_is(
    records: Records, root: Path, backup: str, tmp_path: Path, even_if_running: bool
) -> None:
    before = tree_of(root)
    with driver(tmp_path) as (process, _), pytest.raises(HoldfastError) as caught:
        restore_now(records, backup, now_ms=LATER, even_if_running=even_if_running)
    assert (caught.value.code.number, caught.value.exit_status) == ("HF2601", 22)
    assert f"process {process.pid}" in caught.value.message
    assert tree_of(root) == before
    assert records.journal.unfinished() is None
    assert len(records.store.snapshot_ids()) == 1
    restore_now(records, backup, now_ms=LATER)
    assert tree_of(root) == tree_of(make_tree(tmp_path / "whole", small()))


@pytest.mark.parametrize("finish", [True, False])
def test_under_a_driver_an_interrupted_restore_is_left_as_it_is(
    records: Records, root: Path, backup: str, tmp_path: Path, finish: bool
) -> None:
    half = interrupt(records, backup)
    with driver(tmp_path), pytest.raises(LeaseError) as caught:
        settle(records, finish=finish)
    assert caught.value.code.number == "HF2601"
    assert tree_of(root) == half
    done = settle(records, finish=finish)
    assert done.result.act is (RestoreAct.FINISHED if finish else RestoreAct.TAKEN_BACK)


def test_a_place_that_is_not_there_yet_has_a_lease_too(
    records: Records, backup: str, tmp_path: Path
) -> None:
    target = records_of(tmp_path / "other" / "orders")
    with driver(tmp_path / "other"), pytest.raises(LeaseError):
        restore_now(records, backup, target=target, now_ms=LATER)
    assert not (tmp_path / "other" / "orders").exists()
    restore_now(records, backup, target=target, now_ms=LATER)
    state = lease_state(target.folder)
    assert state is not None
    assert (state.state, state.act) == (Standing.FREE, "restore")


def test_a_backup_needs_no_lease(records: Records, backup: str, tmp_path: Path) -> None:
    with driver(tmp_path):
        back_up_now(records, now_ms=LATER)
    assert len(records.store.snapshot_ids()) == 2


def taken_over(records: Records) -> Callable[..., bool]:
    """Give a callback in which another driver takes the lease and gives it back, once."""

    def act(*_: object) -> bool:
        state = lease_state(records.folder)
        assert state is not None
        if state.act == "restore":
            claim = Path(records.folder.location.url) / "lease" / f"{state.generation:010d}"
            claim.write_bytes(b"{}")  # as another machine sees a holder that went silent
            clock = Clock()
            take_lease(
                records.folder,
                job="orders",
                holder=this_holder(None),
                clock=clock,
                sleep=clock.sleep,
            ).release()
        return True

    return act


def test_an_act_that_was_late_stops_at_its_next_write_and_is_settled_later(
    records: Records, root: Path, backup: str, tmp_path: Path
) -> None:
    late = taken_over(records)

    def after_first_write(done: int, total: int) -> None:
        if records.journal.unfinished() is not None:
            late()

    wish = RestoreOptions(records.store.snapshot(backup), records.store, records, False)
    with pytest.raises(LeaseError) as caught:
        restore_backup(wish, now_ms=LATER, confirm=lambda _: True, progress=after_first_write)
    assert (caught.value.code.number, caught.value.exit_status) == ("HF2610", 22)
    assert records.journal.unfinished() is not None
    assert (root / "offsets/1").exists() and not (root / "commits/0").exists()
    assert (root / "extra").exists()
    assert records.store.reader.names("busy") == frozenset()
    assert settle(records, finish=True).result.act is RestoreAct.FINISHED
    assert tree_of(root) == tree_of(make_tree(tmp_path / "whole", small()))


def test_an_act_that_was_late_before_it_began_leaves_nothing(
    records: Records, root: Path, backup: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, late = tree_of(root), taken_over(records)

    def make_late(*given: Any, **options: Any) -> Any:
        late()
        return make_backup(*given, **options)

    monkeypatch.setattr(restoring, "make_backup", make_late)
    wish = RestoreOptions(records.store.snapshot(backup), records.store, records, False)
    with pytest.raises(LeaseError) as caught:
        restore_backup(wish, now_ms=LATER, confirm=None)
    assert caught.value.code.number == "HF2610"
    assert tree_of(root) == before
    assert records.journal.unfinished() is None
    assert records.store.snapshot_ids() == [backup]


def test_somebody_who_is_asked_holds_no_lease(records: Records, root: Path, backup: str) -> None:
    """A question may wait for hours; a job may run meanwhile."""
    held: list[object] = []

    def ask(_sentence: str) -> bool:
        held.append(lease_state(records.folder))
        return True

    wish = RestoreOptions(records.store.snapshot(backup), records.store, records, False)
    done = restore_backup(wish, now_ms=LATER, confirm=ask)
    assert (done.result.act, held) == (RestoreAct.RESTORED, [None])


def test_what_changed_while_somebody_was_asked_is_not_overwritten(
    records: Records, root: Path, backup: str
) -> None:
    def deliver(_sentence: str) -> bool:
        (root / "commits/0").write_bytes(small()["commits/0"] or b"")
        aged(root)
        return True

    wish = RestoreOptions(records.store.snapshot(backup), records.store, records, False)
    with pytest.raises(HoldfastError) as caught:
        restore_backup(wish, now_ms=LATER, confirm=deliver)
    assert caught.value.code.number == "HF4505"
    assert "between the question and the answer" in caught.value.message
    assert not (root / "offsets/1").exists() and (root / "extra").exists()
    assert records.journal.unfinished() is None


def test_nobody_is_asked_under_a_driver(records: Records, backup: str, tmp_path: Path) -> None:
    def ask(_sentence: str) -> bool:
        raise AssertionError("asked in vain")

    wish = RestoreOptions(records.store.snapshot(backup), records.store, records, False)
    with driver(tmp_path), pytest.raises(LeaseError) as caught:
        restore_backup(wish, now_ms=LATER, confirm=ask)
    assert caught.value.code.number == "HF2601"
    assert any("--even-if-running does not override" in step for step in caught.value.next_steps)


class LateWriter:
    """Writes to a journal; between the look at the lease and the first intent, others act."""

    def __init__(self, writer: Writer, meanwhile: Callable[[], object]) -> None:
        self._writer = writer
        self._meanwhile: Callable[[], object] | None = meanwhile

    def __getattr__(self, name: str) -> object:
        return getattr(self._writer, name)

    def create(self, path: str, chunks: Iterable[bytes]) -> bool:
        content = b"".join(chunks)
        meanwhile, self._meanwhile = self._meanwhile, None
        if meanwhile is not None:
            meanwhile()
        return self._writer.create(path, (content,))


def late_by(records: Records, meanwhile: Callable[[], object]) -> Records:
    """Return records whose next act writes its intent late."""
    late: Any = LateWriter(records.journal.writer, meanwhile)
    return replace(records, journal=replace(records.journal, writer=late))


@pytest.mark.parametrize("finish", [True, False])
def test_an_intent_that_came_late_is_void_once_a_run_went_on(
    records: Records, root: Path, backup: str, finish: bool
) -> None:
    def run_goes_on() -> None:
        taken_over(records)()
        state = lease_state(records.folder)
        assert state is not None
        History(records.folder).write(some_run(state.generation))
        (root / "offsets/1").write_bytes(b"planned by the run")

    wish = RestoreOptions(records.store.snapshot(backup), records.store, records, False)
    with pytest.raises(LeaseError) as caught:
        restore_backup(
            replace(wish, target=late_by(records, run_goes_on)),
            now_ms=LATER,
            confirm=lambda _: True,
        )
    assert caught.value.code.number == "HF2610"
    delivered = tree_of(root)
    journal, runs = records.folder.place("journal"), records.folder.reader("runs")
    assert unfinished_act(journal) is not None
    assert unfinished_act(journal, runs) is None
    back_up_now(records, now_ms=LATER)
    done = settle(records, finish=finish)
    assert done.result.act is RestoreAct.NOTHING
    assert [one.code for one in done.findings] == ["HF4523"]
    assert tree_of(root) == delivered
    assert unfinished_act(journal) is None
    assert settle(records, finish=finish).findings == ()


def test_an_intent_that_came_late_is_void_once_another_act_was_done(
    records: Records, root: Path, backup: str, tmp_path: Path
) -> None:
    def another_restore() -> None:
        taken_over(records)()
        for mark in records.store.reader.names("busy"):
            (Path(records.folder.location.url) / "backups/busy" / mark).unlink()
        restore_now(records, backup, now_ms=LATER + 1)

    wish = RestoreOptions(records.store.snapshot(backup), records.store, records, False)
    with pytest.raises(LeaseError):
        restore_backup(
            replace(wish, target=late_by(records, another_restore)),
            now_ms=LATER,
            confirm=lambda _: True,
        )
    assert records.journal.unfinished() is None
    assert settle(records, finish=False).result.act is RestoreAct.NOTHING
    assert tree_of(root) == tree_of(make_tree(tmp_path / "whole", small()))


def test_an_act_that_changed_something_is_not_void(
    records: Records, root: Path, backup: str
) -> None:
    interrupt(records, backup)
    act = records.journal.unfinished()
    assert act is not None and act.generation == 1
    # What looked at the journal before the act began proves nothing.
    History(records.folder).write(some_run(1))
    assert records.journal.unfinished() == act
    assert records.journal.void() == ()


def test_the_sinks_log_is_not_written_under_a_job_that_writes_there(
    records: Records, backup: str, tmp_path: Path
) -> None:
    sink = make_tree(tmp_path / "gold", {"_spark_metadata/0": b"v1"})
    log = SinkLog(str(sink), {"_spark_metadata": LocalReader(str(sink / "_spark_metadata"))})
    made = back_up(records, now_ms=LATER, retention=Retention(), sink_log=log)
    snapshot = records.store.snapshot(made.result.backups[0].id)
    target = records_of(tmp_path / "copy")
    other = records_of(tmp_path / "elsewhere" / "orders")
    wish = SinkLogOptions(snapshot, records.store, target, (), (other,))
    with driver(tmp_path / "elsewhere"), pytest.raises(LeaseError) as caught:
        write_sink_log(wish, now_ms=LATER, confirm=lambda _: True)
    assert caught.value.code.number == "HF2601"
    assert not (tmp_path / "copy").exists()
    write_sink_log(wish, now_ms=LATER, confirm=lambda _: True)
    assert (tmp_path / "copy/_spark_metadata/0").read_bytes() == b"v1"
