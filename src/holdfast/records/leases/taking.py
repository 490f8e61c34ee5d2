"""Lets one driver at a time have a checkpoint; a driver that died never blocks the next for long.

Taking creates the file of the next generation, which succeeds for one taker only. Whether the last
holder lives is judged by its processes where they can be seen, else by whether its beat changes
while we watch: clocks of two machines are never compared. What the lease can't keep apart (a
driver that was asleep for a minute) the sink does.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field

from holdfast import __version__
from holdfast.errors import LeaseError, StorageError
from holdfast.records.documents import document_of, encode_document
from holdfast.records.folder import PartReader, PartWriter, RecordsFolder, prune
from holdfast.records.freshstarts import FRESH_STARTS_PART
from holdfast.records.history import generations_of_runs
from holdfast.records.journal import newest_generation
from holdfast.records.leases.lease import BEAT_SECONDS, EXPIRY_SECONDS, Lease
from holdfast.records.leases.state import (
    OWN_TOKENS,
    Claim,
    LeaseState,
    Standing,
    beat_name,
    claim_name,
    generations,
    look_at_lease,
)
from holdfast.records.moments import moment_now
from holdfast.records.moves import MOVES_PART
from holdfast.records.processes import Holder, lives
from holdfast.records.rewinds import REWINDS_PART
from holdfast.storage.beside import MOUNTINFO, mounted_alone

_MOUNTINFO = MOUNTINFO


def refuse_unshared(folder: RecordsFolder) -> None:
    """Raise HF2613 where the checkpoint is a mount and its records are not on one with it."""
    checkpoint = mounted_alone(folder.location, _MOUNTINFO)
    if checkpoint is not None:
        around, name = os.path.split(folder.location.url)
        parent = os.path.dirname(around)  # noqa: PTH120 - a text, which is shown
        message = f"{checkpoint} is a mount point, and {around} is on another file system"
        steps = (
            f"mount {parent} instead, with {name} inside it",
            f"or mount a shared directory at {around}, too, in every container that uses the "
            "checkpoint",
        )
        raise LeaseError("HF2613", message, at=folder.location.shown, next_steps=steps)


__all__ = [
    "BEAT_SECONDS",
    "EXPIRY_SECONDS",
    "KEPT_GENERATIONS",
    "Lease",
    "LeaseState",
    "Standing",
    "lease_state",
    "refuse_held",
    "take_lease",
]

KEPT_GENERATIONS = 20
_LOOK_SECONDS = 1.0
_MOST_CLAIMS = 50
_LONGEST_GAP = 2 * _LOOK_SECONDS
"""A longer time between two looks counts as this: who slept did not watch."""

_DEAD = (
    "a process that is dead is noticed by itself: at once on its own machine, after "
    f"{EXPIRY_SECONDS:.0f} s from another one"
)
_UNDER_AN_ACT = "the files of the checkpoint are being changed"
_AFTER_AN_ACT = ("wait until it is done, and try again", _DEAD)
_UNDER_A_RUN = (
    "Spark does not read changed files again: the running query would continue with what it has "
    "in memory, and rows would be lost or duplicated"
)
_AFTER_A_RUN = (
    "stop the job there, and try again",
    "--even-if-running does not override a lease",
    _DEAD,
)


def lease_state(folder: RecordsFolder) -> LeaseState | None:
    """Look once at who holds the lease; None where nobody ever did. Never waits, never writes."""
    return look_at_lease(folder.reader("lease"))


def refuse_held(folder: RecordsFolder, act: str | None = None) -> None:
    """Raise HF2601 where one look shows a holder that lives, HF2613 where no look could show it.

    `act` says what would be done to the checkpoint. Never waits, never writes.
    """
    refuse_unshared(folder)
    reader = folder.reader("lease")
    state = look_at_lease(reader)
    if state is not None and state.state is Standing.HELD:
        raise _in_use(state, reader.location, act)


def take_lease(
    folder: RecordsFolder,
    *,
    job: str,
    holder: Holder,
    project: str | None = None,
    act: str | None = None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
    waiting: Callable[[LeaseState], None] | None = None,
) -> Lease:
    """Take the lease, or raise HF2601 with who holds it, or HF2613 where it would not be shared.

    `act` says what is done to the checkpoint where that is not running the job. `waiting` is
    called once where the last holder can't be judged at once, before it is watched.
    """
    refuse_unshared(folder)
    return _Taker(
        folder=folder,
        job=job,
        holder=holder,
        project=project,
        act=act,
        clock=clock,
        sleep=sleep,
        waiting=waiting,
    ).lease()


@dataclass
class _Taker:
    """One attempt to take a lease."""

    folder: RecordsFolder
    job: str
    holder: Holder
    project: str | None
    act: str | None
    clock: Callable[[], float]
    sleep: Callable[[float], None]
    waiting: Callable[[LeaseState], None] | None
    reader: PartReader = field(init=False)
    writer: PartWriter = field(init=False)
    first: LeaseState | None = None
    """What was seen when watching began."""
    watched: float = 0.0
    looked_at: float = 0.0

    def __post_init__(self) -> None:
        self.reader = self.folder.reader("lease")
        self.writer = self.folder.writer("lease")

    def lease(self) -> Lease:
        """Look, wait and claim until the lease is ours or surely somebody's."""
        for _ in range(_MOST_CLAIMS):
            state = self._takeable()
            generation = self._lowest_free() if state is None else state.generation + 1
            lease = self._claimed(generation, None if state is None else _taken_over(state))
            if lease is not None:
                return lease
        message = f"other processes were faster {_MOST_CLAIMS} times"
        raise LeaseError("HF2601", message, at=self.reader.location)

    def _takeable(self) -> LeaseState | None:
        """Wait until the newest generation may be followed by ours; raise HF2601 if it lives."""
        while True:
            state = look_at_lease(self.reader)
            if state is None or state.state in (Standing.FREE, Standing.ABANDONED):
                return state
            if state.state is Standing.HELD or self._shows_life(state):
                raise _in_use(state, self.reader.location, self.act)
            if self.watched >= EXPIRY_SECONDS:
                return state
            self.sleep(_LOOK_SECONDS)

    def _shows_life(self, state: LeaseState) -> bool:
        """Compare with the first look at this generation, and count the time that was watched."""
        now = self.clock()
        if self.first is None or self.first.generation != state.generation:
            self.first, self.watched, self.looked_at = state, 0.0, now
            if self.waiting is not None:
                self.waiting(state)
        self.watched += min(now - self.looked_at, _LONGEST_GAP)
        self.looked_at = now
        return state.beat_content != self.first.beat_content

    def _lowest_free(self) -> int:
        """Go on after all that is on record: generations only grow, also when lease files are lost.

        What an act left counts as well: a driver that is older than a rewind would have it taken
        for one that came before.
        """
        known = [
            generation
            for part in ("runs", REWINDS_PART, FRESH_STARTS_PART, MOVES_PART)
            for generation in generations_of_runs(self.folder.reader(part).names())
        ]
        return max(newest_generation(self.folder.place("journal")), *known, 0) + 1

    def _claimed(self, generation: int, taken_over: str | None) -> Lease | None:
        """Claim a generation; None where another one was faster."""
        token = uuid.uuid4().hex
        claim = Claim(
            generation=generation,
            job=self.job,
            project=self.project,
            holder=self.holder,
            since=moment_now(),
            holdfast=__version__,
            token=token,
            act=self.act,
        )
        OWN_TOKENS.add(token)
        lease = None
        try:
            lease = self._created(claim, taken_over)
        finally:
            if lease is None:
                OWN_TOKENS.discard(token)
        return lease

    def _created(self, claim: Claim, taken_over: str | None) -> Lease | None:
        content = encode_document(document_of(claim))
        if not self.writer.create(claim_name(claim.generation), content):
            return None
        self.writer.settle()
        lease = Lease(self.reader, self.writer, claim, taken_over=taken_over, clock=self.clock)
        lease.show_life()
        if lease.lost:
            return None
        lease.failure = self._pruned()
        return lease

    def _pruned(self) -> StorageError | None:
        names = self.reader.names()
        outlived = generations(names)[KEPT_GENERATIONS:]
        files = (name(one) for one in outlived for name in (claim_name, beat_name))
        found = [file for file in files if file in names]
        return prune(self.writer, names, found, lambda: self.folder.place("lease"))


def _taken_over(state: LeaseState) -> str | None:
    if state.state is Standing.FREE:
        return None
    if state.state is Standing.ABANDONED:
        return f"{state.words}; its processes are gone"
    return f"{state.words}; no heartbeat for {EXPIRY_SECONDS:.0f} s"


def _in_use(state: LeaseState, at: str, act: str | None = None) -> LeaseError:
    message = f"the checkpoint is in use: {state.words}"
    if state.state is Standing.HELD and state.holder is not None:
        message += _outliving_jvm(state.holder)
    if state.act is not None:
        return LeaseError("HF2601", message, at=at, why=_UNDER_AN_ACT, next_steps=_AFTER_AN_ACT)
    if act is not None:
        return LeaseError("HF2601", message, at=at, why=_UNDER_A_RUN, next_steps=_AFTER_A_RUN)
    return LeaseError("HF2601", message, at=at)


def _outliving_jvm(holder: Holder) -> str:
    if holder.jvm is None or lives(holder.python) is not False:
        return ""
    return f"; its Python process is gone, but its JVM {holder.jvm.number} is still running"
