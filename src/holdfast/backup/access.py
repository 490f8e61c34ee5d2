"""Opens a checkpoint with its backups and journal, and lets one act at a time work there.

Each worker creates the number after the highest one; `records/busy.py` decides whose file counts.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace

from holdfast.backup.store import BackupStore
from holdfast.errors import CheckpointError, NotFoundError, StorageError
from holdfast.records.busy import (
    FOLDER,
    TOKENS,
    encode_mark,
    held,
    mark_path,
    marked_numbers,
    worker,
)
from holdfast.records.folder import RecordsFolder, part_of_records, records_beside
from holdfast.records.journal import Journal
from holdfast.records.leases.acting import Acting, acting
from holdfast.records.leases.state import LeaseState
from holdfast.storage.location import Location, canonical, parse_location, shown_path
from holdfast.storage.opening import open_reader, open_writer
from holdfast.storage.options import StorageSettings
from holdfast.storage.reading import Reader
from holdfast.storage.writing import Writer


@contextmanager
def alone(store: BackupStore, act: str, generation: int | None = None) -> Iterator[bool]:
    """Hold the store for one act; raise HF4507 where somebody else does.

    Gives whether an act before this one was killed, so that there may be leftovers. `generation`
    is that of the lease on the checkpoint beside the store, for acts that take it.
    """
    token = uuid.uuid4().hex
    TOKENS.add(token)
    path: str | None = None
    try:
        path, killed = _entered(store, act, token, generation)
        with held(store.url, token):
            yield killed
    except BaseException:
        # Where the storage failed it fails here again: the first error says why.
        with suppress(StorageError):
            _leave(store, path, token)
        raise
    else:
        _leave(store, path, token)


def _leave(store: BackupStore, path: str | None, token: str) -> None:
    TOKENS.discard(token)
    if path is not None and _is_own(store, path, token):
        store.writer.remove(path)


def _entered(store: BackupStore, act: str, token: str, generation: int | None) -> tuple[str, bool]:
    numbers = marked_numbers(store.reader)
    _refuse_busy(store, act, numbers, generation)
    own = max(numbers, default=0) + 1
    if not store.writer.create(mark_path(own), (encode_mark(act, token, generation),)):
        raise _in_use(store, act, "another process was faster")
    others = [number for number in marked_numbers(store.reader) if number != own]
    try:
        _refuse_busy(store, act, others, generation)
    except CheckpointError:
        store.writer.remove(mark_path(own))
        raise
    for number in others:
        store.writer.remove(mark_path(number))
    return mark_path(own), bool(others)


def _is_own(store: BackupStore, path: str, token: str) -> bool:
    """Whether the mark is still ours: who slept for long may find another's under its number."""
    try:
        return token.encode() in store.reader.read(path)
    except NotFoundError:
        return False


def _refuse_busy(
    store: BackupStore, act: str, numbers: Sequence[int], generation: int | None
) -> None:
    other = worker(store.reader, numbers, generation=generation)
    if other is not None:
        raise _in_use(store, act, other)


def _in_use(store: BackupStore, act: str, other: str) -> CheckpointError:
    message = f"this {act} has to wait for another process: {other}"
    return CheckpointError("HF4507", message, at=f"{store.location}/{FOLDER}")


Opener = Callable[[Location, StorageSettings], Writer]


@dataclass(frozen=True)
class Records:
    """One checkpoint and what is kept beside it."""

    checkpoint: Reader
    identity: str
    """The checkpoint's canonical location; the same for every spelling of it."""
    store: BackupStore
    journal: Journal
    writer: Callable[[], Writer]
    """Opens the checkpoint itself for writing; only a restore calls it."""
    acting: Callable[[str], AbstractContextManager[Acting]]
    """Holds the checkpoint's lease for an act of this name."""
    folder: RecordsFolder
    """The parts that runs write: lease, history, copies of offsets."""

    @property
    def location(self) -> str:
        """The checkpoint, as shown to people."""
        return self.checkpoint.location

    def under(self, act: Acting) -> Records:
        """Return the same records, with writers that change nothing once the lease is lost."""
        return replace(
            self,
            store=replace(self.store, writer=act.guard(self.store.writer)),
            journal=replace(
                self.journal,
                writer=act.guard(self.journal.writer),
                # The first lease is the place's own; the others are those of jobs that write to it.
                generation=self.journal.generation or act.generation,
            ),
            writer=lambda: act.guard(self.writer()),
            folder=replace(
                self.folder,
                open_writer=lambda place, settings: act.guard(
                    self.folder.open_writer(place, settings)
                ),
            ),
        )


def open_records(
    location: Location,
    settings: StorageSettings,
    *,
    opener: Opener = open_writer,
    waiting: Callable[[LeaseState], None] | None = None,
) -> Records:
    """Open a checkpoint with its records; nothing is asked of the storage yet.

    `waiting` is called where an act waits to see whether the lease's holder is alive.
    """
    records = records_beside(location)
    folder = RecordsFolder(records, settings, opener)
    journal = part_of_records(records, "journal")
    return Records(
        checkpoint=open_reader(location, settings),
        identity=canonical(location).removeprefix("file://"),
        store=open_store(part_of_records(records, "backups"), settings, opener=opener),
        journal=Journal(
            open_reader(journal, settings), opener(journal, settings), folder.reader("runs")
        ),
        writer=lambda: opener(location, settings),
        acting=lambda act: acting(folder, act, waiting=waiting),
        folder=folder,
    )


def open_store(
    location: Location, settings: StorageSettings, *, opener: Opener = open_writer
) -> BackupStore:
    """Open the folder that holds backups."""
    return BackupStore(open_reader(location, settings), opener(location, settings), location.url)


def reopened(url: str) -> Location:
    """Return the location of a store that a journal names."""
    if url.startswith("/"):
        return Location(url, "file", url, shown_path(url))
    return parse_location(url)
