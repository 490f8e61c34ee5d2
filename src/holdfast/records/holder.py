"""Who holds a lease, and whether that one is gone for sure."""

from __future__ import annotations

import getpass
import os
import socket
from dataclasses import dataclass
from enum import Enum

from holdfast.records.processes import Process, lives, process_here
from holdfast.storage.machine import this_machine

__all__ = [
    "Holder",
    "Presence",
    "is_gone",
    "presence",
    "this_holder",
    "this_machine",
    "user_here",
]


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
