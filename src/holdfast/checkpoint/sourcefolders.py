"""Tells which folder below sources/ belongs to which source, and which hold a file source's log."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.checkpoint.layout import Layout, SourceFiles
from holdfast.format.logs.filelog import effective_interval, needed_ids
from holdfast.format.logs.offsets import OffsetsEntry

_FILE_OFFSET = '"logOffset"'


def folder_of(entry: OffsetsEntry, position: int, layout: Layout) -> str | None:
    """Name the folder of the source at this position of an offsets entry.

    The same stream used twice in a query has two positions but one folder, the earlier one's.
    """
    source = entry.sources[position]
    if source.name in layout.sources:
        return source.name
    order = in_order(entry)
    for earlier in (entry.sources[at] for at in order[: order.index(position)]):
        if earlier.text == source.text and earlier.name in layout.sources:
            return earlier.name
    return None


def file_log_folders(layout: Layout, offsets: Mapping[int, OffsetsEntry]) -> frozenset[str]:
    """Name the folders that hold a file source's log: by shape of the folder or of the offsets."""
    found = {
        name
        for name, source in layout.sources.items()
        if source.compact_ids or any(log_id > 0 for log_id in source.files)
    }
    for entry in offsets.values():
        for position, source in enumerate(entry.sources):
            folder = folder_of(entry, position, layout)
            if folder is not None and source.text is not None and _FILE_OFFSET in source.text:
                found.add(folder)
    return frozenset(found)


def wanted_log_ids(source: SourceFiles, offsets: Mapping[int, OffsetsEntry]) -> list[int]:
    """Name the entries of a file log to read: what Spark needs, and what the shown batches took."""
    if not source.files:
        return []
    newest = max(source.files)
    interval = effective_interval(source.compact_ids)
    # A damaged name can make these ranges long beyond counting: only membership is asked.
    needed = needed_ids(newest, interval)
    shown = range(newest - len(offsets) - interval, newest + 1)
    return sorted(one for one in source.files if one in needed or one in shown)


def matching_position(
    before: OffsetsEntry | None, after: OffsetsEntry, position: int
) -> int | None:
    """Find the same source in another entry: by position in version 1, by name in version 2."""
    if before is None:
        return None
    name = after.sources[position].name
    return next((at for at, source in enumerate(before.sources) if source.name == name), None)


def in_order(entry: OffsetsEntry) -> tuple[int, ...]:
    """Return the positions of an entry's sources in the order of their ids.

    Version 2 writes them in the order of a hash table; numbers count before names.
    """
    positions = range(len(entry.sources))
    if entry.version == 1:
        return tuple(positions)
    return tuple(sorted(positions, key=lambda at: _id_order(entry.sources[at].name)))


def _id_order(name: str) -> tuple[bool, int, str]:
    return (False, int(name), name) if name.isdecimal() else (True, 0, name)
