"""Which run or recording a start is compared with: the newest of the query that made a batch."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.checkpoint.reading import read_picture
from holdfast.diagnosis.inspection.runs.lastquery import BEGINS_WITHIN_MS, last_query
from holdfast.errors import CheckpointError
from holdfast.records.history import History
from holdfast.records.recordings import KeptRecording, Recording, Recordings
from holdfast.records.run import PlanFacts, Run
from holdfast.storage.location import parse_location
from holdfast.storage.opening import open_reader
from holdfast.storage.options import StorageSettings
from tests.records.drivers import records_in
from tests.records.recordings import OTHER_ID, QUERY_ID, facts_keeping, some_recording
from tests.records.runs import some_run

OFFSETS = 'v1\n{"batchWatermarkMs":0,"batchTimestampMs":1,"conf":{}}\n{"logOffset":0}'
BEGUN = 1_700_000_000


class Checkpoint:
    """A small checkpoint in a folder, with its records."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.place = folder / "orders"
        self.records = records_in(folder)

    def begin(self, query_id: str = QUERY_ID, at: int = BEGUN) -> None:
        (self.place / "offsets").mkdir(parents=True)
        (self.place / "commits").mkdir()
        (self.place / "metadata").write_text(json.dumps({"id": query_id}))
        os.utime(self.place / "metadata", (at, at))

    def plan(self, batch_id: int) -> None:
        (self.place / "offsets" / str(batch_id)).write_text(OFFSETS)

    def commit(self, *batch_ids: int) -> None:
        for one in batch_ids:
            self.plan(one)
            (self.place / "commits" / str(one)).write_text('v1\n{"nextBatchWatermarkMs":0}')

    def delete(self) -> None:
        shutil.rmtree(self.place)

    def record(self, recording: Recording, written: int | None = None) -> KeptRecording:
        kept = Recordings(self.records).write(recording)
        if written is not None:
            file = self.folder / ".holdfast/orders/recordings" / kept.name
            os.utime(file, (written, written))
        return kept

    def run(self, generation: int, kept: str, **changes: object) -> Run:
        plan = PlanFacts(query=facts_keeping(kept))
        run = replace(some_run(generation), query_id=QUERY_ID, plan=plan, **changes)  # type: ignore[arg-type]
        History(self.records).write(run)
        return run

    def last(self) -> Run | Recording | None:
        location = parse_location(str(self.place))
        picture = read_picture(open_reader(location, StorageSettings()))
        return last_query(self.records, picture)


@pytest.fixture
def checkpoint(tmp_path: Path) -> Checkpoint:
    return Checkpoint(tmp_path)


def test_a_recording_counts_once_a_batch_was_committed_after_it(checkpoint: Checkpoint) -> None:
    checkpoint.begin()
    checkpoint.commit(*range(5))
    recording = some_recording()
    checkpoint.record(recording)
    assert checkpoint.last() is None
    checkpoint.plan(5)
    assert checkpoint.last() is None
    checkpoint.commit(5)
    assert checkpoint.last() == recording


def test_code_that_failed_before_a_commit_is_passed_over(checkpoint: Checkpoint) -> None:
    """The state is what the version before made."""
    checkpoint.begin()
    checkpoint.commit(*range(9))
    made = some_recording(1, "sum(amount)", passed=4)
    failed = some_recording(2, "max(amount)", passed=8)
    checkpoint.record(made)
    checkpoint.record(failed)
    assert checkpoint.last() == made
    checkpoint.commit(9)
    assert checkpoint.last() == failed


def test_what_describes_batches_counts_at_once(checkpoint: Checkpoint) -> None:
    checkpoint.begin()
    checkpoint.commit(*range(5))
    stated = some_recording(ran=True)
    checkpoint.record(stated)
    assert checkpoint.last() == stated


def test_the_newest_counts_where_no_batch_is_done(checkpoint: Checkpoint) -> None:
    checkpoint.begin()
    checkpoint.plan(0)
    checkpoint.record(some_recording(1, "sum(amount)", passed=None))
    newest = some_recording(2, "max(amount)", passed=None)
    checkpoint.record(newest)
    assert checkpoint.last() == newest


def test_another_query_s_recording_does_not_count(checkpoint: Checkpoint) -> None:
    checkpoint.begin()
    checkpoint.commit(*range(9))
    checkpoint.record(some_recording(query_id=OTHER_ID))
    assert checkpoint.last() is None


def test_the_newer_of_run_and_recording_counts(checkpoint: Checkpoint) -> None:
    checkpoint.begin()
    checkpoint.commit(*range(7))
    run = checkpoint.run(1, "sum(amount)")
    assert checkpoint.last() == run
    recording = some_recording(1, "max(amount)", passed=6, after=1)
    checkpoint.record(recording)
    assert checkpoint.last() == run, "nothing was committed since"
    checkpoint.commit(7)
    assert checkpoint.last() == recording
    later = checkpoint.run(2, "min(amount)", first_batch=8, last_batch=8)
    checkpoint.commit(8)
    assert checkpoint.last() == later


def test_an_old_event_log_does_not_come_before_a_run(checkpoint: Checkpoint) -> None:
    """It is recorded after the run, and about batches before it."""
    checkpoint.begin()
    checkpoint.commit(*range(7))
    run = checkpoint.run(1, "sum(amount)")
    checkpoint.record(some_recording(ran=True, passed=3, after=1))
    assert checkpoint.last() == run


def test_a_recording_from_before_the_first_start_counts(checkpoint: Checkpoint) -> None:
    recording = some_recording(query_id=None, passed=None)
    checkpoint.record(recording, written=BEGUN - 5)
    checkpoint.begin()
    assert checkpoint.last() == recording
    checkpoint.commit(0, 1, 2)
    assert checkpoint.last() == recording


def test_a_checkpoint_that_began_much_later_is_another_one(checkpoint: Checkpoint) -> None:
    """It was deleted, and begun again by a program that records nothing."""
    checkpoint.record(some_recording(query_id=None, passed=None), written=BEGUN)
    checkpoint.begin()
    checkpoint.commit(0)
    assert checkpoint.last() is not None
    checkpoint.delete()
    checkpoint.begin(OTHER_ID, BEGUN + BEGINS_WITHIN_MS // 1000 + 1)
    checkpoint.commit(0)
    assert checkpoint.last() is None


def test_a_checkpoint_from_before_the_recording_is_another_one(checkpoint: Checkpoint) -> None:
    """A restored one, for example."""
    checkpoint.record(some_recording(query_id=None, passed=None), written=BEGUN)
    checkpoint.begin(at=BEGUN - 60)
    checkpoint.commit(0)
    assert checkpoint.last() is None


@pytest.mark.parametrize("by", ["recording", "run"])
def test_a_later_record_of_another_query_ends_what_had_no_id(
    checkpoint: Checkpoint, by: str
) -> None:
    """The checkpoint was deleted and begun again within minutes, which the record shows."""
    checkpoint.record(some_recording(query_id=None, passed=None), written=BEGUN - 5)
    checkpoint.begin(OTHER_ID)
    if by == "run":
        checkpoint.run(1, "max(amount)")
    else:
        checkpoint.record(some_recording(5, "max(amount)", query_id=QUERY_ID))
    checkpoint.commit(0)
    assert checkpoint.last() is None


def test_a_recording_that_cannot_be_read_may_be_the_one_that_counts(
    checkpoint: Checkpoint,
) -> None:
    checkpoint.begin()
    checkpoint.commit(*range(9))
    checkpoint.record(some_recording(1, passed=2))
    kept = checkpoint.record(some_recording(2, "max(amount)"))
    file = checkpoint.folder / ".holdfast/orders/recordings" / kept.name
    file.write_text("{")
    with pytest.raises(CheckpointError) as raised:
        checkpoint.last()
    assert raised.value.code.number == "HF2603"
