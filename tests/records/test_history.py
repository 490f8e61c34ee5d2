"""The history of runs: newest first, bounded, whole at every moment, damage told."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.errors import StorageError
from holdfast.records.history import KEPT_RUNS, History
from tests.records.drivers import records_in
from tests.records.failing import Failing
from tests.records.runs import some_run


def folder_of(folder: Path) -> Path:
    return folder / ".holdfast" / "orders" / "runs"


def numbers(history: History, newest: int | None = None) -> list[int]:
    return [run.generation for run in history.runs(newest)]


def test_a_checkpoint_without_records_has_no_runs_and_gets_none(tmp_path: Path) -> None:
    history = History(records_in(tmp_path))
    assert (history.runs(), history.damages) == ((), ())
    assert list(tmp_path.iterdir()) == []


def test_runs_come_newest_first(tmp_path: Path) -> None:
    history = History(records_in(tmp_path))
    for number in (3, 11, 7):
        history.write(some_run(number))
    assert numbers(history) == [11, 7, 3]
    assert numbers(history, 2) == [11, 7]
    assert numbers(history, 9) == [11, 7, 3]
    assert History(records_in(tmp_path)).runs()[0] == some_run(11)
    assert sorted(path.name for path in folder_of(tmp_path).iterdir()) == [
        f"{number:010d}.json" for number in (3, 7, 11)
    ]


def test_the_newest_wanted_run_is_looked_for_from_the_newest(tmp_path: Path) -> None:
    history = History(records_in(tmp_path))
    for number in range(1, 12):
        history.write(replace(some_run(number), batches=number % 6))
    for wanted, generation in ((5, 11), (1, 7), (0, 6)):
        found = history.newest_where(lambda run, wanted=wanted: run.batches == wanted)  # type: ignore[misc]
        assert found is not None and found.generation == generation
    assert history.newest_where(lambda run: run.batches == 7) is None


def test_a_run_replaces_what_was_known_of_it(tmp_path: Path) -> None:
    history = History(records_in(tmp_path))
    going = replace(some_run(), ended=None, batches=1)
    history.write(going)
    history.write(replace(going, batches=2))
    assert [run.batches for run in history.runs()] == [2]


def test_a_damaged_record_is_told_and_the_next_one_given(tmp_path: Path) -> None:
    history = History(records_in(tmp_path))
    for number in range(1, 6):
        history.write(some_run(number))
    (folder_of(tmp_path) / "0000000005.json").write_bytes(b"")
    copied = (folder_of(tmp_path) / "0000000001.json").read_bytes()
    (folder_of(tmp_path) / "0000000004.json").write_bytes(copied)
    (folder_of(tmp_path) / "notes.txt").write_text("not ours")
    assert numbers(history, 1) == [3]
    assert [(one.code.number, (one.at or "")[-15:]) for one in history.damages] == [
        ("HF2603", "0000000005.json"),
        ("HF2603", "0000000004.json"),
    ]
    assert numbers(history) == [3, 2, 1]
    history.write(some_run(4))
    history.write(some_run(5))
    assert numbers(history) == [5, 4, 3, 2, 1]
    assert history.damages == ()


def test_a_folder_in_place_of_a_record_is_told(tmp_path: Path) -> None:
    history = History(records_in(tmp_path))
    history.write(some_run(1))
    (folder_of(tmp_path) / "0000000002.json").mkdir()
    assert numbers(history) == [1]
    assert len(history.damages) == 1


def test_old_runs_are_pruned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("holdfast.records.history.KEPT_RUNS", 5)
    assert KEPT_RUNS == 200
    history = History(records_in(tmp_path))
    for number in range(1, 9):
        history.write(some_run(number))
    assert numbers(history) == [8, 7, 6, 5, 4]


def test_records_that_can_not_be_removed_stop_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.records.history.KEPT_RUNS", 1)
    folder = replace(records_in(tmp_path), open_writer=Failing.opener(no_removal=True))
    history = History(folder)
    history.write(some_run(1))
    history.write(some_run(2))
    assert isinstance(history.failure, StorageError)
    assert numbers(history) == [2, 1]


def test_a_reader_never_sees_a_part_while_it_grows(tmp_path: Path) -> None:
    history = History(records_in(tmp_path))
    going = replace(some_run(), ended=None)
    history.write(going)
    done = threading.Event()

    def write() -> None:
        for number in range(200):
            history.write(replace(going, batches=number, settings={"k": "v" * number * 50}))
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    reader = History(records_in(tmp_path))
    seen = 0
    while not done.is_set():
        assert numbers(reader) == [1], reader.damages
        seen += 1
    writer.join()
    assert seen > 1
    assert reader.runs()[0].batches == 199


def test_what_was_delivered_outlives_its_record(tmp_path: Path) -> None:
    """Hundreds of runs that found nothing new carry on which batch came last."""
    history = History(records_in(tmp_path))
    history.write(replace(some_run(1), query_id="q", last_batch=5))
    for generation in range(2, KEPT_RUNS + 3):
        before = history.newest_batch("q")
        idle = replace(some_run(generation), query_id="q", last_batch=None, delivered_before=before)
        history.write(idle)
    assert len(numbers(history)) == KEPT_RUNS and 1 not in numbers(history)
    assert (history.newest_batch("q"), history.newest_batch("another")) == (5, None)
    assert history.newest_generation() == KEPT_RUNS + 2
