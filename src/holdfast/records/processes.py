"""Says whether a process of this machine still lives, also when its number was given out again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from holdfast.storage.writingtemporary import process_lives

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
    """Give the fields of /proc/N/stat from the state on; none where it can't be read."""
    try:
        content = (_PROCESSES / str(number) / "stat").read_bytes()
    except OSError:
        return []
    # The name before the fields stands in brackets and may itself hold brackets and blanks.
    return content.rpartition(b")")[2].decode("ascii", "replace").split()
