"""Finds the checkpoints below a base folder, by names alone."""

from __future__ import annotations

from holdfast.storage.reading import Reader

DEPTH = 4
"""Declarative pipelines keep theirs four folders deep."""
MOST_FOLDERS = 5000

_LOGS = frozenset({"offsets", "commits"})
_PARTS = _LOGS | {"metadata", "sources", "state"}


def is_checkpoint(names: frozenset[str]) -> bool:
    """Tell by the names in a folder whether it is a checkpoint, perhaps a damaged one."""
    return bool(names & _LOGS) or len(names & _PARTS) > 1


def checkpoints_below(reader: Reader) -> list[str]:
    """Name the folders below that are checkpoints; empty where the folder itself may be one."""
    names = reader.names("")
    if is_checkpoint(names):
        return []
    found: list[str] = []
    level, asked = sorted(names), 0
    for _ in range(DEPTH):
        following: list[str] = []
        for folder in level:
            # Hidden folders hold records and backups; these are no job's own checkpoint.
            if folder.rpartition("/")[2].startswith(".") or asked >= MOST_FOLDERS:
                continue
            asked += 1
            inside = reader.names(folder)
            if is_checkpoint(inside):
                found.append(folder)
            else:
                following += [f"{folder}/{name}" for name in sorted(inside)]
        level = following
    return sorted(found)
