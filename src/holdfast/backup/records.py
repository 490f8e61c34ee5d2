"""Opens everything that acts on one checkpoint: its reader and writer, its backups, its journal."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

from holdfast.backup.store import Store
from holdfast.records.acting import Acting, acting
from holdfast.records.folder import RecordsFolder
from holdfast.records.journal import Journal
from holdfast.records.leasesight import LeaseState
from holdfast.records.place import part_of_records, records_beside
from holdfast.storage.canonical import canonical
from holdfast.storage.location import Location, parse_location
from holdfast.storage.opening import open_reader
from holdfast.storage.options import StorageSettings
from holdfast.storage.reading import Reader
from holdfast.storage.showing import shown_path
from holdfast.storage.writing import Writer
from holdfast.storage.writingopening import open_writer

Opener = Callable[[Location, StorageSettings], Writer]


@dataclass(frozen=True)
class Records:
    """One checkpoint and what is kept beside it."""

    checkpoint: Reader
    identity: str
    """The checkpoint's canonical location; the same for every spelling of it."""
    store: Store
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
) -> Store:
    """Open the folder that holds backups."""
    return Store(open_reader(location, settings), opener(location, settings), location.url)


def reopened(url: str) -> Location:
    """Give the location of a store that a journal names."""
    if url.startswith("/"):
        return Location(url, "file", url, shown_path(url))
    return parse_location(url)
