"""Decides which files a running Spark may take away during a copy without harm to the copy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from holdfast.backup.snapshot import CopiedFile
from holdfast.checkpoint.layout import checked_name

_LOGS = ("offsets", "commits")
_NEEDED_BATCHES = 2
"""Spark reads the newest planned batch and the one before it."""


def log_id(path: str) -> int | None:
    """Give the batch of a file in offsets/ or commits/, or of its checksum; None elsewhere."""
    folder, _, name = (checked_name(path) or path).partition("/")
    return int(name) if folder in _LOGS and name.isascii() and name.isdigit() else None


def droppable(missed: Iterable[str], found: Mapping[str, CopiedFile]) -> bool:
    """Whether the copy is whole without these: temporary files, and old entries of the logs."""
    newest = newest_id(found, "commits")
    oldest_needed = -1 if newest is None else newest - _NEEDED_BATCHES + 1
    return all(
        path.endswith((".tmp", ".tmp.crc")) or _is_before(path, oldest_needed) for path in missed
    )


def without_purged(missed: Iterable[str], found: Mapping[str, CopiedFile]) -> dict[str, CopiedFile]:
    """Drop every log entry up to the newest that was purged, so that no gap is left."""
    purged = max((one for one in map(log_id, missed) if one is not None), default=-1)
    return {path: file for path, file in found.items() if not _is_before(path, purged + 1)}


def newest_id(paths: Iterable[str], log: str) -> int | None:
    """Give the newest batch among the files of one log."""
    own = (path for path in paths if path.startswith(f"{log}/") and checked_name(path) is None)
    ids = map(log_id, own)
    return max((one for one in ids if one is not None), default=None)


def _is_before(path: str, limit: int) -> bool:
    number = log_id(path)
    return number is not None and number < limit
