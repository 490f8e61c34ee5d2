"""Processes and drivers of this machine: who they are, and whether they still live."""

from __future__ import annotations

import getpass
import os
import socket
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from holdfast.storage.machine import process_lives, this_machine

_ENDED = frozenset({"Z", "X", "x"})
_PROCESSES = Path("/proc")


@dataclass(frozen=True)
class Process:
    """A process by its number, and when it started, which tells it from a later one."""

    number: int
    started: str | None
    """Ticks since the machine was started; None where the system does not tell."""


def process_here(number: int) -> Process:
    """Describe a process that lives on this machine."""
    return Process(number, _started(number))


def lives(process: Process) -> bool | None:
    """Whether a process of this machine lives; None where nobody can say."""
    if process.number <= 0 or not process_lives(process.number):
        return False
    if _has_ended(process.number):
        return False
    started = _started(process.number)
    if started is None or process.started is None:
        # Its number may have been given to another process.
        return None if process_lives(process.number) else False
    return started == process.started


def _started(number: int) -> str | None:
    fields = _status(number)
    return fields[19] if len(fields) > 19 else None


def _has_ended(number: int) -> bool:
    """Whether only its exit status is left, for a parent that does not fetch it."""
    fields = _status(number)
    if not fields or fields[0] not in _ENDED:
        return False
    try:
        threads = sum(1 for _ in (_PROCESSES / str(number) / "task").iterdir())
    except OSError:
        return True
    return threads <= 1


def _status(number: int) -> list[str]:
    """Return the fields of /proc/N/stat from the state on; none where it cannot be read."""
    try:
        content = (_PROCESSES / str(number) / "stat").read_bytes()
    except OSError:
        return []
    # The name before the fields stands in brackets and may itself hold brackets and blanks.
    return content.rpartition(b")")[2].decode("ascii", "replace").split()


class Presence(Enum):
    """What can be said of a holder from here."""

    HERE = "here"
    """One of its processes lives on this machine."""
    GONE = "gone"
    """It was on this machine, and none of its processes lives."""
    UNCLEAR = "unclear"
    """It is on another machine, or this one does not tell."""


@dataclass(frozen=True)
class Holder:
    """A driver: the Python process and its JVM, on one machine."""

    host: str
    machine: str
    """Equal means that process numbers mean the same: one boot, one process namespace, one host."""
    python: Process
    jvm: Process | None
    user: str

    @property
    def words(self) -> str:
        """Name it for people."""
        jvm = "" if self.jvm is None else f", JVM {self.jvm.number}"
        return f"{self.user} on {self.host} (process {self.python.number}{jvm})"


def this_holder(jvm: int | None) -> Holder:
    """Describe this process, with the number of its JVM if it has one."""
    return Holder(
        host=socket.gethostname(),
        machine=this_machine(),
        python=process_here(os.getpid()),
        jvm=None if jvm is None else process_here(jvm),
        user=user_here(),
    )


def presence(holder: Holder) -> Presence:
    """Say whether a holder is here, gone, or not to be judged from here."""
    if holder.machine != this_machine():
        return Presence.UNCLEAR
    processes = (holder.python,) if holder.jvm is None else (holder.python, holder.jvm)
    living = [lives(process) for process in processes]
    if any(living):
        return Presence.HERE
    return Presence.UNCLEAR if None in living else Presence.GONE


def is_orphaned(holder: Holder) -> bool:
    """Whether the Python process is gone and its JVM, which ends soon after it, still lives."""
    if holder.machine != this_machine() or holder.jvm is None:
        return False
    return lives(holder.python) is False and lives(holder.jvm) is True


def is_gone(holder: Holder) -> bool:
    """Whether the holder was on this machine and both its Python and its JVM are gone."""
    return presence(holder) is Presence.GONE


def user_here() -> str:
    """Name the user of this process, by a number where it has no name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        # A container may run under a number that has no name.
        return str(os.getuid())
