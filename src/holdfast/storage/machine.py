"""Identifies the machine on which a process number means something."""

from __future__ import annotations

import hashlib
import socket
import uuid
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
        boot = _BOOT.read_text(encoding="ascii").strip()
        namespace = str(_PROCESS_NAMESPACE.readlink())
    except OSError:
        boot, namespace = f"{uuid.getnode():x}", ""
    parts = "\n".join((boot, namespace, socket.gethostname()))
    return hashlib.sha256(parts.encode()).hexdigest()[:32]


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
