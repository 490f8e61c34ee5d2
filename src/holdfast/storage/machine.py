"""Which machine and process wrote a temporary file, and whether they still live."""

from __future__ import annotations

import hashlib
import os
import re
import socket
import time
import uuid
from functools import cache
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_PROCESS_NAMESPACE = Path("/proc/self/ns/pid")
_MACHINE_ID = Path("/etc/machine-id")
_FIRST_NAMESPACE = "pid:[4026531836]"
"""The one that every process of a machine is in, unless it is in a container."""


def this_machine() -> str:
    """Return a digest of everything that process numbers depend on.

    The host name alone does not do: two containers may share it, and see different processes.
    """
    try:
        boot = _boot_id(_BOOT)
        namespace = str(_PROCESS_NAMESPACE.readlink())
    except OSError:
        boot, namespace = f"{uuid.getnode():x}", ""
    parts = "\n".join((boot, namespace, socket.gethostname()))
    return hashlib.sha256(parts.encode()).hexdigest()[:32]


@cache
def _boot_id(file: Path) -> str:
    """Return what the kernel calls this boot: read once, because every temporary name has it."""
    return file.read_text(encoding="ascii").strip()


def lasting_machine() -> str | None:
    """Return what stays the same when this machine starts again; None where nothing tells that.

    In a container nothing does: its host name and machine id may be those of another one.
    """
    try:
        if str(_PROCESS_NAMESPACE.readlink()) != _FIRST_NAMESPACE:
            return None
        machine = _MACHINE_ID.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return None
    if not machine:
        return None
    parts = "\n".join((machine, socket.gethostname()))
    return hashlib.sha256(parts.encode()).hexdigest()[:32]


ABANDONED_SECONDS = 24 * 3600
"""After this long without a change, a file of a process that cannot be seen from here is left over.
"""
_NAME = re.compile(
    r"\.holdfast-(?P<machine>[0-9a-f]{8}|[0-9a-f]{16})-(?P<process>\d+)-[0-9a-f]{12}\.tmp"
)
"""Eight digits were the digest of the host name alone, which two containers may share: such a name
says nothing about who is alive."""


def temporary_name() -> str:
    """Return a name for a temporary file of this process; Spark ignores names with a dot first."""
    return f".holdfast-{_machine_mark()}-{os.getpid()}-{uuid.uuid4().hex[:12]}.tmp"


def is_temporary(path: str) -> bool:
    """Whether a file is a temporary one of ours, whoever writes it."""
    return _NAME.fullmatch(path.rpartition("/")[2]) is not None


def is_abandoned(path: str, modified_ms: int | None = None, now_ms: int | None = None) -> bool:
    """Whether a temporary file is left over: its process is gone, or it is older than a day.

    Without `modified_ms` only a process of this machine can be known to be gone.
    """
    found = _NAME.fullmatch(path.rpartition("/")[2])
    if found is None:
        return False
    if found["machine"] == _machine_mark():
        return not process_lives(int(found["process"]))
    if modified_ms is None:
        return False
    now = time.time() * 1000 if now_ms is None else now_ms
    return now - modified_ms > ABANDONED_SECONDS * 1000


def process_lives(number: int) -> bool:
    """Whether a process with this number exists on this machine."""
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _machine_mark() -> str:
    return this_machine()[:16]
