"""Says where Holdfast keeps what belongs to a folder: beside it, never inside.

`<parent>/.holdfast/<name>/` follows from the canonical location alone, so that every spelling of
one place, and every project that uses it, meets the same memory.
"""

from __future__ import annotations

import os

from holdfast.errors import StorageError
from holdfast.storage.canonical import canonical
from holdfast.storage.location import Location
from holdfast.storage.showing import shown_path

FOLDER = ".holdfast"


def beside(location: Location) -> Location:
    """Give the folder that belongs to a place; raise where nothing lies beside it."""
    if location.is_local:
        return _local(location)
    url = canonical(location)
    scheme, _, rest = url.partition("://")
    parent, slash, name = rest.rpartition("/")
    if not slash or not name or (scheme == "memory" and not parent.strip("/")):
        raise _nowhere(location)
    place = f"{scheme}://{parent}/{FOLDER}/{name}"
    head, _, _ = location.shown.rpartition("/")
    shown = f"{head}/{FOLDER}/{shown_path(name)}"
    return Location(place, location.scheme, place, shown)


def part_of(place: Location, part: str) -> Location:
    """Give a folder below a place, such as `backups`."""
    url = f"{place.url}/{part}"
    return Location(url, place.scheme, url, f"{place.shown}/{part}")


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
