"""Chooses the reader or the writer for a location, or says why nothing may be written there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.errors import StorageError
from holdfast.storage.local import LocalReader
from holdfast.storage.location import OBJECT_STORES, Location
from holdfast.storage.options import StorageSettings
from holdfast.storage.reading import Reader
from holdfast.storage.writing import Writer

if TYPE_CHECKING:
    from holdfast.storage.filesystem import Instances


_LONGEST_SECONDS = 1e8
"""Clocks of some platforms cannot wait much longer."""


def open_reader(
    location: Location,
    settings: StorageSettings,
    *,
    timeout: float | None = None,
    instances: Instances | None = None,
) -> Reader:
    """Open a place for reading; nothing is asked of the storage before the first read.

    Places that are opened with the same `instances` share the connections to their storage.
    """
    reader = _local(location) if location.is_local else _remote(location, settings, instances)
    if timeout is None:
        return reader
    from holdfast.storage.retrying import TimedReader

    return TimedReader(reader, min(timeout, _LONGEST_SECONDS))


def _local(location: Location) -> Reader:
    return LocalReader(location.url, location.shown)


def _remote(location: Location, settings: StorageSettings, instances: Instances | None) -> Reader:
    # fsspec takes a quarter of a second to import: only who reads remotely pays for it.
    from holdfast.storage.filesystem import open_filesystem
    from holdfast.storage.remote import FsspecReader
    from holdfast.storage.retrying import RetryingReader

    filesystem, root = open_filesystem(location, settings, instances)
    object_store = location.scheme in OBJECT_STORES
    return RetryingReader(FsspecReader(filesystem, root, location.shown, object_store=object_store))


def open_writer(location: Location, settings: StorageSettings) -> Writer:
    """Open a place for writing; nothing is asked of the storage before the first write."""
    if location.is_local:
        from holdfast.storage.localwriter import LocalWriter

        return LocalWriter(location.url, location.shown)
    # fsspec takes a quarter of a second to import: only who writes remotely pays for it.
    from holdfast.storage.filesystem import open_bare_filesystem
    from holdfast.storage.remote import WRITE_ONCE_SCHEMES, FsspecWriter

    if location.scheme not in WRITE_ONCE_SCHEMES:
        message = (
            f"{location.scheme}: it is unknown whether this storage can create a file atomically"
        )
        raise StorageError("HF7014", message, at=location.shown)
    filesystem, root = open_bare_filesystem(location, settings)
    return FsspecWriter(filesystem, root, location.shown)
