"""Names the moments at which a process may be killed on purpose, and kills it there when asked.

`HOLDFAST_CRASH_AT=NAME` kills at the first time that the point is reached, `NAME:3` at the third.
Off, which is always outside of tests and demonstrations, a point costs one comparison.
"""

from __future__ import annotations

import os
import signal
from collections import Counter

VARIABLE = "HOLDFAST_CRASH_AT"

POINTS: dict[str, str] = {
    "batch.entered": "Spark planned the batch and called; nothing of it is kept yet",
    "batch.offsets-kept": "the copy of its offsets is kept; the sink was not called",
    "sink.before-commit": "the sink was about to commit the batch",
    "sink.after-commit": "the sink committed the batch; Spark did not",
    "files.staged": "all files of the batch are staged; they may not be on the disk yet",
    "files.flushed": "the staged files are on the disk; no manifest names them",
    "files.moved-away": "mode complete: the old output is away, and the new one not in its place",
    "files.published-one": "the batch is committed, and one more of its files is published",
    "files.published": "every file of the batch is published; leftovers may lie in staging",
    "files.cleaned": "leftovers are removed; the sink is about to return",
    "batch.left": "the sink is done; Spark is about to commit",
}
"""Every point, with what is true there."""

_wanted, _, _time = os.environ.get(VARIABLE, "").partition(":")
_reached: Counter[str] = Counter()


def reach(point: str) -> None:
    """Pass a point; the process dies here if that is what it was started for."""
    if _wanted and point == _wanted:
        _reached[point] += 1
        if _reached[point] == int(_time or 1):
            _die()


def _die() -> None:
    """Kill as a lost machine does: a leader of a process group takes its JVM with it."""
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpgrp(), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)
