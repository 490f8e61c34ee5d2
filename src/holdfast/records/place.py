"""Says where the records of a checkpoint are: in the folder that belongs to it, beside it."""

from __future__ import annotations

from holdfast.storage.beside import FOLDER, beside, part_of
from holdfast.storage.location import Location

__all__ = ["FOLDER", "part_of_records", "records_beside"]


def records_beside(location: Location) -> Location:
    """Give the folder of a checkpoint's records."""
    return beside(location)


def part_of_records(records: Location, part: str) -> Location:
    """Give a folder of the records, such as `backups`."""
    return part_of(records, part)
