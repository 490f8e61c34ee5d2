"""Holds a checkpoint's lease for an act on its files, and stops an act that lost it.

Every act takes the same steps: lease, journal checked, safety backup, intent, changes, outcome,
release. An act that was asleep finds at its next write that another one took over; it stops there
and leaves its journal entry open, so that somebody finishes the act or takes it back.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from holdfast.errors import LeaseError
from holdfast.records.confirming import ConfirmingWriter
from holdfast.records.folder import RecordsFolder
from holdfast.records.holder import Holder, this_holder
from holdfast.records.lease import Lease, take_lease
from holdfast.records.leasesight import LeaseState
from holdfast.storage.writing import Writer


@dataclass(frozen=True)
class Acting:
    """An act that holds the lease."""

    act: str
    lease: Lease

    @property
    def generation(self) -> int:
        """The generation of the lease."""
        return self.lease.generation

    def confirm(self) -> None:
        """Raise HF2610 unless the lease is still held."""
        try:
            self.lease.confirm()
        except LeaseError as error:
            message = f"the {self.act} lost the lease on the checkpoint: {error.message}"
            raise LeaseError("HF2610", message, at=error.at) from error

    def guard(self, writer: Writer) -> Writer:
        """Return a writer that changes nothing once the lease is lost."""
        return ConfirmingWriter(writer, self.confirm)


@contextmanager
def acting(
    folder: RecordsFolder,
    act: str,
    *,
    holder: Holder | None = None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
    waiting: Callable[[LeaseState], None] | None = None,
    beating: Callable[[Lease], None] = Lease.start_beating,
) -> Iterator[Acting]:
    """Hold the lease for an act; raise HF2601 where somebody else does.

    `waiting` is called once where the last holder is on another machine, before it is watched.
    `beating` starts the beats; who has a clock of its own beats by itself.
    """
    lease = take_lease(
        folder,
        job=folder.location.url.rpartition("/")[2],
        holder=holder or this_holder(None),
        act=act,
        clock=clock,
        sleep=sleep,
        waiting=waiting,
    )
    try:
        beating(lease)
        yield Acting(act, lease)
    finally:
        lease.release()
