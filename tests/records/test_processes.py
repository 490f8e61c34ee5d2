"""Whether a process lives: by number and start, also for one that nobody waited for."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.records.processes import Process, lives, process_here
from tests.records.drivers import living_process


def test_a_living_process_is_known_by_number_and_start() -> None:
    with living_process() as other:
        process = process_here(other.pid)
        assert process.started is not None
        assert lives(process) is True
        assert lives(Process(other.pid, process.started + "1")) is False
        assert lives(Process(other.pid, None)) is None
    assert lives(process) is False
    assert lives(process_here(os.getpid())) is True


def test_a_name_with_brackets_and_blanks_does_not_shift_the_fields(tmp_path: Path) -> None:
    script = tmp_path / "a) S 1 (b"
    script.symlink_to(sys.executable)
    with subprocess.Popen((script, "-c", "input()"), stdin=subprocess.PIPE) as other:
        try:
            started = process_here(other.pid).started
            assert started is not None
            assert int(started) >= int(process_here(os.getpid()).started or 0)
        finally:
            other.kill()


def test_one_that_ended_and_was_not_waited_for_is_gone() -> None:
    with living_process() as other:
        process = process_here(other.pid)
        other.send_signal(signal.SIGKILL)
        os.waitid(os.P_PID, other.pid, os.WEXITED | os.WNOWAIT)
        assert Path(f"/proc/{other.pid}").exists()
        assert lives(process) is False
        assert lives(Process(other.pid, None)) is False


@pytest.mark.parametrize("number", [0, -1, 2**40])
def test_a_number_that_no_process_can_have_is_gone_or_unclear(number: int) -> None:
    """Never alive: 0 and negative numbers mean groups to the system."""
    assert lives(Process(number, "1")) is not True
