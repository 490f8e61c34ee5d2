"""Removes what a bounded part of the records does not keep, and never stops anything by failing."""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.errors import StorageError
from holdfast.records.part import PartWriter
from holdfast.storage.writingtemporary import is_abandoned


def prune(writer: PartWriter, names: Iterable[str], outlived: Iterable[str]) -> StorageError | None:
    """Remove outlived files, and temporary ones that a killed process left; give what failed.

    Many may write to a bucket and few may delete from it: growing is better than not running.
    """
    left_behind = (name for name in names if is_abandoned(name))
    try:
        for name in sorted({*outlived, *left_behind}):
            writer.remove(name)
    except StorageError as error:
        return error
    return None
