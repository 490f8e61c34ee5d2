"""Says where Holdfast keeps what belongs to a checkpoint: beside it, never inside.

`<parent>/.holdfast/<name>/` follows from the canonical location alone, so that every spelling of
one checkpoint, and every project that adopts it, meets the same backups and the same journal.
"""

from __future__ import annotations

import os

from holdfast.errors import StorageError
from holdfast.storage.canonical import canonical
from holdfast.storage.location import Location
from holdfast.storage.showing import shown_path

FOLDER = ".holdfast"


def records_beside(location: Location) -> Location:
    """Give the folder of a checkpoint's records."""
    if location.is_local:
        return _local(location)
    url = canonical(location)
    scheme, _, rest = url.partition("://")
    parent, slash, name = rest.rpartition("/")
    if not slash or not name or (scheme == "memory" and not parent.strip("/")):
        raise _nowhere(location)
    beside = f"{scheme}://{parent}/{FOLDER}/{name}"
    head, _, _ = location.shown.rpartition("/")
    shown = f"{head}/{FOLDER}/{shown_path(name)}"
    return Location(beside, location.scheme, beside, shown)


def part_of_records(records: Location, part: str) -> Location:
    """Give a folder of the records, such as `backups`."""
    url = f"{records.url}/{part}"
    return Location(url, records.scheme, url, f"{records.shown}/{part}")


def _local(location: Location) -> Location:
    real = os.path.realpath(location.url)
    parent, name = os.path.split(real)
    if not name:
        raise _nowhere(location)
    path = f"{parent.rstrip('/')}/{FOLDER}/{name}"
    head, slash, last = location.shown.rpartition("/")
    if real == location.url and last == shown_path(name) and ":" not in head:
        return Location(path, "file", path, f"{head}{slash}{FOLDER}/{last}")
    return Location(path, "file", path, shown_path(path))


def _nowhere(location: Location) -> StorageError:
    return StorageError("HF4514", "nothing lies beside a root", at=location.shown)
