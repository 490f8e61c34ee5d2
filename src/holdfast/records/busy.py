"""Tells whether a backup or restore is at work on a checkpoint, by the marks that workers leave.

`backups/busy/<number>` is there while a worker is. A mark whose process is gone counts as
abandoned. Where that cannot be seen from here, one that is older than a day does, so that a kill
blocks nobody for longer; as clocks may be wrong, each worker looks whether its own mark is left.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import MappingProxyType

from holdfast.errors import NotFoundError
from holdfast.records.processes import Process, lives, process_here
from holdfast.storage.machine import ABANDONED_SECONDS, lasting_machine, this_machine
from holdfast.storage.reading import Reader

FOLDER = "busy"
_HELD: ContextVar[Mapping[str, str]] = ContextVar("held", default=MappingProxyType({}))
"""The stores that are held here, by their places, with the tokens of their marks."""
TOKENS: set[str] = set()
"""What this process holds; a mark of this process that is not among them was left by a failure."""


@dataclass(frozen=True)
class _Mark:
    """Who left a mark, as far as it can be read."""

    act: str
    machine: str
    """A digest of the host name alone in marks of older releases: it matches no machine."""
    process: Process
    token: str
    age_seconds: float
    generation: int | None
    """The lease under which the act works, where it takes one."""
    lasting: str | None
    """The machine, whenever it was started; None where that is unknown."""


def encode_mark(act: str, token: str, generation: int | None = None) -> bytes:
    """Return the mark of this process."""
    here = process_here(os.getpid())
    mark = {"act": act, "host": this_machine(), "process": here.number, "started": here.started}
    lasting = lasting_machine()
    if lasting is not None:
        mark["lasting"] = lasting
    if generation is not None:
        mark["generation"] = generation
    return json.dumps({**mark, "token": token, "since": time.time()}).encode()


def marked_numbers(backups: Reader) -> list[int]:
    """Return the numbers of all marks, of living workers and of others."""
    return [int(name) for name in backups.names(FOLDER) if name.isdigit()]


def mark_path(number: int) -> str:
    """Name the file of a mark below `backups`."""
    return f"{FOLDER}/{number:08d}"


@contextmanager
def held(place: str, token: str) -> Iterator[None]:
    """Remember that a store is held under this token, for whoever works on it inside."""
    before = _HELD.get()
    _HELD.set({**before, place: token})
    try:
        yield
    finally:
        _HELD.set(before)


def has_lost(backups: Reader, place: str) -> bool:
    """Whether a store was held here, and somebody who took the mark for abandoned removed it."""
    token = _HELD.get().get(place)
    if token is None:
        return False
    for number in marked_numbers(backups):
        try:
            if token.encode() in backups.read(mark_path(number)):
                return False
        except NotFoundError:
            continue  # its owner is done
    return True


def is_busy(backups: Reader, numbers: Iterable[int] | None = None) -> bool:
    """Whether one of the marks, or of all marks, belongs to somebody who may still be at work."""
    return worker(backups, numbers) is not None


def worker(
    backups: Reader, numbers: Iterable[int] | None = None, *, generation: int | None = None
) -> str | None:
    """Describe somebody who may still be at work; None where nobody is.

    The holder of a lease passes its `generation`: an act under an older one has lost its lease and
    stops at its next write.
    """
    for number in marked_numbers(backups) if numbers is None else numbers:
        try:
            content = backups.read(mark_path(number))
        except NotFoundError:
            continue  # its owner is done
        mark = _decoded(content)
        if mark is None:
            return f"{backups.location}/{mark_path(number)} cannot be read"
        if not _is_abandoned(mark, generation):
            return _words(mark)
    return None


def _decoded(content: bytes) -> _Mark | None:
    try:
        mark = json.loads(content)
        started, generation = mark.get("started"), mark.get("generation")
        return _Mark(
            act=str(mark["act"]),
            machine=str(mark["host"]),
            process=Process(int(mark["process"]), None if started is None else str(started)),
            token=str(mark["token"]),
            age_seconds=time.time() - float(mark["since"]),
            generation=None if generation is None else int(generation),
            lasting=mark.get("lasting"),
        )
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return None


def _is_abandoned(mark: _Mark, generation: int | None) -> bool:
    if generation is not None and mark.generation is not None and mark.generation < generation:
        return True
    here = mark.machine == this_machine()
    if not here and mark.lasting is not None and mark.lasting == lasting_machine():
        return True  # this machine was started again since
    if here and mark.process == process_here(os.getpid()):
        return mark.token not in TOKENS
    is_living = lives(mark.process) if here else None
    # A clock that was set says nothing about a process that is seen.
    return mark.age_seconds > ABANDONED_SECONDS if is_living is None else not is_living


def _words(mark: _Mark) -> str:
    if mark.machine == this_machine():
        return f"a {mark.act} by process {mark.process.number} of this machine"
    hours = max(0.0, ABANDONED_SECONDS - mark.age_seconds) / 3600
    return (
        f"a {mark.act} by process {mark.process.number} of another machine or container, or of an "
        f"older release; if it was killed, its mark expires in {hours:.1f} h"
    )
