"""Recorded queries: one file each, never replaced, few, and in the order of batches."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import StorageError
from holdfast.records.leases.state import look_at_lease
from holdfast.records.recordings import KEPT_RECORDINGS, Origin, QueryPart, Recordings
from holdfast.records.run import PlanFacts
from holdfast.redaction import remember_secret
from tests.records.drivers import records_in, taken
from tests.records.recordings import OTHER_ID, some_recording


def folder_of(folder: Path) -> Path:
    return folder / ".holdfast" / "orders" / "recordings"


def read(folder: Path) -> list[object]:
    return [one.recording for one in Recordings(records_in(folder)).newest_first()]


def test_a_recording_comes_back_as_it_was_written(tmp_path: Path) -> None:
    recording = some_recording(
        missing=(QueryPart.KEYS.value,), notes=("batches 0 to 3",), job="orders"
    )
    kept = Recordings(records_in(tmp_path)).write(recording)
    assert kept.is_new
    assert read(tmp_path) == [recording]
    assert [one.name for one in folder_of(tmp_path).iterdir()] == [kept.name]


def test_batches_order_recordings_whatever_clocks_said(tmp_path: Path) -> None:
    """A run of Holdfast in between counts before both."""
    recordings = Recordings(records_in(tmp_path))
    early = some_recording(50, "count(1)", passed=3)
    late = some_recording(10, "max(amount)", passed=9)
    first = some_recording(40, "min(amount)", passed=None)
    after_run = some_recording(1, "avg(amount)", passed=9, after=2)
    for one in (after_run, early, late, first):
        recordings.write(one)
    assert read(tmp_path) == [after_run, late, early, first]


def test_what_the_newest_recording_says_is_not_written_again(tmp_path: Path) -> None:
    """A program that is started again each minute must not push the others out."""
    recordings = Recordings(records_in(tmp_path))
    recordings.write(some_recording(1))
    again = recordings.write(some_recording(2, passed=7))
    assert (again.is_new, again.recording.at) == (False, some_recording(1).at)
    changed = recordings.write(some_recording(3, "max(amount)", passed=7))
    back = recordings.write(some_recording(4, passed=8))
    assert changed.is_new
    assert back.is_new
    assert len(read(tmp_path)) == 3


@pytest.mark.parametrize(
    "change",
    [
        {"query_id": OTHER_ID},
        {"query_id": None},
        {"origin": Origin.JOB},
        {"after": 1},
        {"destination": "delta s3://lake/gold"},
        {"program": "/jobs/other.py"},
    ],
    ids=str,
)
def test_another_query_id_origin_or_place_is_another_recording(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    recordings = Recordings(records_in(tmp_path))
    recordings.write(some_recording(1))
    assert recordings.write(some_recording(2, **change)).is_new


def test_changed_code_is_another_recording(tmp_path: Path) -> None:
    """Something in it may not be seen in the plan."""
    recordings = Recordings(records_in(tmp_path))
    recordings.write(some_recording(1))
    other = some_recording(2)
    assert other.plan.query is not None
    query = replace(other.plan.query, code={"totals.py": "ab"})
    assert recordings.write(replace(other, plan=PlanFacts(query=query))).is_new


def test_the_newest_are_kept_and_the_one_that_counts(tmp_path: Path) -> None:
    """Versions that failed before a commit must not push out the one that made the state."""
    recordings = Recordings(records_in(tmp_path))
    made = some_recording(0, "sum(amount)", passed=2)
    recordings.write(some_recording(0, "count(1)", passed=0))
    recordings.write(made)
    failed = [some_recording(one, f"max(a{one})", passed=9) for one in range(1, 30)]
    for one in failed:
        recordings.write(one)
    found = read(tmp_path)
    assert found[:-1] == failed[::-1][:KEPT_RECORDINGS]
    assert found[-1] == made


def test_two_processes_may_write_at_once(tmp_path: Path) -> None:
    def write(number: int) -> str:
        kept = some_recording(1, f"max(a{number})")
        return Recordings(records_in(tmp_path)).write(kept).name

    with ThreadPoolExecutor(8) as pool:
        names = list(pool.map(write, range(16)))
    assert len(set(names)) == 16
    assert len(read(tmp_path)) == 16


def test_neither_the_lease_nor_a_generation_is_touched(tmp_path: Path) -> None:
    folder = records_in(tmp_path)
    lease = taken(folder)
    before = look_at_lease(folder.reader("lease"))
    Recordings(folder).write(some_recording())
    assert before is not None
    assert look_at_lease(folder.reader("lease")) == before
    lease.release()


def test_secrets_are_redacted_and_facts_stay_as_they_are(tmp_path: Path) -> None:
    remember_secret("hunter2hunter2")
    recording = some_recording(destination="postgres with hunter2hunter2")
    secret = replace(recording.plan, text="url hunter2hunter2")
    kept = Recordings(records_in(tmp_path)).write(replace(recording, plan=secret))
    content = (folder_of(tmp_path) / kept.name).read_text()
    assert "hunter2" not in content
    (found,) = Recordings(records_in(tmp_path)).newest_first()
    assert found.recording.plan.query == recording.plan.query


def test_a_damaged_recording_is_reported_and_the_others_are_read(tmp_path: Path) -> None:
    recordings = Recordings(records_in(tmp_path))
    first = recordings.write(some_recording(1))
    second = recordings.write(some_recording(2, "max(amount)"))
    file = folder_of(tmp_path) / second.name
    file.write_bytes(file.read_bytes()[:50])
    assert [one.name for one in recordings.newest_first()] == [first.name]
    (damage,) = recordings.damages
    assert damage.code.number == "HF2603"
    assert second.name in str(damage.at)


def test_a_recording_under_a_foreign_name_is_reported(tmp_path: Path) -> None:
    recordings = Recordings(records_in(tmp_path))
    kept = recordings.write(some_recording(1))
    file = folder_of(tmp_path) / kept.name
    file.rename(file.with_name(file.name.replace("100001", "100002")))
    assert recordings.newest_first() == ()
    assert [one.code.number for one in recordings.damages] == ["HF2603"]


def test_times_of_files_are_asked_for_where_a_query_id_is_missing(tmp_path: Path) -> None:
    recordings = Recordings(records_in(tmp_path))
    kept = recordings.write(some_recording(1, query_id=None, passed=None))
    os.utime(folder_of(tmp_path) / kept.name, (1_700_000_000, 1_700_000_000))
    (found,) = recordings.newest_first()
    assert found.written_ms == 1_700_000_000_000


def test_a_storage_that_refuses_raises(tmp_path: Path) -> None:
    (tmp_path / ".holdfast").write_text("a file, no folder")
    with pytest.raises(StorageError):
        Recordings(records_in(tmp_path)).write(some_recording())


@pytest.mark.parametrize(
    ("ran", "passed", "now", "made"),
    [
        (False, None, None, False),
        (False, None, 0, True),
        (False, 4, 4, False),
        (False, 4, 5, True),
        (True, 4, 4, True),
        (True, None, None, False),
    ],
)
def test_a_batch_after_the_recording_may_be_its_own(
    ran: bool, passed: int | None, now: int | None, made: bool
) -> None:
    assert some_recording(ran=ran, passed=passed).has_made(now) is made


def test_a_part_of_a_newer_release_is_left_out() -> None:
    recording = some_recording(missing=("source options", "something new"))
    assert recording.parts_missing == {QueryPart.SOURCE_OPTIONS}
