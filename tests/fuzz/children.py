"""Runs a piece of a test in a child process: with little memory, or as a user without rights."""

from __future__ import annotations

import os
import resource
import traceback
from collections.abc import Callable
from pathlib import Path

_NOBODY = 65534


def in_child(
    act: Callable[[], str], *, most_bytes: int | None = None, as_nobody: bool = False
) -> str:
    """Give what `act` gives there; where it raises, its traceback."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.write(writing, _act(act, most_bytes, as_nobody).encode()[:60_000])
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as answer:
        text = answer.read().decode()
    os.waitpid(child, 0)
    return text


def _act(act: Callable[[], str], most_bytes: int | None, as_nobody: bool) -> str:
    try:
        if most_bytes is not None:
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            limit = pages * resource.getpagesize() + most_bytes
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        if as_nobody and os.geteuid() == 0:
            os.setgroups([])
            os.setgid(_NOBODY)
            os.setuid(_NOBODY)
        return act()
    except Exception:  # noqa: BLE001 - the parent shows it
        return traceback.format_exc()
