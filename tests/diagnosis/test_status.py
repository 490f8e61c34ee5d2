"""Every state that a job can be in, from real checkpoints and real records."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from holdfast import library
from holdfast.answers import Answer
from holdfast.backup.exclusion import alone
from holdfast.backup.records import open_records
from holdfast.diagnosis.status import JobPlace, status_of
from holdfast.diagnosis.statusresult import JobState, JobStatus, Status
from holdfast.errors import HoldfastError, StorageError
from holdfast.findings import Severity
from holdfast.records.journal import Act
from holdfast.records.leasesight import Standing
from holdfast.records.run import Ended, Failure, Run
from holdfast.storage.location import parse_location
from holdfast.storage.memory import MemoryReader
from holdfast.storage.options import StorageSettings
from holdfast.storage.reading import Reader
from tests.checkpoint.pictures import files_of
from tests.corpus.loading import sample
from tests.diagnosis.recording import a_run, dead_holder, records_beside, run_on, write_runs
from tests.records.drivers import elsewhere, taken

JOBS = """
project: shop
jobs:
  orders:
    source: {format: rate}
    sql: select * from source
    sink: {format: delta, path: ./lake/orders}
  invoices:
    source: {format: rate}
    sql: select * from source
    sink: {format: console}
    trigger: {processing_time: 10 seconds}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose job `orders` has a checkpoint, and whose job `invoices` never ran."""
    (tmp_path / "holdfast.yaml").write_text(JOBS)
    root = sample("pending", "4.3.0").extract(tmp_path / "checkpoints")
    root.rename(tmp_path / "checkpoints" / "orders")
    return tmp_path


def told(project: Path, *jobs: str) -> Answer[Status]:
    return library.status(*jobs, project=project / "holdfast.yaml")


def orders(project: Path) -> JobStatus:
    return told(project, "orders").result.jobs[0]


def checkpoint(project: Path) -> Path:
    return project / "checkpoints" / "orders"


def own_run(generation: int = 1, **changes: Any) -> Run:
    return run_on("pending", generation=generation, **changes)


def test_without_records_the_checkpoint_alone_speaks(project: Path) -> None:
    answer = told(project)
    first, second = answer.result.jobs
    assert answer.result.project == "shop"
    assert (first.job, first.state, first.exists) == ("orders", JobState.UNRECORDED, True)
    assert first.query_id == sample("pending", "4.3.0").facts["query_id"]
    assert (first.last_planned, first.last_committed, first.pending) == (2, 1, 2)
    assert (first.sink, first.sink_identity) == ("delta", "./lake/orders")
    assert (first.trigger, first.lease, first.runs) == ("available now", None, ())
    assert (second.state, second.exists, second.pending) == (JobState.NEW, False, None)
    assert second.trigger == "10 seconds"
    assert answer.exit_status == 0


@pytest.mark.parametrize("ended", list(Ended), ids=lambda one: one.value)
def test_the_last_run_names_the_state(project: Path, ended: Ended) -> None:
    write_runs(checkpoint(project), own_run(ended=ended))
    assert orders(project).state.value == ended.value
    bad = ended in (Ended.FAILED, Ended.REFUSED)
    assert told(project).exit_status == (3 if bad else 0)


def test_a_failed_run_is_a_warning_with_its_page(project: Path) -> None:
    failure = Failure("DIVIDE_BY_ZERO", "HF5301", "a division by zero", "pipeline.py:12")
    write_runs(checkpoint(project), own_run(ended=Ended.FAILED, failure=failure))
    answer = told(project)
    (finding,) = answer.findings
    assert (finding.code, finding.severity) == ("HF2346", Severity.WARNING)
    assert "a division by zero" in finding.message
    assert answer.next_steps == ("holdfast explain HF5301",)
    assert answer.result.jobs[0].runs[0].failure == failure


def test_the_newest_runs_come_first_and_are_few(project: Path) -> None:
    write_runs(checkpoint(project), *(own_run(number) for number in range(1, 6)))
    assert [run.generation for run in orders(project).runs] == [5, 4, 3]


def test_a_living_holder_runs_it(project: Path) -> None:
    lease = taken(records_beside(checkpoint(project)))
    assert orders(project).state is JobState.RUNNING
    write_runs(checkpoint(project), own_run(lease.generation, ended=None, ended_at=None))
    one = orders(project)
    assert one.state is JobState.RUNNING
    assert one.lease is not None and one.lease.state is Standing.HELD
    assert "process" in (one.lease.holder or "") and one.lease.since
    assert told(project).exit_status == 0
    lease.release()
    assert orders(project).state is JobState.KILLED


def test_a_dead_holder_means_a_killed_run(project: Path) -> None:
    write_runs(checkpoint(project), own_run(ended=None, ended_at=None))
    taken(records_beside(checkpoint(project)), dead_holder())
    answer = told(project)
    assert answer.result.jobs[0].state is JobState.KILLED
    (finding,) = answer.findings
    assert (finding.code, finding.severity) == ("HF2345", Severity.WARNING)
    assert finding.next_steps[0].startswith("holdfast inspect orders")
    assert answer.exit_status == 3


def test_a_holder_elsewhere_is_unclear_and_no_finding(project: Path) -> None:
    lease = taken(records_beside(checkpoint(project)), elsewhere())
    write_runs(checkpoint(project), own_run(lease.generation, ended=None, ended_at=None))
    one = orders(project)
    assert one.state is JobState.UNCLEAR
    assert one.lease is not None and one.lease.beat_age_seconds is not None
    assert told(project).findings == ()


def test_a_holder_that_has_no_record_yet_is_what_counts(project: Path) -> None:
    write_runs(checkpoint(project), own_run(ended=Ended.FAILED))
    taken(records_beside(checkpoint(project)))
    assert orders(project).state is JobState.RUNNING


def test_a_holder_that_followed_a_killed_run_is_what_counts(project: Path) -> None:
    write_runs(checkpoint(project), own_run(ended=None, ended_at=None))
    first = taken(records_beside(checkpoint(project)))
    assert orders(project).state is JobState.RUNNING
    assert told(project).findings == ()
    first.release()
    assert orders(project).state is JobState.KILLED


def test_an_interrupted_restore_goes_before_everything(project: Path) -> None:
    write_runs(checkpoint(project), own_run())
    place = open_records(parse_location(str(checkpoint(project))), StorageSettings())
    with alone(place.store, "restore"):
        place.journal.begin(Act("20260301T100000000Z", "restore", {}))
        assert orders(project).state is JobState.RESTORING
    answer = told(project)
    assert answer.result.jobs[0].state is JobState.INTERRUPTED
    assert answer.findings[0].severity is Severity.FATAL
    assert "holdfast restore --finish orders" in " ".join(answer.findings[0].next_steps)


def test_one_that_cannot_be_read_does_not_stop_the_others(project: Path) -> None:
    def refused() -> Reader:
        raise StorageError("HF7002", "access was denied", at="/secret")

    broken = JobPlace("broken", "/secret", "delta", None, "available now", refused)
    whole = replace(broken, job="whole", open_checkpoint=lambda: MemoryReader(files_of("pending")))
    answer = status_of("shop", [broken, whole])
    first, second = answer.result.jobs
    assert (first.state, first.problem) == (JobState.UNREADABLE, "access was denied")
    assert second.last_planned == 2
    assert [(one.code, one.severity) for one in answer.findings] == [("HF7002", Severity.ERROR)]


def test_a_place_that_cannot_be_resolved_is_a_row(project: Path) -> None:
    text = JOBS + '    checkpoint: "abfss://nonsense"\n'
    (project / "holdfast.yaml").write_text(text)
    first, second = told(project).result.jobs
    assert first.state is JobState.UNRECORDED
    assert second.state is JobState.UNREADABLE and second.problem


def test_damaged_metadata_is_told(project: Path) -> None:
    (checkpoint(project) / "metadata").write_bytes(b"{")
    answer = told(project)
    assert answer.result.jobs[0].query_id is None
    assert answer.result.jobs[0].last_planned == 2
    assert answer.findings[0].severity is Severity.ERROR


def test_a_record_that_cannot_be_read_is_told(project: Path) -> None:
    write_runs(checkpoint(project), own_run(1), own_run(2))
    (project / "checkpoints/.holdfast/orders/runs/0000000002.json").write_bytes(b"")
    answer = told(project)
    assert [one.code for one in answer.findings] == ["HF2603"]
    assert answer.result.jobs[0].runs[0].generation == 1


def test_a_name_that_is_no_job_gives_the_nearest(project: Path) -> None:
    with pytest.raises(HoldfastError) as caught:
        told(project, "order")
    assert caught.value.code.number == "HF1002"
    assert "is orders meant?" in caught.value.message


def test_a_run_of_nothing_shows_no_batches(project: Path) -> None:
    write_runs(checkpoint(project), a_run(batches=0, rows=0, first_batch=None, last_batch=None))
    run = orders(project).runs[0]
    assert (run.batches, run.first_batch, run.last_batch) == (0, None, None)
