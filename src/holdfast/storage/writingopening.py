"""Chooses the writer for a location, or says why nothing may be written there."""

from __future__ import annotations

from holdfast.errors import StorageError
from holdfast.storage.location import Location
from holdfast.storage.options import StorageSettings
from holdfast.storage.writing import Writer


def open_writer(location: Location, settings: StorageSettings) -> Writer:
    """Open a place for writing; nothing is asked of the storage before the first write."""
    if location.is_local:
        from holdfast.storage.writinglocal import LocalWriter

        return LocalWriter(location.url, location.shown)
    # fsspec takes a quarter of a second to import: only who writes remotely pays for it.
    from holdfast.storage.filesystem import open_bare_filesystem
    from holdfast.storage.writingremote import WRITE_ONCE_SCHEMES, FsspecWriter

    if location.scheme not in WRITE_ONCE_SCHEMES:
        message = f"{location.scheme}: nobody has tried here whether it can create a file only once"
        raise StorageError("HF7014", message, at=location.shown)
    filesystem, root = open_bare_filesystem(location, settings)
    return FsspecWriter(filesystem, root, location.shown)
