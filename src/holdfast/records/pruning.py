"""Removes what a bounded part of the records does not keep, and never stops anything by failing."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from holdfast.errors import StorageError
from holdfast.records.part import PartWriter
from holdfast.storage.reading import Reader
from holdfast.storage.writingtemporary import is_abandoned, is_temporary


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
