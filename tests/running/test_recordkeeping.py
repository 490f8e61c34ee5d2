"""A record that cannot be written does not stop a job, and is reported as what it is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from holdfast.errors import StorageError
from holdfast.findings import Severity
from holdfast.records.history import History
from holdfast.records.run import Ended, Run
from holdfast.running.recordkeeping import ATTEMPTS, RecordKeeper
from holdfast.running.report import Event, RecordFailing
from tests.records.drivers import records_in
from tests.records.runs import some_run

RUN = replace(some_run(), ended=None, ended_at=None, failure=None)
DONE = replace(RUN, ended=Ended.FINISHED, batches=3, rows=1200)


class Failing(History):
    """A history whose next writes fail."""

    def __init__(self, folder: Path, failures: int) -> None:
        super().__init__(records_in(folder))
        self.failures = failures

    def write(self, run: Run) -> None:
        """Fail as a full disk does, as often as ordered."""
        if self.failures:
            self.failures -= 1
            raise StorageError("HF7015", "no space left", at="there")
        super().write(run)


def keeper(folder: Path, failures: int) -> tuple[RecordKeeper, Failing, list[Event], list[float]]:
    history, seen, paused = Failing(folder, failures), list[Event](), list[float]()
    return RecordKeeper(history, seen.append, paused.append), history, seen, paused


def test_a_storage_that_fails_for_a_moment_is_nobodys_business(tmp_path: Path) -> None:
    keeping, history, seen, _ = keeper(tmp_path, ATTEMPTS - 1)
    assert [keeping.progress(RUN) for _ in range(ATTEMPTS)] == [False, False, True]
    assert [run.ended for run in history.runs()] == [None]
    assert seen == [] and list(keeping.findings()) == []


def test_one_that_keeps_failing_is_reported_once_and_tried_again(tmp_path: Path) -> None:
    keeping, history, seen, _ = keeper(tmp_path, 2 * ATTEMPTS)
    for _ in range(2 * ATTEMPTS):
        assert not keeping.progress(RUN)
    assert seen == [RecordFailing("orders", "no space left", "there")]
    assert keeping.progress(RUN)
    keeping.end(DONE)
    assert history.runs()[0].ended is Ended.FINISHED
    (finding,) = keeping.findings()
    assert (finding.code, finding.severity) == ("HF2611", Severity.INFO)


def test_the_last_record_is_tried_several_times(tmp_path: Path) -> None:
    keeping, history, _, paused = keeper(tmp_path, ATTEMPTS - 1)
    keeping.end(DONE)
    assert history.runs()[0].ended is Ended.FINISHED
    assert len(paused) == ATTEMPTS - 1
    assert list(keeping.findings()) == []


def test_a_last_record_that_is_not_written_says_that_the_rows_are_delivered(tmp_path: Path) -> None:
    keeping, _, _, _ = keeper(tmp_path, 99)
    keeping.end(DONE)
    (finding,) = keeping.findings()
    assert (finding.code, finding.severity) == ("HF2612", Severity.WARNING)
    assert finding.message == (
        "orders finished (3 batches, 1,200 rows), but this could not be written to its run record: "
        "no space left"
    )
