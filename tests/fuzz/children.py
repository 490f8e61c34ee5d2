"""Runs a piece of a test in a child process: with little memory, or bound by permission bits."""

from __future__ import annotations

import ctypes
import os
import resource
import traceback
from collections.abc import Callable
from pathlib import Path

_NOBODY = 65534
_PR_CAPBSET_DROP = 24
_CAPABILITIES = 64
"""More than any kernel has; those that it does not know it refuses."""


def in_child(
    act: Callable[[], str],
    *,
    most_bytes: int | None = None,
    as_nobody: bool = False,
    without_capabilities: bool = False,
) -> str:
    """Give what `act` gives there; where it raises, its traceback.

    Nobody can't read the files of a Python that lies in root's home. `without_capabilities` stays
    the same user, who can read what is its own unless the mode of a file forbids it.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        if without_capabilities:
            _drop_capabilities()
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


def give_up_capabilities() -> None:
    """Let permission bits bind this process and every program that it starts, root's too."""
    if os.geteuid() == 0:
        for capability in range(_CAPABILITIES):
            # What is not in the bounding set no program gets back.
            ctypes.CDLL(None).prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
    _drop_capabilities()


def _drop_capabilities() -> None:
    """Give up what lets root pass over permission bits (CAP_DAC_OVERRIDE and all others)."""
    version_3, none = 0x20080522, (ctypes.c_uint32 * 6)()
    header = (ctypes.c_uint32 * 2)(version_3, 0)
    if ctypes.CDLL(None, use_errno=True).capset(header, none) != 0:
        raise OSError(ctypes.get_errno(), "capset")
