"""Where checkpoints were at the last start: remembered, compared, and strict when broken."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import ProjectError
from holdfast.jobs.registry import check_remembered, remember_checkpoint, remembered_checkpoint
from holdfast.storage.location import canonical
from tests.jobs.declaring import job_text, ready_jobs
from tests.records.drivers import SPAWN

LIST = ".holdfast/checkpoints.json"


def test_nothing_is_remembered_before_the_first_start(tmp_path: Path) -> None:
    (job,) = ready_jobs(tmp_path, job_text("a"))
    check_remembered(job)
    assert remembered_checkpoint(tmp_path, "a") is None
    assert not (tmp_path / ".holdfast").exists()


def test_a_place_in_the_project_is_kept_relative_so_that_a_clone_is_the_same(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "one"
    folder.mkdir()
    (job,) = ready_jobs(folder, job_text("a"))
    remember_checkpoint(folder, "a", canonical(job.checkpoint))
    document = json.loads((folder / LIST).read_text())
    assert document["checkpoints"]["a"]["location"] == "./checkpoints/a"
    assert document["checkpoints"]["a"]["since"].endswith("Z")
    shutil.copytree(folder, tmp_path / "clone")
    (cloned,) = ready_jobs(tmp_path / "clone", job_text("a"))
    check_remembered(cloned)
    assert remembered_checkpoint(tmp_path / "clone", "a") == canonical(cloned.checkpoint)


@pytest.mark.parametrize("place", ["s3://lake/checkpoints/a", "file:///elsewhere/a"])
def test_a_place_elsewhere_is_kept_as_it_is(place: str, tmp_path: Path) -> None:
    remember_checkpoint(tmp_path, "a", place)
    assert remembered_checkpoint(tmp_path, "a") == place


def test_remembering_again_writes_nothing(tmp_path: Path) -> None:
    remember_checkpoint(tmp_path, "a", "s3://lake/a")
    before = (tmp_path / LIST).stat()
    remember_checkpoint(tmp_path, "a", "s3://lake/a")
    after = (tmp_path / LIST).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_another_place_is_refused_and_both_are_shown(tmp_path: Path) -> None:
    (job,) = ready_jobs(tmp_path, job_text("a"))
    remember_checkpoint(tmp_path, "a", canonical(job.checkpoint))
    (moved,) = ready_jobs(tmp_path, job_text("a"), head="project: p\ncheckpoints: s3://new\n")
    with pytest.raises(ProjectError) as raised:
        check_remembered(moved)
    assert (raised.value.code.number, raised.value.at) == ("HF1114", "holdfast.yaml:4:3")
    assert "was at ./checkpoints/a and would now be at s3://new/a" in raised.value.message
    assert "set the path back to ./checkpoints/a" in raised.value.next_steps[0]
    with pytest.raises(ProjectError, match="was at"):
        remember_checkpoint(tmp_path, "a", canonical(moved.checkpoint))


def test_jobs_that_start_side_by_side_are_all_remembered(tmp_path: Path) -> None:
    names = [f"job-{number}" for number in range(16)]
    threads = [
        threading.Thread(target=remember_checkpoint, args=(tmp_path, name, f"s3://lake/{name}"))
        for name in names
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    entries = json.loads((tmp_path / LIST).read_text())["checkpoints"]
    assert [*entries] == sorted(names)


def _remember_many(folder: Path, number: int, gate: Any) -> None:
    for turn in range(20):
        gate.wait()
        name = f"job-{number}-{turn}"
        remember_checkpoint(folder, name, f"s3://lake/{name}")


def test_processes_that_start_at_once_lose_no_entry(tmp_path: Path) -> None:
    gate = SPAWN.Barrier(3)
    starters = [
        SPAWN.Process(target=_remember_many, args=(tmp_path, number, gate)) for number in range(3)
    ]
    for starter in starters:
        starter.start()
    for starter in starters:
        starter.join()
    assert [starter.exitcode for starter in starters] == [0, 0, 0]
    entries = json.loads((tmp_path / LIST).read_text())["checkpoints"]
    assert len(entries) == 60


_HOLDER = """
import sys, time
from pathlib import Path
from holdfast.jobs import registry
with registry._locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""


def test_a_process_that_is_killed_while_it_holds_the_lock_blocks_nobody(tmp_path: Path) -> None:
    arguments = (sys.executable, "-c", _HOLDER, str(tmp_path))
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        waiter = threading.Thread(target=remember_checkpoint, args=(tmp_path, "a", "s3://lake/a"))
        waiter.start()
        assert remembered_checkpoint(tmp_path, "a") is None
        holder.kill()
        waiter.join()
    assert remembered_checkpoint(tmp_path, "a") == "s3://lake/a"


def test_a_lock_of_another_user_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remember_checkpoint(tmp_path, "a", "s3://lake/a")
    opened = os.open

    def without_rights(path: Any, flags: int, mode: int = 0o777) -> int:
        if str(path).endswith(".lock") and flags & os.O_RDWR:
            raise PermissionError(13, "Permission denied")
        return opened(path, flags, mode)

    monkeypatch.setattr(os, "open", without_rights)
    remember_checkpoint(tmp_path, "b", "s3://lake/b")
    assert remembered_checkpoint(tmp_path, "b") == "s3://lake/b"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[]", "checkpoints, a mapping of jobs, is missing"),
        ('{"version": 1}', "checkpoints, a mapping of jobs, is missing"),
        ('{"version": 1, "checkpoints": []}', "checkpoints, a mapping of jobs, is missing"),
        ('{"version": 3, "checkpoints": {}}', "version"),
        ('{"version": 1, "checkpoints": {"a": "x"}}', "the entry of a"),
        ('{"version": 1, "checkpoints": {"a": {}}}', "the entry of a"),
        ('{"version": 1, "checkpoints": {"a": {"location": ""}}}', "the entry of a"),
        ('{"version": 1, "checkpoints": {"a": {"location": 1}}}', "the entry of a"),
        ("<<<<<<< HEAD\n{}", "not JSON"),
    ],
)
def test_a_broken_list_is_told_and_left_alone(text: str, word: str, tmp_path: Path) -> None:
    file = tmp_path / LIST
    file.parent.mkdir()
    file.write_text(text)
    for act in (
        partial(remembered_checkpoint, tmp_path, "a"),
        partial(remember_checkpoint, tmp_path, "a", "s3://lake/a"),
    ):
        with pytest.raises(ProjectError, match=word) as raised:
            act()
        assert (raised.value.code.number, raised.value.at) == ("HF1116", str(file))
    assert file.read_text() == text


def test_a_list_that_is_a_folder(tmp_path: Path) -> None:
    (tmp_path / LIST).mkdir(parents=True)
    with pytest.raises(ProjectError, match="cannot be read") as raised:
        remembered_checkpoint(tmp_path, "a")
    assert raised.value.code.number == "HF1116"
