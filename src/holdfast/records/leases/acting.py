"""Holds a checkpoint's lease for an act on its files, and stops an act that lost it.

Every act takes the same steps: lease, journal checked, safety backup, intent, changes, outcome,
release. An act that was asleep finds at its next write that another one took over; it stops there
and leaves its journal entry open, so that somebody finishes the act or takes it back.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from holdfast.errors import LeaseError
from holdfast.records.folder import RecordsFolder
from holdfast.records.journal import newest_generation
from holdfast.records.leases.state import LeaseState
from holdfast.records.leases.taking import Lease, take_lease
from holdfast.records.processes import Holder, this_holder
from holdfast.storage.writing import Narrowable, Writer, narrowed

_OF_RESTORE = (
    "holdfast status shows who uses the checkpoint now",
    "holdfast restore --finish TARGET, or holdfast restore --undo TARGET",
)
"""Other acts are those of plans."""


@dataclass(frozen=True)
class ConfirmingWriter:
    """Writes through another writer; `confirm` raises where nothing may be changed any more.

    A file is confirmed when all of its bytes are handed over, right before it becomes visible.
    """

    writer: Writer
    confirm: Callable[[], None]

    @property
    def location(self) -> str:
        """Where this is, as shown to people."""
        return self.writer.location

    def create(self, path: str, chunks: Iterable[bytes]) -> bool:
        """Write a file that is not there yet."""
        return self.writer.create(path, self._confirmed(chunks))

    def replace(self, path: str, chunks: Iterable[bytes]) -> None:
        """Write a file, in place of another one if need be."""
        self.writer.replace(path, self._confirmed(chunks))

    def remove(self, path: str) -> None:
        """Remove a file."""
        self.confirm()
        self.writer.remove(path)

    def move(self, source: str, target: str) -> None:
        """Rename a file."""
        self.confirm()
        self.writer.move(source, target)

    def move_folder(self, source: str, target: str) -> None:
        """Rename a folder."""
        self.confirm()
        self.writer.move_folder(source, target)

    def flush(self, path: str) -> None:
        """Bring a file to the disk; changes nothing that a reader sees."""
        self.writer.flush(path)

    def make_folder(self, path: str) -> None:
        """Make a folder."""
        self.confirm()
        self.writer.make_folder(path)

    def remove_folder(self, path: str) -> None:
        """Remove an empty folder."""
        self.confirm()
        self.writer.remove_folder(path)

    def narrowed(self, files: int, folders: int) -> Writer:
        """Return a writer whose files and folders are open to no more than these modes say."""
        return ConfirmingWriter(narrowed(self.writer, files, folders), self.confirm)

    def narrow(self, path: str) -> None:
        """Take rights from a file or folder that is there."""
        self.confirm()
        if isinstance(self.writer, Narrowable):
            self.writer.narrow(path)

    def settle(self) -> None:
        """Bring everything to the disk; changes nothing that a reader sees."""
        self.writer.settle()

    def _confirmed(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        yield from chunks
        self.confirm()


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
            steps = _OF_RESTORE if self.act.startswith("restore") else None
            raise LeaseError("HF2610", message, at=error.at, next_steps=steps) from error

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
        # Whoever deletes the files of the lease has generations counted from the runs again.
        known = newest_generation(folder.place("journal"))
        if known >= lease.generation:
            lease = lease.raised(known)
        beating(lease)
        yield Acting(act, lease)
    finally:
        lease.release()
