"""Every state that a job can be in, from real checkpoints and real records."""

from __future__ import annotations

import io
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from holdfast import library
from holdfast.answers import Answer
from holdfast.backup.access import alone, open_records
from holdfast.cli.drawing.status import draw_status
from holdfast.codes import code_of
from holdfast.diagnosis.status.result import JobState, JobStatus, Status
from holdfast.diagnosis.status.status import JobPlace, status_of
from holdfast.errors import HoldfastError, StorageError
from holdfast.findings import Severity
from holdfast.metrics.figures import figures_of_status
from holdfast.records.journal import Act
from holdfast.records.leases.acting import acting
from holdfast.records.leases.state import Standing
from holdfast.records.leases.taking import take_lease
from holdfast.records.moments import moment_after
from holdfast.records.processes import process_here
from holdfast.records.run import Ended, Failure, Run
from holdfast.records.starts import Attempt, Attempts, Restarts
from holdfast.storage.location import parse_location
from holdfast.storage.memory import MemoryReader
from holdfast.storage.options import StorageSettings
from holdfast.storage.reading import Reader
from tests.checkpoint.pictures import files_of
from tests.corpus.loading import sample
from tests.diagnosis.doctor.recording import a_run, dead_holder, records_beside, run_on, write_runs
from tests.records.drivers import elsewhere, living_process, taken
from tests.records.test_starts_attempts import some_attempt
from tests.records.test_starts_restarts import a_note

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


def drawn(answer: Answer[Status]) -> str:
    console = Console(width=160, file=io.StringIO(), record=True)
    draw_status(answer, console)
    return console.export_text()


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


def test_the_end_of_a_jvm_is_described_as_the_run_described_it(project: Path) -> None:
    """The next start need not fail again: the batch that is pending runs again."""
    failure = Failure("Py4JError", "HF5304", "Spark's JVM (process 7) was killed", None)
    write_runs(checkpoint(project), own_run(ended=Ended.FAILED, failure=failure))
    (finding,) = told(project).findings
    died = code_of("HF5304")
    assert (finding.code, finding.why) == ("HF2346", died.why)
    assert finding.next_steps == (*died.next_steps, "holdfast explain HF5304")


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
    assert re.match(r"holdfast inspect --project \S+ orders", finding.next_steps[0])
    assert answer.exit_status == 3


def test_a_driver_whose_jvm_is_still_ending_is_killed(project: Path) -> None:
    """Right after the kill: the lease is held until the JVM is gone, but nobody runs the job."""
    with living_process() as jvm:
        holder = replace(dead_holder(), jvm=process_here(jvm.pid))
        lease = taken(records_beside(checkpoint(project)), holder)
        write_runs(checkpoint(project), own_run(lease.generation, ended=None, ended_at=None))
        answer = told(project)
        one = answer.result.jobs[0]
        assert one.state is JobState.KILLED
        assert one.lease is not None and one.lease.state is Standing.HELD
        (finding,) = answer.findings
        assert finding.code == "HF2345" and "its JVM is still ending" in finding.message
    assert "still ending" not in told(project).findings[0].message


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
    steps = " ".join(answer.findings[0].next_steps)
    assert re.search(r"holdfast restore --project \S+ --finish orders", steps)


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
    assert "did you mean orders?" in caught.value.message


def test_a_run_of_nothing_shows_no_batches(project: Path) -> None:
    write_runs(checkpoint(project), a_run(batches=0, rows=0, first_batch=None, last_batch=None))
    run = orders(project).runs[0]
    assert (run.batches, run.first_batch, run.last_batch) == (0, None, None)


def test_an_act_that_holds_the_lease_is_no_running_job(project: Path) -> None:
    write_runs(checkpoint(project), own_run())
    with acting(records_beside(checkpoint(project)), "restore"):
        answer = told(project)
        one = answer.result.jobs[0]
        assert one.state is JobState.RESTORING
        assert one.lease is not None
        assert (one.lease.state, one.lease.act) == (Standing.HELD, "restore")
        assert answer.exit_status == 0
        finding = {f.code: f for f in library.doctor(checkpoint(project)).findings}["HF2344"]
        assert finding.message.startswith("it is being changed: restore by ")
    one = orders(project)
    assert one.state is JobState.FINISHED
    assert one.lease is not None and one.lease.state is Standing.FREE
    assert [run.generation for run in one.runs] == [1]


def test_an_act_does_not_look_like_a_run_that_died(project: Path) -> None:
    folder = records_beside(checkpoint(project))
    with acting(folder, "restore"):
        pass
    assert orders(project).state is JobState.UNRECORDED
    take_lease(folder, job="orders", holder=dead_holder(), act="restore")
    assert orders(project).state is JobState.UNRECORDED
    take_lease(folder, job="orders", holder=elsewhere(), act="restore")
    assert orders(project).state is JobState.UNRECORDED
    assert told(project).findings == ()


def test_an_act_after_a_killed_run_leaves_it_killed(project: Path) -> None:
    write_runs(checkpoint(project), own_run(ended=None, ended_at=None))
    folder = records_beside(checkpoint(project))
    taken(folder, dead_holder())
    with acting(folder, "restore"):
        assert orders(project).state is JobState.RESTORING
    assert orders(project).state is JobState.KILLED
    with acting(folder, "restore", holder=elsewhere()):
        assert orders(project).state is JobState.KILLED


def attempt(folder: Path, **changes: Any) -> Attempt:
    """Record a start of `orders` that failed after every run of these tests had begun."""
    one = some_attempt(**{"at": "2026-03-02T10:00:00.000Z", **changes})
    Attempts(records_beside(checkpoint(folder))).write(one)
    return one


def test_a_start_that_failed_early_is_shown_with_its_page(project: Path) -> None:
    """Whatever the run before it did; the next run clears it."""
    write_runs(checkpoint(project), own_run())
    steps = ("put the output back", "holdfast explain delta-table-gone")
    one = attempt(project, page="delta-table-gone", next=steps)
    answer = told(project)
    status = answer.result.jobs[0]
    assert (status.state, answer.exit_status) == (JobState.REFUSED, 3)
    assert status.last_attempt is not None
    assert (status.last_attempt.at, status.last_attempt.code) == (one.at, "HF3013")
    assert (status.last_attempt.exit_status, status.last_attempt.next) == (30, steps)
    (finding,) = answer.findings
    assert (finding.code, finding.severity) == ("HF2615", Severity.WARNING)
    assert finding.message.startswith("the start of job orders ")
    assert "HF3013 the table is gone" in finding.message and finding.next_steps == steps
    assert finding.place.within("") == "holdfast.yaml:7"
    assert answer.next_steps == ("holdfast explain delta-table-gone",)
    write_runs(checkpoint(project), own_run(2, started_at="2026-03-02T10:00:01.000Z"))
    cleared = told(project)
    assert cleared.result.jobs[0].state is JobState.FINISHED
    assert (cleared.result.jobs[0].last_attempt, cleared.exit_status) == (None, 0)


def test_a_first_start_that_failed_is_not_new(project: Path) -> None:
    """Nothing but the attempt exists of the job."""
    place = parse_location(str(project / "checkpoints" / "invoices"))
    records = records_beside(Path(place.url))
    one = some_attempt(job="invoices", ended=Ended.FAILED, code="HF5115", exit_status=51)
    Attempts(records).write(one)
    status = told(project, "invoices").result.jobs[0]
    assert (status.state, status.exists) == (JobState.FAILED, False)
    assert told(project, "invoices").exit_status == 3
    assert not Path(place.url).exists()


def test_a_start_that_failed_beside_a_driver_is_over_when_that_driver_goes_on(
    project: Path,
) -> None:
    """The job was never down: the driver runs it now, or ended well after that attempt."""
    lease = taken(records_beside(checkpoint(project)))
    running = own_run(lease.generation, started_at="2026-03-01T10:00:00.000Z", ended=None,
                      ended_at=None)  # fmt: skip
    write_runs(checkpoint(project), running)
    attempt(project, at="2999-01-01T00:00:00.000Z", after=lease.generation)
    answer = told(project)
    assert (answer.result.jobs[0].state, answer.findings) == (JobState.RUNNING, ())
    for ended_at, state in (
        ("2999-01-01T00:00:01.000Z", JobState.FINISHED),
        ("2026-03-01T11:00:00.000Z", JobState.REFUSED),
    ):
        over = replace(running, ended=Ended.FINISHED, ended_at=ended_at)
        write_runs(checkpoint(project), over)
        lease.release()
        answer = told(project)
        assert answer.result.jobs[0].state is state
        assert bool(answer.findings) == (state is JobState.REFUSED)


def test_a_second_driver_that_was_refused_does_not_turn_a_job_red(project: Path) -> None:
    lease = taken(records_beside(checkpoint(project)))
    write_runs(checkpoint(project), own_run(lease.generation, ended=None, ended_at=None))
    attempt(project, at="2999-01-01T00:00:00.000Z", code="HF2601", exit_status=22, page="HF2601")
    answer = told(project)
    assert (answer.result.jobs[0].state, answer.exit_status) == (JobState.RUNNING, 0)
    assert [(one.code, one.severity) for one in answer.findings] == [("HF2617", Severity.INFO)]
    lease.release()


def test_a_refused_second_driver_does_not_hide_an_earlier_failure(project: Path) -> None:
    write_runs(checkpoint(project), own_run())
    attempt(project)
    attempt(project, at="2026-03-02T11:00:00.000Z", code="HF2610", exit_status=22)
    answer = told(project)
    assert [one.code for one in answer.findings] == ["HF2615", "HF2617"]
    assert (answer.result.jobs[0].state, answer.exit_status) == (JobState.REFUSED, 3)


def test_a_driver_that_prepares_its_start_is_newer_than_an_attempt(project: Path) -> None:
    attempt(project)
    lease = taken(records_beside(checkpoint(project)))
    answer = told(project)
    assert (answer.result.jobs[0].state, answer.findings) == (JobState.RUNNING, ())
    lease.release()


@pytest.mark.parametrize("other", [{"job": "returns"}, {"project": "billing"}])
def test_a_start_of_another_job_that_was_refused_here_is_not_this_jobs(
    project: Path, other: dict[str, str]
) -> None:
    """It wanted the checkpoint of this one, which is as healthy as before."""
    write_runs(checkpoint(project), own_run())
    attempt(project, code="HF1118", exit_status=10, **other)
    assert (orders(project).state, orders(project).last_attempt) == (JobState.FINISHED, None)
    assert told(project).exit_status == 0
    attempt(project, project=None)
    assert orders(project).state is JobState.REFUSED, "a program of the same job"


def test_an_attempt_that_cannot_be_read_is_reported(project: Path) -> None:
    attempt(project)
    (document,) = (project / "checkpoints/.holdfast/orders/attempts").iterdir()
    document.write_bytes(b"{}")
    assert [one.code for one in told(project).findings] == ["HF2603"]


def test_a_run_that_failed_names_the_page_that_run_named(project: Path) -> None:
    failure = Failure("STATE_X", "HF5302", "a state file is gone", None, "state-file-missing")
    write_runs(checkpoint(project), own_run(ended=Ended.FAILED, failure=failure))
    assert told(project).next_steps == ("holdfast explain state-file-missing",)


@pytest.mark.parametrize(
    ("removed", "code"),
    [
        (("offsets/2",), "HF2203"),
        (("offsets/0", "offsets/1", "offsets/2"), "HF2208"),
        (("offsets/1",), "HF2204"),
        (("commits/1",), "HF2207"),
    ],
)
def test_an_entry_that_is_gone_is_noticed_by_the_names_alone(
    project: Path, removed: tuple[str, ...], code: str
) -> None:
    """And the doctor, who knows what it means, says the same."""
    root = checkpoint(project)
    (root / "commits/2").write_bytes((root / "commits/1").read_bytes())
    write_runs(root, own_run())
    assert told(project).exit_status == 0
    for path in removed:
        (root / path).unlink()
    answer = told(project)
    assert answer.exit_status == 3
    found = {one.code: one.next_steps for one in answer.findings if one.code != "HF2342"}
    assert found == {code: (f"holdfast doctor --project {project}/holdfast.yaml orders",)}
    assert code in {one.code for one in library.doctor(root).findings}


def test_batches_that_were_added_while_it_looked_are_no_gap(project: Path) -> None:
    """The commits are listed first: a quick query goes on before its offsets are."""
    root = checkpoint(project)
    for added in ("3", "4", "5"):
        (root / "offsets" / added).write_bytes((root / "offsets/2").read_bytes())
    assert told(project).findings == ()


def test_an_output_of_sparks_own_file_sink_is_reported_before_run_refuses_it(
    project: Path,
) -> None:
    """With the code that `run` ends with, by `status` and by `doctor`."""
    text = JOBS.replace(
        "format: delta, path: ./lake/orders", "format: parquet, path: ./lake/orders"
    )
    (project / "holdfast.yaml").write_text(text)
    assert told(project).exit_status == 0
    log = project / "lake/orders/_spark_metadata"
    log.mkdir(parents=True)
    (log / "0").write_text('v1\n{"path":"file:/x","size":1,"isDir":false,"modificationTime":1,'
                           '"blockReplication":1,"blockSize":1,"action":"add"}')  # fmt: skip
    answer = told(project)
    (finding,) = answer.findings
    assert (finding.code, answer.exit_status) == ("HF5020", 3)
    assert finding.severity is Severity.FATAL and "contains _spark_metadata" in finding.message
    doctor = library.doctor("orders", project=project / "holdfast.yaml")
    assert {one.code: one for one in doctor.findings}["HF5020"].message == finding.message
    (project / "holdfast.yaml").write_text(JOBS)
    assert "HF5020" not in {one.code for one in told(project).findings}, "a Delta sink refuses"


def test_a_checkpoint_that_is_gone_is_not_green(project: Path) -> None:
    """The records know that a batch was delivered from it; a reset checkpoint is found too."""
    write_runs(checkpoint(project), own_run())
    assert "HF2342" not in {one.code for one in told(project).findings}
    shutil.rmtree(checkpoint(project))
    (lost,) = (one for one in told(project).findings if one.code == "HF2342")
    assert lost.severity is Severity.FATAL and lost.message.startswith("orders: batch ")
    assert told(project).exit_status == 3


@pytest.mark.parametrize("runs", [0, 1])
def test_a_deleted_checkpoint_with_backups_is_gone_and_not_new(project: Path, runs: int) -> None:
    """Also where no run of Holdfast is recorded, and for the doctor."""
    library.back_up(checkpoint(project))
    write_runs(checkpoint(project), *[own_run()] * runs)
    assert orders(project).state is not JobState.GONE
    shutil.rmtree(checkpoint(project))
    assert orders(project).state is JobState.GONE
    (lost,) = (one for one in told(project).findings if one.code == "HF2342")
    assert runs or lost.message == (
        "orders: the checkpoint is gone: 1 backup of it is here, and nothing else"
    )
    assert told(project).exit_status == 3
    examined = library.doctor("orders", project=project / "holdfast.yaml")
    assert [one.severity for one in examined.findings if one.code == "HF2342"] == [Severity.FATAL]


def test_a_driver_that_waits_to_restart_its_job(project: Path) -> None:
    """Its last run failed, and that is not its end; a later start makes the note void."""
    failure = Failure("CONNECT", "HF5041", "the database cannot be reached")
    write_runs(checkpoint(project), own_run(ended=Ended.FAILED, failure=failure))
    restarts = Restarts(records_beside(checkpoint(project)))
    note = a_note()
    restarts.write(note)
    answer = told(project, "orders")
    (job,) = answer.result.jobs
    assert job.state is JobState.RESTARTING and job.next_restart is not None
    assert (job.next_restart.due_at, job.next_restart.restart) == (note.due_at, 1)
    (finding,) = [one for one in answer.findings if one.code == "HF2346"]
    assert f"restarts it at {note.due_at} (restart 1 of at most 10)" in finding.message
    text = drawn(answer)
    assert "restarting" in text and "Next restarts" in text
    (figures,) = figures_of_status(answer.result, 0.0)
    assert (figures.state, figures.up, figures.ended, figures.failed) == (
        "restarting", False, False, False,
    )  # fmt: skip

    restarts.write(replace(note, holder=elsewhere()))
    assert orders(project).state is JobState.UNCLEAR
    restarts.write(replace(note, holder=dead_holder()))
    assert orders(project).state is JobState.FAILED and orders(project).next_restart is None
    restarts.write(note)
    write_runs(checkpoint(project), own_run(2, started_at=moment_after(note.at, 60.0)))
    assert orders(project).state is JobState.FINISHED and orders(project).next_restart is None


def restored(project: Path, *, kind: str = "restore", outcome: str = "restored") -> None:
    """Keep an act on the checkpoint of `orders` that was done to its end."""
    place = open_records(parse_location(str(checkpoint(project))), StorageSettings())
    with acting(place.folder, kind) as held:
        journal = place.under(held).journal
        one = Act(
            f"20260301T1000000{held.generation:02d}Z", kind, {"backup": "20260228T100000000Z"}
        )
        journal.begin(one)
        journal.end(one, outcome)


@pytest.mark.parametrize("ended", [Ended.FAILED, Ended.REFUSED, None])
def test_a_restore_ends_the_alarm_and_says_what_the_next_start_does(
    project: Path, ended: Ended | None
) -> None:
    write_runs(checkpoint(project), own_run(ended=ended, ended_at=None))
    taken(records_beside(checkpoint(project)), dead_holder())
    assert told(project).exit_status == 3
    restored(project)
    answer = told(project)
    one = answer.result.jobs[0]
    assert (one.state, answer.exit_status) == (JobState.RESTORED, 0)
    assert one.remedy is not None and one.remedy.kind == "restore"
    assert one.next_start == "runs batch 2 again"
    (finding,) = answer.findings
    assert finding.severity is Severity.INFO
    assert "since then restored from backup 20260228T100000000Z" in finding.message
    assert "the next start runs batch 2 again" in drawn(answer)


def test_a_restore_is_over_with_the_next_start(project: Path) -> None:
    write_runs(checkpoint(project), own_run(ended=Ended.FAILED))
    taken(records_beside(checkpoint(project)), dead_holder())
    restored(project)
    late = "2100-03-02T10:00:00.000Z"
    failed = attempt(project, at=late)
    assert orders(project).state is JobState.REFUSED and failed.at == late
    write_runs(checkpoint(project), own_run(9, ended=Ended.FAILED, started_at=late))
    answer = told(project)
    assert (answer.result.jobs[0].state, answer.exit_status) == (JobState.FAILED, 3)
    assert (answer.result.jobs[0].remedy, answer.result.jobs[0].next_start) == (None, None)


def test_a_start_that_failed_before_a_restore_is_past(project: Path) -> None:
    write_runs(checkpoint(project), own_run())
    attempt(project)
    assert orders(project).state is JobState.REFUSED
    taken(records_beside(checkpoint(project)), dead_holder())
    restored(project)
    assert (orders(project).state, told(project).exit_status) == (JobState.RESTORED, 0)


@pytest.mark.parametrize(
    ("kind", "outcome", "state"),
    [
        ("repair", "applied", JobState.REMEDIED),
        ("restore", "unchanged", JobState.FAILED),
        ("clean", "applied", JobState.FAILED),
        ("undo", "undone", JobState.FAILED),
    ],
)
def test_only_what_changed_the_checkpoint_for_good_counts(
    project: Path, kind: str, outcome: str, state: JobState
) -> None:
    write_runs(checkpoint(project), own_run(ended=Ended.FAILED))
    taken(records_beside(checkpoint(project)), dead_holder())
    restored(project, kind=kind, outcome=outcome)
    assert orders(project).state is state


def test_a_restore_that_was_undone_leaves_the_failure(project: Path) -> None:
    write_runs(checkpoint(project), own_run(ended=Ended.FAILED))
    taken(records_beside(checkpoint(project)), dead_holder())
    restored(project)
    restored(project, kind="undo", outcome="undone")
    assert orders(project).state is JobState.FAILED


def test_a_restored_checkpoint_that_lacks_an_entry_stays_red(project: Path) -> None:
    write_runs(checkpoint(project), own_run(ended=Ended.FAILED))
    taken(records_beside(checkpoint(project)), dead_holder())
    restored(project)
    (checkpoint(project) / "offsets" / "1").unlink()
    answer = told(project)
    assert answer.exit_status == 3
    assert answer.result.jobs[0].next_start is None
