"""Runs a command in a cold process and tells its time and memory."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
"""Whoever installs a package has its bytecode; an editable one keeps it only without this."""


@dataclass(frozen=True)
class Run:
    """One run of a command."""

    seconds: float
    processor_seconds: float
    peak_bytes: int
    output: str


def run_cold(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Run:
    """Run a command in a process of its own; a failing one raises."""
    inherited = {name: value for name, value in os.environ.items() if name != _NO_BYTECODE}
    started = time.perf_counter()
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**inherited, **(environment or {})},
    )
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 3):
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, output)


def middle(runs: Sequence[Run]) -> Run:
    """Take the run of median time."""
    wanted = statistics.median_low([run.seconds for run in runs])
    return next(run for run in runs if run.seconds == wanted)
