"""Backups while a job runs: when they are due, one at a time, and a failure only warns."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import holdfast
from holdfast.errors import StorageError
from holdfast.jobs.discovery import ProjectChoice
from holdfast.jobs.ready import ReadyJob
from holdfast.jobs.readying import ready_job
from holdfast.running.backups import AGAIN_SECONDS, ScheduledBackups, newest_backup_ms
from tests.backup.folders import NOW_MS, back_up_now, make_tree, records_of, small
from tests.cli.running import holdfast as command

PROJECT = """
project: shop
jobs:
  orders:
    source: {format: rate}
    sql: select * from source
    sink: {format: console}
    backup: {every: "1 hour", keep: 2}
"""
HOUR = 3600.0


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "holdfast.yaml").write_text(PROJECT)
    make_tree(tmp_path / "checkpoints" / "orders", small())
    return tmp_path / "holdfast.yaml"


@pytest.fixture
def job(project: Path) -> ReadyJob:
    loaded = ProjectChoice.of(project, None).load_required(project.parent)
    return ready_job(loaded, "orders")


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = NOW_MS / 1000

    def __call__(self) -> float:
        return self.now


def scheduled(
    job: ReadyJob, clock: Clock, make: Callable[[], object]
) -> tuple[ScheduledBackups, Callable[[float], None]]:
    backups = ScheduledBackups(job, make=make, now=clock)

    def commit_after(seconds: float) -> None:
        clock.now += seconds
        backups.committed()
        backups.end()

    return backups, commit_after


def test_one_is_made_after_the_first_commit_and_again_when_it_is_due(job: ReadyJob) -> None:
    made: list[float] = []
    clock = Clock()
    backups, commit_after = scheduled(job, clock, lambda: made.append(clock.now))
    for seconds in (0, 10, HOUR - 20, 10, 10, HOUR):
        commit_after(seconds)
    began = NOW_MS / 1000
    assert [one - began for one in made] == [0, HOUR, 2 * HOUR + 10]
    assert [*backups.findings()] == []


def test_a_run_counts_from_the_backup_of_the_run_before_it(job: ReadyJob) -> None:
    records = records_of(Path(job.checkpoint.url))
    back_up_now(records)
    assert newest_backup_ms(records.folder) == NOW_MS
    made: list[float] = []
    clock = Clock()
    _, commit_after = scheduled(job, clock, lambda: made.append(clock.now))
    commit_after(HOUR - 1)
    assert made == []
    commit_after(1)
    assert len(made) == 1


def test_a_commit_never_waits_for_a_backup_and_two_never_overlap(job: ReadyJob) -> None:
    going_on, begun = threading.Event(), threading.Event()
    made: list[int] = []

    def make() -> None:
        made.append(1)
        begun.set()
        going_on.wait(60)

    clock = Clock()
    backups = ScheduledBackups(job, make=make, now=clock)
    backups.committed()
    assert begun.wait(60)
    for _ in range(3):
        clock.now += 2 * HOUR
        backups.committed()
    backups.end(0)
    assert made == [1]
    going_on.set()
    backups.end()
    clock.now += HOUR
    backups.committed()
    backups.end()
    assert made == [1, 1]


def test_a_failure_is_a_warning_and_tried_again_soon(job: ReadyJob) -> None:
    answers: Iterator[Exception | None] = iter([StorageError("HF7015", "no space"), None, None])
    asked: list[float] = []
    clock = Clock()

    def make() -> None:
        asked.append(clock.now)
        if (error := next(answers)) is not None:
            raise error

    backups, commit_after = scheduled(job, clock, make)
    for seconds in (0, AGAIN_SECONDS - 1, 1, AGAIN_SECONDS):
        commit_after(seconds)
    assert [one - NOW_MS / 1000 for one in asked] == [0, AGAIN_SECONDS]
    (finding,) = backups.findings()
    assert (finding.code, finding.severity.value) == ("HF4650", "warning")
    assert "no space" in finding.message


def test_real_backups_are_kept_as_declared_and_shown(job: ReadyJob, project: Path) -> None:
    shown = command("status", "--project", str(project))
    assert "backup of orders: every 1 hour, newest none yet" in shown.out
    clock = Clock()
    for number in range(3):
        (Path(job.checkpoint.url) / "offsets" / f"{number + 2}").write_bytes(b"v1\n{}\n0")
        clock.now += 2 * HOUR
        backups = ScheduledBackups(job, now=lambda: float("inf"))
        backups.committed()
        backups.end()
        assert [*backups.findings()] == []
    store = records_of(Path(job.checkpoint.url)).store
    assert len(store.snapshot_ids()) == 2
    (told,) = holdfast.status(project=project).result.jobs
    assert told.backup_every == "1 hour"
    assert told.newest_backup is not None
    assert told.newest_backup[:4] == store.snapshot_ids()[-1][:4]


def test_without_a_declaration_nothing_is_made(project: Path) -> None:
    project.write_text(PROJECT.replace('    backup: {every: "1 hour", keep: 2}\n', ""))
    loaded = ProjectChoice.of(project, None).load_required(project.parent)
    backups = ScheduledBackups(ready_job(loaded, "orders"), make=lambda: pytest.fail("made"))
    backups.committed()
    backups.end()


@pytest.mark.parametrize("wrong", ["{every: soon}", '{every: "1 hour", keep: 0}', "{keep: 3}"])
def test_a_declaration_that_means_nothing_is_refused(project: Path, wrong: str) -> None:
    project.write_text(PROJECT.replace('{every: "1 hour", keep: 2}', wrong))
    with pytest.raises(holdfast.ProjectError):
        ProjectChoice.of(project, None).load_required(project.parent)
