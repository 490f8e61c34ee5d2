"""An act holds the lease while it changes a checkpoint, and stops when it lost it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from holdfast.backup.access import open_records
from holdfast.errors import LeaseError
from holdfast.records.folder import RecordsFolder
from holdfast.records.history import History
from holdfast.records.journal import Act, Journal, unfinished_act
from holdfast.records.leases.acting import Acting, acting
from holdfast.records.leases.lease import EXPIRY_SECONDS, Lease
from holdfast.records.leases.taking import LeaseState, Standing, lease_state, take_lease
from holdfast.records.processes import this_holder
from holdfast.storage.localwriter import LocalWriter
from holdfast.storage.location import parse_location
from holdfast.storage.options import StorageSettings
from tests.records.drivers import Clock, driver, elsewhere, outcome_of, records_in, taken
from tests.records.runs import some_run


def state_of(folder: RecordsFolder) -> LeaseState:
    state = lease_state(folder)
    assert state is not None
    return state


def no_beats(_lease: Lease) -> None:
    """Leave beating to the test's clock."""


def take_over(folder: RecordsFolder, act: Acting) -> Lease:
    """Let another machine's driver take the lease, as if the act had been silent for too long."""
    clock = Clock()
    while True:
        try:
            return take_lease(
                folder, job="orders", holder=elsewhere(), clock=clock, sleep=clock.sleep
            )
        except LeaseError:
            # To this process the act is alive; to another machine it would just be silent.
            (Path(folder.location.url) / "lease" / f"{act.generation:010d}").write_bytes(b"{}")


def test_the_act_is_named_while_it_holds_the_lease_and_gives_it_back(tmp_path: Path) -> None:
    folder = records_in(tmp_path / "not" / "there" / "yet")
    with acting(folder, "restore") as act:
        state = state_of(folder)
        assert (state.state, state.act, state.job) == (Standing.HELD, "restore", "orders")
        assert not state.runs
        with pytest.raises(LeaseError) as caught:
            taken(folder)
        act.confirm()
    assert (caught.value.code.number, caught.value.exit_status) == ("HF2601", 22)
    assert f"in use: restore by {this_holder(None).words}" in caught.value.message
    assert "wait until it is done, and try again" in caught.value.next_steps
    assert state_of(folder).state is Standing.FREE
    assert taken(folder).generation == 2


def test_an_act_that_fails_gives_it_back_too(tmp_path: Path) -> None:
    folder = records_in(tmp_path)
    with pytest.raises(ZeroDivisionError), acting(folder, "restore"):
        raise ZeroDivisionError
    assert state_of(folder).state is Standing.FREE


def test_an_act_is_refused_while_a_driver_runs(tmp_path: Path) -> None:
    folder = records_in(tmp_path)
    with (
        driver(tmp_path) as (process, _),
        pytest.raises(LeaseError) as caught,
        acting(folder, "restore"),
    ):
        raise AssertionError("it was let in")
    assert (caught.value.code.number, caught.value.exit_status) == ("HF2601", 22)
    assert f"process {process.pid}" in caught.value.message
    assert "--even-if-running does not override a lease" in caught.value.next_steps


def test_a_driver_on_another_machine_is_watched_before_the_act_begins(tmp_path: Path) -> None:
    folder = records_in(tmp_path)
    taken(folder, elsewhere())
    clock, told = Clock(), list[str]()
    with acting(
        folder,
        "restore",
        clock=clock,
        sleep=clock.sleep,
        waiting=lambda state: told.append(state.words),
        beating=no_beats,
    ) as act:
        assert act.generation == 2
    assert clock.slept >= EXPIRY_SECONDS
    assert len(told) == 1 and "far-away" in told[0]


def test_an_act_goes_on_after_the_runs_on_record(tmp_path: Path) -> None:
    folder = records_in(tmp_path)
    History(folder).write(some_run(generation=7))
    with acting(folder, "restore") as act:
        assert act.generation == 8
    assert [run.generation for run in History(folder).runs()] == [7]


def test_who_lost_the_lease_changes_nothing_more(tmp_path: Path) -> None:
    folder = records_in(tmp_path)
    place = tmp_path / "orders"
    place.mkdir()
    (place / "there").write_bytes(b"old")
    (place / "empty").mkdir()
    with acting(folder, "restore") as act:
        writer = act.guard(LocalWriter(str(place)))
        writer.replace("first", (b"1",))
        take_over(folder, act)
        for change in (
            lambda: writer.create("second", (b"2",)),
            lambda: writer.replace("there", (b"new",)),
            lambda: writer.remove("there"),
            lambda: writer.move("there", "elsewhere"),
            lambda: writer.move_folder("empty", "full"),
            lambda: writer.make_folder("made"),
            lambda: writer.remove_folder("empty"),
            act.confirm,
        ):
            with pytest.raises(LeaseError) as caught:
                change()
            assert (caught.value.code.number, caught.value.exit_status) == ("HF2610", 22)
            assert "the restore lost the lease" in caught.value.message
        writer.settle()
    assert sorted(path.name for path in place.iterdir()) == ["empty", "first", "there"]
    assert (place / "there").read_bytes() == b"old"


def test_silence_alone_is_noticed(tmp_path: Path) -> None:
    clock = Clock()
    folder = records_in(tmp_path)
    with acting(folder, "restore", clock=clock, sleep=clock.sleep, beating=no_beats) as act:
        clock.sleep(EXPIRY_SECONDS - 6)
        act.confirm()
        clock.sleep(2)
        with pytest.raises(LeaseError) as caught:
            act.confirm()
    assert caught.value.code.number == "HF2610"


def test_an_act_of_a_process_that_is_gone_blocks_nobody(tmp_path: Path) -> None:
    folder = records_in(tmp_path)
    child = os.fork()
    if child == 0:
        with acting(folder, "restore"):
            os._exit(0)
    os.waitpid(child, 0)
    assert state_of(folder).state is Standing.ABANDONED
    assert outcome_of(folder) == "2"


def test_an_act_gets_a_newer_generation_than_the_acts_of_the_journal(tmp_path: Path) -> None:
    """Somebody deleted the files of the lease: an older one would make the act look void."""
    records = open_records(parse_location(str(tmp_path / "orders")), StorageSettings())

    def begun(number: int) -> Journal:
        with records.acting("restore") as act:
            journal = records.under(act).journal
            journal.begin(Act(f"2026111{number}T000000000Z-000{number}", "restore", {}))
            return journal

    for number in range(3):
        begun(number).end(Act(f"2026111{number}T000000000Z-000{number}", "restore", {}), "done")
    shutil.rmtree(Path(records.folder.location.url) / "lease")
    begun(3)
    interrupted = unfinished_act(records.journal.reader, records.folder.reader("runs"))
    assert interrupted is not None and interrupted.generation == 4
    assert state_of(records.folder).generation == 4
    assert state_of(records.folder).state is Standing.FREE
    assert taken(records.folder).generation == 5
