"""A held lease: beats, a storage that fails, a driver that slept, giving it back."""

from __future__ import annotations

import json
import os
import shutil
import signal
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.errors import LeaseError, StorageError
from holdfast.records.folder import RecordsFolder
from holdfast.records.leases.taking import EXPIRY_SECONDS, Lease, Standing, lease_state
from tests.records.drivers import Clock, driver, elsewhere, records_in, taken
from tests.records.failing import Failing


def beat_of(folder: Path, generation: int = 1) -> dict[str, object]:
    path = folder / ".holdfast" / "orders" / "lease" / f"{generation:010d}.beat"
    document: dict[str, object] = json.loads(path.read_bytes())
    return document


def loss(lease: Lease) -> LeaseError:
    with pytest.raises(LeaseError) as caught:
        lease.confirm()
    assert lease.lost
    assert (caught.value.code.number, caught.value.exit_status) == ("HF2602", 22)
    return caught.value


def failing_lease(folder: Path) -> tuple[Lease, Clock, Failing]:
    made: list[Failing] = []
    clock = Clock()
    records = replace(records_in(folder), open_writer=Failing.opener(made))
    return taken(records, clock=clock), clock, made[0]


def test_every_beat_differs_from_the_last(tmp_path: Path) -> None:
    lease = taken(records_in(tmp_path))
    counters = [beat_of(tmp_path)["counter"]]
    for _ in range(3):
        lease.beat()
        counters.append(beat_of(tmp_path)["counter"])
    assert counters == [1, 2, 3, 4]
    assert beat_of(tmp_path)["state"] == "held"


def test_beats_come_by_themselves_and_end_with_the_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.records.leases.lease.BEAT_SECONDS", 0.01)
    lease = taken(records_in(tmp_path))
    lease.start_beating()
    lease.start_beating()
    named = [one for one in threading.enumerate() if one.name == "holdfast-lease-1"]
    assert len(named) == 1
    pause = threading.Event()
    while beat_of(tmp_path)["counter"] == 1:
        pause.wait(0.01)
    lease.release()
    named[0].join(timeout=60)
    assert not named[0].is_alive()
    assert beat_of(tmp_path)["state"] == "released"


def test_a_failed_beat_is_tried_again(tmp_path: Path) -> None:
    lease, clock, writer = failing_lease(tmp_path)
    writer.failing_beats = 2
    for _ in range(2):
        clock.sleep(5)
        lease.beat()
        assert lease.failure is not None
        lease.confirm()
    clock.sleep(5)
    lease.beat()
    clock.sleep(20)
    lease.confirm()
    assert not lease.lost


def test_an_owner_that_can_not_beat_stops_before_others_may_take_over(tmp_path: Path) -> None:
    lease, clock, writer = failing_lease(tmp_path)
    writer.failing_beats = 100
    while not lease.lost:
        lease.confirm()
        clock.sleep(1)
        lease.beat()
    assert clock.slept < EXPIRY_SECONDS
    assert "no heartbeat could be written for 26 s: ordered" in loss(lease).message
    writer.failing_beats = 0
    lease.beat()
    assert "no heartbeat could be written" in loss(lease).message


def test_whoever_was_taken_over_finds_out_at_the_next_beat(tmp_path: Path) -> None:
    folder = records_in(tmp_path)
    old = taken(folder, elsewhere())
    taken(folder, elsewhere(), clock=Clock())
    before = old.lost
    old.beat()
    assert (before, old.lost) == (False, True)
    assert "generation 2 took over: job orders" in loss(old).message
    old.release()
    assert beat_of(tmp_path)["state"] == "held"


def test_whoever_was_taken_over_finds_out_before_the_next_batch(tmp_path: Path) -> None:
    folder = records_in(tmp_path)
    old = taken(folder, elsewhere())
    old.confirm()
    new = taken(folder, elsewhere(), clock=Clock())
    assert "generation 2 took over" in loss(old).message
    new.confirm()


def test_a_successor_that_can_not_be_read_is_one_all_the_same(tmp_path: Path) -> None:
    lease = taken(records_in(tmp_path))
    (tmp_path / ".holdfast/orders/lease/0000000002").write_bytes(b"")
    assert "generation 2 took over" in loss(lease).message


def test_whose_generation_was_claimed_again_stops(tmp_path: Path) -> None:
    """The folder was deleted under it, so that its successors counted from 1 again."""
    lease = taken(records_in(tmp_path))
    shutil.rmtree(tmp_path / ".holdfast")
    successor = taken(records_in(tmp_path), elsewhere())
    assert lease.generation == successor.generation
    assert "generation 1 was claimed again: job orders" in loss(lease).message
    before = beat_of(tmp_path)
    lease.release()
    assert beat_of(tmp_path) == before
    successor.confirm()


def test_a_late_driver_does_not_release_the_claim_of_its_successor(tmp_path: Path) -> None:
    lease = taken(records_in(tmp_path))
    shutil.rmtree(tmp_path / ".holdfast")
    successor = taken(records_in(tmp_path), elsewhere())
    lease.release()
    assert beat_of(tmp_path)["state"] == "held"
    successor.confirm()


@pytest.mark.parametrize("content", [None, b"{"])
def test_whose_claim_is_gone_or_damaged_stops(tmp_path: Path, content: bytes | None) -> None:
    """Its own beat alone shows nothing."""
    lease = taken(records_in(tmp_path))
    claim = tmp_path / ".holdfast" / "orders" / "lease" / f"{1:010d}"
    claim.unlink()
    if content is not None:
        claim.write_bytes(content)
    lease.beat()
    assert "the claim of generation 1" in loss(lease).message


def test_whose_files_are_gone_stops(tmp_path: Path) -> None:
    lease = taken(records_in(tmp_path))
    for path in (tmp_path / ".holdfast/orders/lease").iterdir():
        path.unlink()
    assert "the files of generation 1 are missing" in loss(lease).message


def test_a_release_that_fails_is_told_and_blocks_nobody_of_this_process(tmp_path: Path) -> None:
    lease, _, writer = failing_lease(tmp_path)
    writer.failing_beats = 1
    lease.release()
    assert lease.failure is not None
    assert taken(records_in(tmp_path)).generation == 2


def test_a_driver_that_was_stopped_for_long_finds_itself_taken_over(tmp_path: Path) -> None:
    """It is seen as living here, and as silent from another machine."""
    folder: RecordsFolder = records_in(tmp_path)
    with driver(tmp_path) as (process, _):
        os.kill(process.pid, signal.SIGSTOP)
        _as_from_another_machine(tmp_path)
        lease = taken(folder, clock=Clock())
        assert lease.generation == 2
        os.kill(process.pid, signal.SIGCONT)
        assert process.stdout is not None
        assert process.stdout.readline() == "HF2602\n"
    lease.confirm()


def _as_from_another_machine(folder: Path) -> None:
    path = folder / ".holdfast/orders/lease/0000000001"
    claim = json.loads(path.read_bytes())
    claim["holder"]["machine"] = "another"
    path.write_bytes(json.dumps(claim).encode())


def test_a_beat_that_hangs_does_not_hold_up_the_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.records.leases.lease._LONGEST_BEAT", 0.01)
    lease, _, writer = failing_lease(tmp_path)
    hanging, ending = threading.Event(), threading.Event()

    def hang() -> None:
        hanging.set()
        ending.wait()

    writer.before_beat = hang
    beating = threading.Thread(target=lease.beat)
    beating.start()
    hanging.wait()
    lease.release()
    ending.set()
    beating.join()
    assert lease.failure is not None
    assert lease.failure.code.number == "HF7007"
    assert taken(records_in(tmp_path)).generation == 2


def test_a_raised_lease_is_the_same_holder_under_a_greater_generation(tmp_path: Path) -> None:
    records = records_in(tmp_path)
    lease = taken(records)
    raised = lease.raised(7)
    raised.confirm()
    assert (raised.generation, raised.claim.holder) == (8, lease.claim.holder)
    lease.beat()
    assert beat_of(tmp_path)["counter"] == 1, "the former generation beats no more"
    state = lease_state(records)
    assert state is not None and (state.generation, state.state) == (8, Standing.HELD)
    loss(lease)
    raised.release()
    assert taken(records).generation == 9


def test_a_driver_that_was_taken_over_can_not_raise_its_lease(tmp_path: Path) -> None:
    records = records_in(tmp_path)
    late = taken(records)
    _as_from_another_machine(tmp_path)
    successor = taken(records)
    with pytest.raises(LeaseError) as caught:
        late.raised(7)
    assert caught.value.code.number == "HF2602"
    successor.confirm()


@pytest.mark.parametrize("above", [1, 7])
def test_whoever_is_taken_over_while_raising_gives_up(tmp_path: Path, above: int) -> None:
    """The other one claims between the look and the claim; both see each other."""
    records = records_in(tmp_path)
    others: list[Lease] = []
    late = taken(records)

    def take_over() -> None:
        _as_from_another_machine(tmp_path)
        others.append(taken(records))

    late.confirm = take_over  # type: ignore[method-assign]
    with pytest.raises(LeaseError) as caught:
        late.raised(above)
    assert caught.value.code.number == "HF2602"
    (other,) = others
    state = lease_state(records)
    assert state is not None
    if above == 1:
        other.confirm()
    else:
        assert state.state is Standing.FREE, "nobody waits for the claim that was given up"
        loss(other)


def test_a_raise_that_fails_leaves_nobody_waiting(tmp_path: Path) -> None:
    lease, _, writer = failing_lease(tmp_path)
    writer.failing_beats = 1
    with pytest.raises(StorageError):
        lease.raised(7)
    assert taken(records_in(tmp_path)).generation == 9
