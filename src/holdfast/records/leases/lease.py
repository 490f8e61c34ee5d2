"""A lease that this process holds: it beats, confirms before each batch, and gives it back.

Only the owner writes to its generation, so nothing is ever compared and swapped. Whoever was too
slow to beat finds a newer generation in the listing, or another claim of its own one, and stops.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from uuid import uuid4

from holdfast.errors import LeaseError, NotFoundError, StorageError
from holdfast.records.documents import (
    UnreadableError,
    decode_document,
    document_of,
    encode_document,
)
from holdfast.records.folder import PartReader, PartWriter
from holdfast.records.leases.state import (
    OWN_TOKENS,
    Beat,
    BeatState,
    Claim,
    beat_name,
    claim_name,
    generations,
    look_at_lease,
)
from holdfast.records.moments import moment_now

BEAT_SECONDS = 5.0
EXPIRY_SECONDS = 30.0
"""How long others watch without seeing a beat before they take over."""
MARGIN_SECONDS = 5.0
"""How long before others may take over an owner that can't beat stops by itself."""

_LONGEST_BEAT = 5.0


class Lease:
    """One generation, held; `taken_over` says in words whose, None where it was free."""

    def __init__(
        self,
        reader: PartReader,
        writer: PartWriter,
        claim: Claim,
        *,
        taken_over: str | None,
        clock: Callable[[], float],
    ) -> None:
        self.claim = claim
        self.taken_over = taken_over
        self.failure: StorageError | None = None
        """What failed last without stopping anything: a beat, the release, a removal."""
        self._reader = reader
        self._writer = writer
        self._clock = clock
        self._counter = 0
        self._beaten_at = clock()
        self._loss: str | None = None
        self._writing = threading.Lock()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def generation(self) -> int:
        """The number of this holder: each take-over has a higher one."""
        return self.claim.generation

    @property
    def lost(self) -> bool:
        """Whether this lease must not be relied upon any more; asks no storage."""
        return self._loss is not None or self._silent_seconds() > EXPIRY_SECONDS - MARGIN_SECONDS

    def start_beating(self) -> None:
        """Beat every few seconds in the background until released or lost."""
        if self._thread is None:
            name = f"holdfast-lease-{self.generation}"
            self._thread = threading.Thread(target=self._keep_beating, name=name, daemon=True)
            self._thread.start()

    def beat(self) -> None:
        """Show that the owner lives, and look whether another took over.

        A storage that fails is kept in `failure` and tried again at the next beat.
        """
        with self._writing:
            if self._ended.is_set() or self._loss is not None:
                return
            try:
                self.show_life()
            except StorageError as error:
                self.failure = error

    def show_life(self) -> None:
        """Beat once; raise StorageError where that fails."""
        began = self._clock()
        self._write(BeatState.HELD)
        self._beaten_at = began
        self._look()

    def confirm(self) -> None:
        """Raise HF2602 unless this is still the newest generation and others see that it lives."""
        silent = self._silent_seconds()
        if self._loss is None and silent > EXPIRY_SECONDS - MARGIN_SECONDS:
            reason = "" if self.failure is None else f": {self.failure.message}"
            self._loss = f"no heartbeat could be written for {silent:.0f} s{reason}"
        if self._loss is None:
            self._look()
        if self._loss is not None:
            raise LeaseError("HF2602", self._loss, at=self._reader.location)

    def raised(self, above: int) -> Lease:
        """Return the same lease under a generation greater than `above`, in place of this one.

        Raise HF2602 where another one took over: whoever claims two generations at once sees the
        other claim, so that at most one of both goes on.
        """
        self.confirm()
        claim = replace(self.claim, generation=above + 1, since=moment_now(), token=uuid4().hex)
        lease = Lease(self._reader, self._writer, claim, taken_over=self.taken_over,
                      clock=self._clock)  # fmt: skip
        OWN_TOKENS.add(claim.token)
        try:
            lease._claim(self.generation)
        except BaseException:
            OWN_TOKENS.discard(claim.token)
            raise
        self._ended.set()
        OWN_TOKENS.discard(self.claim.token)
        return lease

    def release(self) -> None:
        """Release it, so that the next one need not wait; an error is kept in `failure`."""
        self._ended.set()
        OWN_TOKENS.discard(self.claim.token)
        # A beat that hangs in the storage would hold this up: then the lease just expires.
        if not self._writing.acquire(timeout=_LONGEST_BEAT):
            message = f"writing a heartbeat has not returned for {_LONGEST_BEAT:.0f} s"
            self.failure = StorageError("HF7007", message, at=self._reader.location)
            return
        try:
            if self._loss is None:
                self._loss = self._foreign_claim()
            if self._loss is None:
                self._write(BeatState.RELEASED)
        except StorageError as error:
            self.failure = error
        finally:
            self._writing.release()

    def _claim(self, before: int) -> None:
        """Create the file of this generation; raise HF2602 where one after `before` is there."""
        content = encode_document(document_of(self.claim))
        if not self._writer.create(claim_name(self.generation), content):
            message = f"generation {self.generation} took over{self._successor()}"
            raise LeaseError("HF2602", message, at=self._reader.location)
        try:
            self._writer.settle()
            self.show_life()
            found = generations(self._reader.names())
            others = [one for one in found if one > before and one != self.generation]
            if others:
                message = f"generation {max(others)} took over"
                raise LeaseError("HF2602", message, at=self._reader.location)
        except BaseException:
            # Whatever the others are: nobody shall wait for a claim that is given up.
            self._loss = None
            self.release()
            raise

    def _keep_beating(self) -> None:
        while not self._ended.wait(BEAT_SECONDS) and self._loss is None:
            self.beat()

    def _write(self, state: BeatState) -> None:
        self._counter += 1
        beat = Beat(self._counter, moment_now(), state)
        content = encode_document(document_of(beat))
        self._writer.replace(beat_name(self.generation), content)

    def _look(self) -> None:
        newest = max(generations(self._reader.names()), default=0)
        if newest > self.generation:
            self._loss = f"generation {newest} took over{self._successor()}"
        elif newest < self.generation:
            self._loss = f"the files of generation {self.generation} are missing"
        else:
            self._loss = self._foreign_claim()

    def _foreign_claim(self) -> str | None:
        """Say what became of the claim of this generation where it is not our own any more.

        Where the folder was deleted, generations are counted from 1 again.
        """
        name = claim_name(self.generation)
        try:
            claim = decode_document(Claim, self._reader.read(name))
        except NotFoundError:
            return f"the claim of generation {self.generation} is missing"
        except UnreadableError:
            return f"the claim of generation {self.generation} can no longer be read"
        if claim.token == self.claim.token:
            return None
        return f"generation {self.generation} was claimed again: {claim.words}"

    def _successor(self) -> str:
        """Name who took over, if that can be read."""
        try:
            state = look_at_lease(self._reader)
        except StorageError:
            return ""
        return "" if state is None else f": {state.words}"

    def _silent_seconds(self) -> float:
        return self._clock() - self._beaten_at
