"""Opens the parts of a checkpoint's records for reading and writing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from holdfast.records.part import PartReader, PartWriter
from holdfast.records.place import part_of_records, records_beside
from holdfast.storage.location import Location
from holdfast.storage.opening import open_reader
from holdfast.storage.options import StorageSettings
from holdfast.storage.reading import Reader
from holdfast.storage.writing import Writer
from holdfast.storage.writingopening import open_writer


@dataclass(frozen=True)
class RecordsFolder:
    """What is kept beside one checkpoint.

    Its parts are `lease`, `runs`, `attempts`, `restarts`, `offsets` and `statements`.
    """

    location: Location
    settings: StorageSettings
    open_writer: Callable[[Location, StorageSettings], Writer] = open_writer
    open_reader: Callable[[Location, StorageSettings], Reader] = open_reader

    def names(self) -> frozenset[str]:
        """Name the parts that are there."""
        return self._reader.names("")

    def place(self, part: str) -> Reader:
        """Open a part as a place of its own, which can be listed."""
        return self.open_reader(part_of_records(self.location, part), self.settings)

    def reader(self, part: str) -> PartReader:
        """Give a part for reading; nothing is asked of the storage yet."""
        return PartReader(self._reader, part)

    def writer(self, part: str) -> PartWriter:
        """Give a part for writing; nothing is asked of the storage yet."""
        return PartWriter(self._writer, part)

    # Connecting to an object store takes half a second: it is done once, and only by who needs it.
    @cached_property
    def _reader(self) -> Reader:
        return self.open_reader(self.location, self.settings)

    @cached_property
    def _writer(self) -> Writer:
        return self.open_writer(self.location, self.settings)


def records_of(checkpoint: Location, settings: StorageSettings) -> RecordsFolder:
    """Give the records of a checkpoint; every spelling of it has the same."""
    return RecordsFolder(records_beside(checkpoint), settings)
