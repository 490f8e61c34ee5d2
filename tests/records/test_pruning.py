"""What killed processes left is removed; what living ones write is not."""

from __future__ import annotations

import os
from pathlib import Path

from holdfast.records.pruning import prune
from holdfast.storage.writingtemporary import host_mark, temporary_name
from tests.records.drivers import living_process, records_in


def test_outlived_and_left_behind_files_are_removed(tmp_path: Path) -> None:
    with living_process() as process:
        number = process.pid
    dead = f".holdfast-{host_mark()}-{number}-{'0' * 12}.tmp"
    living = temporary_name()
    assert str(os.getpid()) in living
    folder = records_in(tmp_path)
    for name in ("old", "new", dead, living):
        folder.writer("runs").replace(name, b"")
    names = folder.reader("runs").names()
    assert prune(folder.writer("runs"), names, ["old"]) is None
    assert folder.reader("runs").names() == {"new", living}
