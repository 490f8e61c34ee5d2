"""One driver a checkpoint: races, kills, take-overs, damaged files, failing storages."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import LeaseError, StorageError
from holdfast.records.folder import RecordsFolder, part_of_records
from holdfast.records.history import History
from holdfast.records.journal import Act, Journal
from holdfast.records.leases.taking import (
    EXPIRY_SECONDS,
    KEPT_GENERATIONS,
    LeaseState,
    Standing,
    lease_state,
    refuse_held,
    take_lease,
)
from holdfast.records.processes import Process, lives, this_holder
from tests.records.drivers import (
    SPAWN,
    Clock,
    driver,
    elsewhere,
    living_process,
    outcome_of,
    records_in,
    taken,
)
from tests.records.failing import Failing
from tests.records.runs import some_run


def files(folder: Path) -> dict[str, bytes]:
    lease = folder / ".holdfast" / "orders" / "lease"
    return {path.name: path.read_bytes() for path in sorted(lease.iterdir())}


def write(folder: Path, name: str, content: bytes) -> None:
    lease = folder / ".holdfast" / "orders" / "lease"
    lease.mkdir(parents=True, exist_ok=True)
    (lease / name).write_bytes(content)


def refusal(act: Callable[[], object]) -> LeaseError:
    with pytest.raises(LeaseError) as caught:
        act()
    return caught.value


def test_the_first_one_takes_it_and_the_second_is_told_who_holds_it(tmp_path: Path) -> None:
    folder = records_in(tmp_path)
    clock = Clock()
    lease = taken(folder)
    assert (lease.generation, lease.taken_over, lease.lost) == (1, None, False)
    error = refusal(lambda: taken(folder, clock=clock))
    assert (error.code.number, error.exit_status) == ("HF2601", 22)
    for part in ("job orders", str(os.getpid()), this_holder(None).host, lease.claim.since):
        assert part in error.message
    assert clock.slept == 0
    lease.confirm()


def test_what_is_written_is_ascii_json_in_order(tmp_path: Path) -> None:
    holder = replace(this_holder(None), user="Zoë")
    taken(records_in(tmp_path), holder)
    written = files(tmp_path)
    assert set(written) == {"0000000001", "0000000001.beat"}
    for content in written.values():
        document = json.loads(content.decode("ascii"))
        assert content == json.dumps(document, sort_keys=True).encode() + b"\n"
    claim: dict[str, Any] = json.loads(written["0000000001"])
    assert (claim["generation"], claim["job"], claim["holder"]["user"]) == (1, "orders", "Zoë")


def test_a_released_lease_is_free_at_once_for_everybody(tmp_path: Path) -> None:
    folder = records_in(tmp_path)
    first = taken(folder, elsewhere())
    first.release()
    clock = Clock()
    second = taken(folder, clock=clock)
    assert (second.generation, second.taken_over, clock.slept) == (2, None, 0)
    first.beat()
    assert json.loads(files(tmp_path)["0000000001.beat"])["state"] == "released"


def _race(folder: Path, rounds: int, gate: Any, results: Any) -> None:
    outcomes = []
    for number in range(rounds):
        records = records_in(folder, f"job-{number}")
        gate.wait()
        outcomes.append(outcome_of(records))
    results.put(outcomes)
    gate.wait()


def test_of_two_processes_exactly_one_wins_each_race(tmp_path: Path) -> None:
    gate, results = SPAWN.Barrier(2), SPAWN.Queue()
    racers = [SPAWN.Process(target=_race, args=(tmp_path, 50, gate, results)) for _ in range(2)]
    for racer in racers:
        racer.start()
    outcomes = [results.get(timeout=120) for _ in racers]
    for racer in racers:
        racer.join()
    assert [sorted(pair) for pair in zip(*outcomes, strict=True)] == [["1", "HF2601"]] * 50


def test_a_killed_group_is_taken_over_at_once(tmp_path: Path) -> None:
    folder = records_in(tmp_path)
    with driver(tmp_path, jvm=True) as (process, jvm):
        assert outcome_of(folder) == "HF2601"
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        gone(jvm)
        clock = Clock()
        lease = taken(folder, clock=clock)
    assert (lease.generation, clock.slept) == (2, 0)
    assert lease.taken_over is not None
    assert "its processes are gone" in lease.taken_over
    assert f"process {process.pid}" in lease.taken_over


def test_a_jvm_that_outlives_its_python_holds_the_lease(tmp_path: Path) -> None:
    folder = records_in(tmp_path)
    with driver(tmp_path, jvm=True) as (process, jvm):
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        error = refusal(lambda: taken(folder))
        assert f"its Python process is gone, but its JVM {jvm} is still running" in error.message
        os.kill(jvm, signal.SIGKILL)
        gone(jvm)
        assert taken(folder).generation == 2


def gone(number: int) -> None:
    """Wait until a killed process ended."""
    for _ in range(1000):
        if lives(Process(number, None)) is False:
            return
        time.sleep(0.01)
    raise AssertionError("the process does not end")


def test_a_number_given_to_another_process_is_not_the_holder(tmp_path: Path) -> None:
    folder = records_in(tmp_path)
    with living_process() as other:
        holder = replace(this_holder(None), python=Process(other.pid, "17"))
        taken(folder, holder)
        assert taken(folder).generation == 2


def test_where_start_times_are_not_known_beats_decide(tmp_path: Path) -> None:
    folder = records_in(tmp_path)
    with living_process() as other:
        taken(folder, replace(this_holder(None), python=Process(other.pid, None)))
        clock = Clock()
        assert taken(folder, clock=clock).generation == 2
        assert clock.slept >= EXPIRY_SECONDS


def test_another_machine_is_refused_as_soon_as_one_new_beat_is_seen(tmp_path: Path) -> None:
    folder = records_in(tmp_path)
    holder = taken(folder, elsewhere())
    clock = Clock()
    clock.at(12, holder.beat)
    error = refusal(lambda: taken(folder, clock=clock))
    assert error.code.number == "HF2601"
    assert "far-away" in error.message
    assert clock.slept == 12


def test_another_machine_is_taken_over_when_no_beat_comes(tmp_path: Path) -> None:
    folder = records_in(tmp_path)
    old = taken(folder, elsewhere())
    clock = Clock()
    told: list[LeaseState] = []
    lease = take_lease(
        folder,
        job="orders",
        holder=this_holder(None),
        clock=clock,
        sleep=clock.sleep,
        waiting=told.append,
    )
    assert clock.slept == EXPIRY_SECONDS
    assert [state.generation for state in told] == [1]
    assert lease.generation == 2
    assert "no heartbeat for 30 s" in (lease.taken_over or "")
    assert (refusal(old.confirm).code.number, old.lost) == ("HF2602", True)


def test_a_lease_given_back_while_we_watch_is_free(tmp_path: Path) -> None:
    folder = records_in(tmp_path)
    old = taken(folder, elsewhere())
    clock = Clock()
    clock.at(3, old.release)
    lease = taken(folder, clock=clock)
    assert (lease.generation, lease.taken_over, clock.slept) == (2, None, 3)


def test_a_driver_that_takes_over_while_we_watch_is_judged_anew(tmp_path: Path) -> None:
    folder = records_in(tmp_path)
    taken(folder, elsewhere())
    clock = Clock()
    clock.at(20, lambda: taken(folder, elsewhere(), clock=Clock()))
    lease = taken(folder, clock=clock)
    assert (lease.generation, clock.slept) == (3, 20 + EXPIRY_SECONDS)


def test_time_in_which_the_watcher_slept_does_not_count(tmp_path: Path) -> None:
    """Both machines were suspended: the holder gets its chance to beat."""
    folder = records_in(tmp_path)
    holder = taken(folder, elsewhere())
    clock = Clock()

    def suspended() -> None:
        clock.now += 3600

    clock.at(1, suspended)
    clock.at(4, holder.beat)
    assert refusal(lambda: taken(folder, clock=clock)).code.number == "HF2601"


@pytest.mark.parametrize("year", ["1970", "2970"])
def test_clocks_are_never_compared(tmp_path: Path, year: str) -> None:
    """A beat dated in the year 1970 is as fresh as one from the future."""
    folder = records_in(tmp_path)
    taken(folder, elsewhere())
    beat = json.loads(files(tmp_path)["0000000001.beat"])
    beat["written_at"] = f"{year}-01-01T00:00:00.000Z"
    write(tmp_path, "0000000001.beat", json.dumps(beat).encode())
    clock = Clock()
    clock.at(29, lambda: write(tmp_path, "0000000001.beat", b"{}"))
    assert refusal(lambda: taken(folder, clock=clock)).code.number == "HF2601"
    clock = Clock()
    assert taken(folder, clock=clock).generation == 2
    assert clock.slept == EXPIRY_SECONDS


@pytest.mark.parametrize(
    "damage",
    [b"", b"{", b"\x00" * 64, b"[]", b"null", b'{"generation": 1}', b"[" * 100_000, b"\xff\xfe"],
    ids=["empty", "torn", "zeros", "list", "null", "few-fields", "deep", "no-text"],
)
def test_a_damaged_claim_is_held_by_somebody_until_it_stays_silent(
    tmp_path: Path, damage: bytes
) -> None:
    folder = records_in(tmp_path)
    write(tmp_path, "0000000007", damage)
    clock = Clock()
    clock.at(5, lambda: write(tmp_path, "0000000007.beat", b"alive"))
    assert "0000000007 cannot be read" in refusal(lambda: taken(folder, clock=clock)).message
    clock = Clock()
    lease = taken(folder, clock=clock)
    assert (lease.generation, clock.slept) == (8, EXPIRY_SECONDS)
    assert "0000000007" in (lease.taken_over or "")


def test_a_claim_under_another_number_is_damaged(tmp_path: Path) -> None:
    folder = records_in(tmp_path)
    taken(folder).release()
    write(tmp_path, "0000000002", files(tmp_path)["0000000001"])
    state = lease_state(folder)
    assert state is not None
    assert (state.generation, state.state, state.claim) == (2, Standing.UNCLEAR, None)


@pytest.mark.parametrize("damage", [b"", b"{", b'{"state": "released"}'])
def test_a_damaged_beat_is_no_release(tmp_path: Path, damage: bytes) -> None:
    folder = records_in(tmp_path)
    taken(folder, elsewhere())
    write(tmp_path, "0000000001.beat", damage)
    clock = Clock()
    assert taken(folder, clock=clock).generation == 2
    assert clock.slept == EXPIRY_SECONDS


def test_a_beat_without_its_claim_still_counts(tmp_path: Path) -> None:
    """Else two drivers would hold one generation."""
    folder = records_in(tmp_path)
    taken(folder).release()
    owner = taken(folder, elsewhere())
    (tmp_path / ".holdfast/orders/lease/0000000002").unlink()
    clock = Clock()
    clock.at(2, owner.beat)
    assert refusal(lambda: taken(folder, clock=clock)).code.number == "HF2601"
    assert taken(folder, clock=Clock()).generation == 3


def test_generations_go_on_after_the_runs_when_lease_files_are_lost(tmp_path: Path) -> None:
    folder = records_in(tmp_path)
    History(folder).write(some_run(41))
    assert taken(folder).generation == 42


@pytest.mark.parametrize("kept", ["rewinds", "freshstarts", "moves", "journal"])
def test_generations_go_on_after_every_act_when_lease_files_are_lost(
    tmp_path: Path, kept: str
) -> None:
    """A driver that is older than a rewind would be taken for one that came before it."""
    records = records_in(tmp_path)
    folder = tmp_path / ".holdfast/orders"
    (folder / "runs").mkdir(parents=True)
    (folder / "runs/0000000003.json").write_bytes(b"{}")
    if kept == "journal":
        place = part_of_records(records.location, "journal")
        writer = records.open_writer(place, records.settings)
        act = Act("20261119T000000000Z-00000001", "reset", {})
        journal = Journal(records.place("journal"), writer, generation=7)
        journal.begin(act)
        journal.end(act, "applied")
    else:
        (folder / kept).mkdir()
        (folder / kept / "0000000007.json").write_bytes(b"{}")
    assert taken(records).generation == 8


def test_a_claim_of_this_process_that_failed_half_way_blocks_nobody(tmp_path: Path) -> None:
    folder = records_in(tmp_path)
    failing = replace(folder, open_writer=Failing.opener(failing_beats=1))
    with pytest.raises(StorageError) as caught:
        taken(failing)
    assert caught.value.code.number == "HF7015"
    assert taken(folder).generation == 2


def test_whoever_created_an_old_generation_is_not_the_newest(tmp_path: Path) -> None:
    """A taker that slept between its look and its claim finds that others went on."""
    folder = records_in(tmp_path)
    taken(folder).release()

    def others() -> None:
        for _ in range(KEPT_GENERATIONS + 2):
            taken(folder).release()

    late = replace(folder, open_writer=Failing.opener(before_claim=others))
    lease = taken(late)
    assert lease.generation == KEPT_GENERATIONS + 4
    lease.confirm()


def test_old_generations_are_pruned_and_the_newest_never(tmp_path: Path) -> None:
    folder = records_in(tmp_path)
    for _ in range(KEPT_GENERATIONS + 5):
        lease = taken(folder)
        lease.release()
    names = set(files(tmp_path))
    kept = range(lease.generation - KEPT_GENERATIONS + 1, lease.generation + 1)
    assert names == {f"{one:010d}{end}" for one in kept for end in ("", ".beat")}


def test_a_storage_that_does_not_let_remove_stops_nobody(tmp_path: Path) -> None:
    folder = replace(records_in(tmp_path), open_writer=Failing.opener(no_removal=True))
    for _ in range(KEPT_GENERATIONS + 1):
        lease = taken(folder)
        lease.release()
    assert lease.failure is not None
    assert lease.generation == KEPT_GENERATIONS + 1


def test_the_state_is_told_at_one_look(tmp_path: Path) -> None:
    folder = records_in(tmp_path)
    assert lease_state(folder) is None
    assert not (tmp_path / ".holdfast").exists()
    lease = taken(folder)
    assert state_of(folder) == (1, "held", "orders", lease.claim.holder, lease.claim.since)
    lease.release()
    assert state_of(folder)[:2] == (1, "free")
    far = taken(folder, elsewhere())
    assert state_of(folder)[:2] == (2, "unclear")
    far.release()
    with living_process() as process:
        taken(folder, replace(this_holder(None), python=Process(process.pid, "1")))
    assert state_of(folder)[:2] == (3, "abandoned")
    state = lease_state(folder)
    assert state is not None
    assert state.beat_age_seconds is not None


def test_a_peek_refuses_only_a_holder_that_surely_lives(tmp_path: Path) -> None:
    folder = records_in(tmp_path)
    refuse_held(folder)
    assert not (tmp_path / ".holdfast").exists()
    lease = taken(folder)
    assert refusal(lambda: refuse_held(folder)).code.number == "HF2601"
    lease.release()
    refuse_held(folder)
    taken(folder, elsewhere())
    refuse_held(folder)


def state_of(folder: RecordsFolder) -> tuple[object, ...]:
    before = lease_state(folder)
    assert before is not None
    return before.generation, before.state.value, before.job, before.holder, before.since


def test_a_jvm_of_an_earlier_process_with_our_number_holds_it(tmp_path: Path) -> None:
    folder = records_in(tmp_path)
    with living_process() as jvm:
        earlier = replace(this_holder(jvm.pid), python=Process(os.getpid(), "0"))
        taken(folder, earlier)
        assert refusal(lambda: taken(folder)).code.number == "HF2601"
    assert taken(folder).generation == 2
