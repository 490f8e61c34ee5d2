"""What of a file source's own log would stop the next start."""

from __future__ import annotations

import json
import re

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.releases import SOURCE_EVOLUTION
from holdfast.checkpoint.sourcefolders import folder_of, matching_position
from holdfast.format.logs.filelog import effective_interval, needed_ids
from holdfast.format.logs.offsets import OffsetsEntry

_OLD_OFFSET = re.compile(r"-?\d+")
"""Very old logs hold a file source's offset as a bare number."""


def source_failure(picture: Picture) -> str | None:
    """Return the reason why a file source would fail, None where every one finds its log whole."""
    newest_id, newest = picture.newest_offsets_id, picture.newest_offsets
    if newest_id is None or newest is None:
        return None
    before = picture.offsets.get(newest_id - 1)
    for position, source in enumerate(newest.sources):
        log_offset = file_log_offset(newest, position)
        if log_offset is None:
            if _is_no_offset(picture, newest, position):
                return (
                    f"offsets/{newest_id}: the text for source {source.name} is not an offset of "
                    "this source"
                )
            continue
        folder = folder_of(newest, position, picture.layout)
        if folder is None and newest.version > 1 and before and not _knows(before, source.name):
            # Version 2 goes by name: a source that the query does not have is passed over.
            continue
        if folder is None and newest.version == 1 and _names_sources(picture):
            # Spark 4.2 keeps named sources in a log of version 1: which folder is whose is lost.
            continue
        reason = _log_failure(picture, folder, source.name, log_offset)
        earlier = matching_position(before, newest, position)
        previous = file_log_offset(before, earlier) if before and earlier is not None else None
        if reason is None and previous is not None and previous > log_offset:
            reason = (
                f"source {source.name} goes back from log offset {previous} to {log_offset} in "
                f"offsets/{newest_id}: Spark fails with a bare assertion"
            )
        if reason is not None:
            return reason
    return None


def _is_no_offset(picture: Picture, entry: OffsetsEntry, position: int) -> bool:
    """A file source's own log lies there, but the offset is not one of a file source."""
    folder, text = folder_of(entry, position, picture.layout), entry.sources[position].text
    if text is None or folder is None or not picture.source_logs.get(folder):
        return False
    return not _OLD_OFFSET.fullmatch(text)


def _names_sources(picture: Picture) -> bool:
    return picture.settings.get(SOURCE_EVOLUTION) == "true" and bool(picture.layout.sources)


def _knows(entry: OffsetsEntry, name: str) -> bool:
    return any(source.name == name for source in entry.sources)


def file_log_offset(entry: OffsetsEntry, position: int) -> int | None:
    """Return the log offset of a file source's offset, None for any other source."""
    text = entry.sources[position].text if position < len(entry.sources) else None
    if text is None or '"logOffset"' not in text:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    log_offset = value.get("logOffset") if isinstance(value, dict) else None
    return log_offset if isinstance(log_offset, int) else None


def _log_failure(picture: Picture, folder: str | None, name: str, log_offset: int) -> str | None:
    if log_offset < 0:
        return None
    files = picture.layout.sources[folder].files if folder is not None else {}
    newest = max(files, default=-1)
    if log_offset > newest:
        return (
            f"sources/{folder or name} has no entry {log_offset}, which the newest offsets point "
            f'to: Spark fails with "batch {log_offset} doesn\'t exist"'
        )
    assert folder is not None
    interval = effective_interval(picture.layout.sources[folder].compact_ids)
    for log_id in needed_ids(newest, interval):
        if log_id not in files:
            return f"sources/{folder}/{log_id} is missing: the file source cannot rebuild its list"
        if picture.refused(files[log_id].path):
            return f"Spark cannot read {files[log_id].path}, which the file source needs"
    return None
