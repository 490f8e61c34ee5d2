"""A driver killed in the middle of a write: temporary files stay behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.corpus.bench import Bench
from tests.corpus.shapes.shape import OLDEST_AND_NEWEST, Shape

PATIENCE_SECONDS = 60
BATCHES_BEFORE = 4


def killed(bench: Bench) -> None:
    """Stops a driver of its own as soon as a temporary file shows, and kills it if it stays."""
    command = [sys.executable, "-m", "tests.corpus.victim", str(bench.checkpoint)]
    victim = subprocess.Popen(
        command,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        catch_in_the_act(victim.pid, bench.checkpoint)
    finally:
        os.killpg(victim.pid, signal.SIGKILL)
        victim.wait()
    assert victim.stdout is not None
    query_id = victim.stdout.readline().strip()
    bench.runs.append(
        {"query_id": query_id, "run_id": None, "failure": "killed (SIGKILL)", "progress": []}
    )


def catch_in_the_act(group: int, checkpoint: Path) -> None:
    """Returns with the process group stopped and a temporary file on the disk."""
    limit = time.monotonic() + PATIENCE_SECONDS
    folders = [checkpoint / "offsets", checkpoint / "commits"]
    while time.monotonic() < limit:
        if (checkpoint / "commits" / str(BATCHES_BEFORE)).exists() and left_over(folders):
            os.killpg(group, signal.SIGSTOP)
            time.sleep(0.05)
            if left_over(folders):
                return
            os.killpg(group, signal.SIGCONT)
    raise TimeoutError("no temporary file was seen")


def left_over(folders: list[Path]) -> bool:
    """Says whether a batch's temporary file is there."""
    return any(path.suffix == ".tmp" for folder in folders for path in folder.iterdir())


SHAPES = (Shape("killed", "killed while it wrote a log", killed, OLDEST_AND_NEWEST),)
