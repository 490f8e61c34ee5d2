"""What a run leaves beside a checkpoint while its job waits to be started again."""

from __future__ import annotations

import time
from pathlib import Path

from holdfast.records.folder import records_of
from holdfast.records.run import Ended
from holdfast.records.starts import NextRestart, Restarts
from holdfast.running.report import Event, JobEnded, JobRestarting, JobStarting
from holdfast.running.restarts import RestartNotes
from tests.spark.readyjobs import job as ready_job

WAITING = JobRestarting("sensor-clean", 2, 10, 30.0, "HF5041", "password=hush is refused")
ENDED = JobEnded("sensor-clean", Ended.FAILED, 0, 0, 0.1, "unreachable")


def awaited(restarts: Restarts, there: bool) -> NextRestart | None:
    until = time.monotonic() + 20
    while (restarts.note() is not None) is not there and time.monotonic() < until:
        time.sleep(0.01)
    return restarts.note()


def test_a_note_is_there_while_a_job_waits(tmp_path: Path) -> None:
    """Every event is passed on; the next end, and the end of the run, take the note away."""
    job = ready_job(tmp_path)
    restarts = Restarts(records_of(job.checkpoint, job.settings))
    seen: list[Event] = []
    with RestartNotes([job]) as notes:
        watch = notes.watching(seen.append)
        watch(ENDED)
        watch(WAITING)
        note = awaited(restarts, True)
        assert note is not None and note.due_at > note.at and note.is_here
        assert (note.restart, note.limit, note.code) == (2, 10, "HF5041")
        assert "hush" not in note.message
        watch(JobStarting("sensor-clean"))
        watch(ENDED)
        assert awaited(restarts, False) is None
        watch(WAITING)
    assert restarts.note() is None
    assert seen == [ENDED, WAITING, JobStarting("sensor-clean"), ENDED, WAITING]


def test_a_storage_that_fails_stops_nothing(tmp_path: Path) -> None:
    job = ready_job(tmp_path)
    (tmp_path / ".holdfast").write_text("in the way")
    with RestartNotes([job]) as notes:
        notes.watching(lambda _event: None)(WAITING)
