"""What killed processes left is removed; what living ones write is not."""

from __future__ import annotations

import os
import time
from pathlib import Path

from holdfast.records.folder import prune
from holdfast.storage.machine import temporary_name, this_machine
from tests.records.drivers import living_process, records_in


def test_outlived_and_left_behind_files_are_removed(tmp_path: Path) -> None:
    with living_process() as process:
        number = process.pid
    dead = f".holdfast-{this_machine()[:16]}-{number}-{'0' * 12}.tmp"
    living = temporary_name()
    assert str(os.getpid()) in living
    folder = records_in(tmp_path)
    for name in ("old", "new", dead, living):
        folder.writer("runs").replace(name, b"")
    names = folder.reader("runs").names()
    assert prune(folder.writer("runs"), names, ["old"]) is None
    assert folder.reader("runs").names() == {"new", living}


def test_the_age_decides_where_the_process_cannot_be_seen(tmp_path: Path) -> None:
    old, young = (f".holdfast-{'0' * 8}-1-{digit * 12}.tmp" for digit in "ab")
    folder = records_in(tmp_path)
    for name in (old, young):
        folder.writer("runs").replace(name, b"")
    past = time.time() - 25 * 3600
    os.utime(tmp_path / ".holdfast/orders/runs" / old, (past, past))
    names = folder.reader("runs").names()
    assert prune(folder.writer("runs"), names, []) is None
    assert folder.reader("runs").names() == {old, young}
    assert prune(folder.writer("runs"), names, [], lambda: folder.place("runs")) is None
    assert folder.reader("runs").names() == {young}
