"""Opens everything that acts on one checkpoint: its reader and writer, its backups, its journal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from holdfast.backup.store import Store
from holdfast.records.journal import Journal
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

    @property
    def location(self) -> str:
        """The checkpoint, as shown to people."""
        return self.checkpoint.location


def open_records(
    location: Location, settings: StorageSettings, *, opener: Opener = open_writer
) -> Records:
    """Open a checkpoint with its records; nothing is asked of the storage yet."""
    records = records_beside(location)
    journal = part_of_records(records, "journal")
    return Records(
        checkpoint=open_reader(location, settings),
        identity=canonical(location).removeprefix("file://"),
        store=open_store(part_of_records(records, "backups"), settings, opener=opener),
        journal=Journal(open_reader(journal, settings), opener(journal, settings)),
        writer=lambda: opener(location, settings),
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
