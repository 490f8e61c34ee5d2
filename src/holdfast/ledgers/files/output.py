"""Knows the places of a file sink: its output folder, and what is kept of it beside that folder.

Everything is reached from the folder around the output, so that a file can be moved from staging
to the output by one writer. `docs/reference/file-manifests.md` tells the layout to others.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from holdfast.errors import NotFoundError, SinkError, StorageError
from holdfast.storage.beside import FOLDER, MOUNTINFO, beside, mounted_alone
from holdfast.storage.filesystem import CONNECTIONS
from holdfast.storage.location import Location
from holdfast.storage.opening import open_reader, open_writer
from holdfast.storage.options import StorageSettings
from holdfast.storage.reading import FileKind, Listed, Reader
from holdfast.storage.writing import Writer

if TYPE_CHECKING:
    from holdfast.storage.filesystem import Instances

Opener = Callable[[Location, StorageSettings], Writer]
ReadingOpener = Callable[[Location, StorageSettings], Reader]

_MOUNTINFO = MOUNTINFO
MANIFESTS = "manifests"
STAGING = "staging"
PUBLISHED = "published"
A_FOLDER = "HF7013"
"""What reading says of a path that is no file."""


@dataclass(frozen=True)
class FileOutput:
    """An output folder as its sink and the readers of its manifests see it."""

    location: Location
    settings: StorageSettings
    opener: Opener = open_writer
    reading: ReadingOpener | None = None
    """Opens readers; None: those of the storage, which share their connections."""
    in_threads: bool = True
    """Move files of a remote storage side by side."""

    @cached_property
    def around(self) -> Location:
        """The folder that holds the output folder and `.holdfast`."""
        place = beside(self.location)
        url = place.url.removesuffix(f"/{FOLDER}/{self.name}")
        shown = place.shown.rpartition(f"/{FOLDER}/")[0]
        return replace(place, text=url or "/", url=url or "/", shown=shown or "/")

    @cached_property
    def name(self) -> str:
        """The output folder's own name; links are followed, so that it can be renamed."""
        return beside(self.location).url.rpartition("/")[2]

    @cached_property
    def reader(self) -> Reader:
        """Reads below `around`."""
        return self._open(self.around)

    @cached_property
    def writer(self) -> Writer:
        """Writes below `around`; raises StorageError where nothing can be created only once."""
        return self.opener(self.around, self.settings)

    @property
    def connections(self) -> int:
        """How many files are moved at once."""
        return 1 if self.around.is_local or not self.in_threads else CONNECTIONS

    def refuse_unwritable(self) -> None:
        """Raise StorageError where this storage can't create a file only once; write nothing."""
        self.opener(self.around, self.settings)

    def refuse_unshared(self) -> None:
        """Raise SinkError where the output is a mount, and what is kept beside it is not on one."""
        kept = beside(self.location)
        output = mounted_alone(kept, _MOUNTINFO)
        if output is None:
            return
        parent, _, name = output.rpartition("/")
        message = f"{output} is a mount point, and {parent}/{FOLDER} is on another file system"
        steps = (
            f"mount {parent or '/'} instead, with {name} inside it",
            f"or mount a shared directory at {parent}/{FOLDER}, too, in every container that runs "
            "the job",
        )
        raise SinkError("HF5028", message, at=kept.shown, next_steps=steps)

    @cached_property
    def _instances(self) -> Instances:
        """Connections to the storage, which every reader of this output shares."""
        return {}

    @property
    def manifests(self) -> str:
        """The folder of the manifests, below `around`."""
        return f"{FOLDER}/{self.name}/{MANIFESTS}"

    @property
    def staging(self) -> str:
        """The folder in which files are staged, below `around`."""
        return f"{FOLDER}/{self.name}/{STAGING}"

    @property
    def published(self) -> str:
        """The folder of the marks of published batches, below `around`."""
        return f"{FOLDER}/{self.name}/{PUBLISHED}"

    def staged_for(self, query_id: str) -> str:
        """Return the staging folder of a query."""
        return f"{self.staging}/{folder_name(query_id)}"

    def reader_of(self, folder: str) -> Reader:
        """Open a folder below `around` for listing it."""
        return self._open(below(self.around, folder))

    def files_in(self, folder: str) -> dict[str, Listed]:
        """Return every file below a folder by its path there; none where the folder is missing."""
        return {item.path: item for item in self._listed(folder) if item.kind is FileKind.FILE}

    def is_there(self, path: str) -> bool:
        """Return whether a file is there, by reading one byte of it."""
        try:
            self.reader.read(path, 0, 1)
        except NotFoundError:
            return False
        return True

    def exists(self) -> bool:
        """Return whether the output folder exists, by one look at it.

        Always True on object stores: a folder there exists only while it holds a file, so that one
        that retention emptied cannot be distinguished from one that was removed.
        """
        if not self.around.is_local:
            return True
        try:
            return self.is_there(self.name)
        except StorageError as error:
            if error.code.number == A_FOLDER:
                return True
            raise

    @contextmanager
    def kept_in_place(self) -> Iterator[Callable[[], bool]]:
        """Watch the output folder, and give what says whether it is still the same one.

        Held open, a folder that is removed keeps its number: no other one can have it. Always the
        same one where nothing can be held open, as on object stores.
        """
        try:
            held = os.open(self._path, os.O_RDONLY)
        except OSError:
            yield lambda: True
            return
        try:
            yield lambda: self._is_held(held)
        finally:
            os.close(held)

    def _is_held(self, held: int) -> bool:
        try:
            return os.path.samestat(os.fstat(held), self._path.stat())
        except FileNotFoundError:
            return False

    @property
    def _path(self) -> Path:
        """Where the output folder is on this machine, if it is."""
        return Path(self.around.url) / self.name

    def remove_tree(self, folder: str) -> None:
        """Remove a folder with everything in it; what vanishes meanwhile is no error."""
        items = list(self._listed(folder))
        for item in items:
            if item.kind is not FileKind.FOLDER:
                self.writer.remove(f"{folder}/{item.path}")
        for item in reversed(items):
            if item.kind is FileKind.FOLDER:
                self.writer.remove_folder(f"{folder}/{item.path}")
        self.writer.remove_folder(folder)

    def _open(self, location: Location) -> Reader:
        if self.reading is not None:
            return self.reading(location, self.settings)
        return open_reader(location, self.settings, instances=self._instances)

    def _listed(self, folder: str) -> Iterator[Listed]:
        try:
            yield from self.reader_of(folder).list().whole()
        except NotFoundError:
            return


def below(location: Location, folder: str) -> Location:
    """Return a folder below a place."""
    url, shown = (f"{one.rstrip('/')}/{folder}" for one in (location.url, location.shown))
    return replace(location, text=url, url=url, shown=shown)


def folder_name(query_id: str) -> str:
    """Spell a query id as one part of a path."""
    return quote(query_id, safe="")


def query_of(folder: str) -> str:
    """Read a query id from the part of a path that spells it."""
    return unquote(folder)


def is_hidden(path: str) -> bool:
    """Return whether Spark and pyarrow pass over a file; a partition's folder is never hidden."""
    return any(
        part.startswith(".") or (part.startswith("_") and "=" not in part)
        for part in path.split("/")
    )


def file_prefix(query_id: str) -> str:
    """Return what the names of the files of a query begin with: one that no reader hides."""
    return folder_name(query_id).replace("%", "-").lstrip(".-_")[:8]
