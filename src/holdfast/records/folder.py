"""The folder of records beside a checkpoint, and its parts: read, written and pruned."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from holdfast.errors import StorageError
from holdfast.storage.beside import beside, part_of
from holdfast.storage.location import Location
from holdfast.storage.opening import open_reader, open_writer
from holdfast.storage.options import StorageSettings
from holdfast.storage.reading import Reader
from holdfast.storage.writing import Writer


def records_beside(location: Location) -> Location:
    """Return the folder of a checkpoint's records."""
    return beside(location)


def part_of_records(records: Location, part: str) -> Location:
    """Return a folder of the records, such as `backups`."""
    return part_of(records, part)


@dataclass(frozen=True)
class PartReader:
    """Reads below a part of what another reader reads."""

    whole: Reader
    part: str

    @property
    def location(self) -> str:
        """Where this is, as shown to people."""
        return f"{self.whole.location}/{self.part}"

    def names(self, folder: str = "") -> frozenset[str]:
        """Names directly in a folder; empty when the folder is not there."""
        return self.whole.names(f"{self.part}/{folder}" if folder else self.part)

    def read(self, path: str) -> bytes:
        """Read a file; raise NotFoundError when it is not there any more."""
        return self.whole.read(f"{self.part}/{path}")

    def read_many(self, paths: Iterable[str]) -> Mapping[str, bytes | StorageError]:
        """Read several files side by side; a failure stands in place of the bytes."""
        start = len(self.part) + 1
        content = self.whole.read_many([f"{self.part}/{path}" for path in paths])
        return {path[start:]: read for path, read in content.items()}


@dataclass(frozen=True)
class PartWriter:
    """Writes below a part of what another writer writes."""

    whole: Writer
    part: str

    def create(self, path: str, content: bytes) -> bool:
        """Write a file that is not there yet; False, and nothing written, when one is."""
        return self.whole.create(f"{self.part}/{path}", (content,))

    def replace(self, path: str, content: bytes) -> None:
        """Write a file, in place of another one if need be."""
        self.whole.replace(f"{self.part}/{path}", (content,))

    def remove(self, path: str) -> None:
        """Remove a file; it is no error when it is not there."""
        self.whole.remove(f"{self.part}/{path}")

    def settle(self) -> None:
        """Return only when everything written so far survives a power cut."""
        self.whole.settle()


@dataclass(frozen=True)
class RecordsFolder:
    """What is kept beside one checkpoint.

    Its parts are `lease`, `runs`, `recordings`, `attempts`, `restarts`, `offsets` and `statements`.
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
        """Return a part for reading; nothing is asked of the storage yet."""
        return PartReader(self._reader, part)

    def writer(self, part: str) -> PartWriter:
        """Return a part for writing; nothing is asked of the storage yet."""
        return PartWriter(self._writer, part)

    # Connecting to an object store takes half a second: it is done once, and only by who needs it.
    @cached_property
    def _reader(self) -> Reader:
        return self.open_reader(self.location, self.settings)

    @cached_property
    def _writer(self) -> Writer:
        return self.open_writer(self.location, self.settings)


def records_of(checkpoint: Location, settings: StorageSettings) -> RecordsFolder:
    """Return the records of a checkpoint; every spelling of it has the same."""
    return RecordsFolder(records_beside(checkpoint), settings)


def prune(
    writer: PartWriter,
    names: Iterable[str],
    outlived: Iterable[str],
    place: Callable[[], Reader] | None = None,
) -> StorageError | None:
    """Remove outlived files, and temporary ones that a killed process left; give what failed.

    Many may write to a bucket and few may delete from it: growing is better than not running.
    `place` opens the part itself; it is listed only where the age of a temporary file decides.
    """
    try:
        for name in sorted({*outlived, *_left_behind(frozenset(names), place)}):
            writer.remove(name)
    except StorageError as error:
        return error
    return None


def _left_behind(names: frozenset[str], place: Callable[[], Reader] | None) -> Iterable[str]:
    # Who only reads records does not load what knows machines and processes.
    from holdfast.storage.machine import is_abandoned, is_temporary

    temporary = {name for name in names if is_temporary(name)}
    abandoned = {name for name in temporary if is_abandoned(name)}
    if temporary == abandoned or place is None:
        return abandoned
    items = place().list().items
    return abandoned | {
        item.path
        for item in items
        if item.path in temporary and is_abandoned(item.path, item.modified_ms)
    }
