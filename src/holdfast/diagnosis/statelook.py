"""Looks at the state files: by names and sizes, which is cheap, or at every row of every file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.statefiles import PartitionFiles
from holdfast.checkpoint.verification import Progress
from holdfast.diagnosis.checks.rockssnapshots import all_snapshots, broken_snapshots
from holdfast.diagnosis.stateseen import (
    NOTHING_SEEN,
    StateSeen,
    every_partition,
    histories_by_name,
    loadable_in,
)
from holdfast.errors import UsageError
from holdfast.state.extras import require_state_extra
from holdfast.storage.reading import Listed, Reader


def look_at_state(
    reader: Reader,
    picture: Picture,
    snapshots: Mapping[str, bytes],
    *,
    verified: bool,
    progress: Progress | None = None,
) -> StateSeen:
    """Tell what the state files are like; their rows are read where everything is verified."""
    if not picture.layout.state.operators:
        return NOTHING_SEEN
    broken = broken_snapshots(picture, snapshots)
    broken |= {damage.file for damage in picture.damages if not damage.overlooked}
    if not verified:
        return _by_name(picture, snapshots, broken, "--verify reads them")
    try:
        require_state_extra()
    except UsageError as error:
        return _by_name(picture, snapshots, broken, error.message)
    # Only here are the libraries needed that decode rows, and their import takes its time.
    from holdfast.diagnosis.statereading import read_state

    return read_state(reader, picture, broken, progress)


def _by_name(
    picture: Picture, snapshots: Mapping[str, bytes], broken: frozenset[str], reason: str
) -> StateSeen:
    items = [
        item for _, _, _, files in every_partition(picture) for item in _files(files) if item.size
    ]
    histories = histories_by_name(picture)
    if not {*all_snapshots(picture)} <= snapshots.keys():
        # One that nobody looked into may name a table that is gone.
        histories = None
    loadable = None if histories is None else loadable_in(picture, histories, broken)
    size = sum(item.size for item in items)
    return StateSeen(
        unread_files=len(items),
        unread_bytes=size,
        unread_reason=reason if items else "",
        loadable=loadable,
    )


def _files(files: PartitionFiles) -> Iterator[Listed]:
    yield from files.deltas.values()
    yield from files.snapshots.values()
    yield from files.changelogs.values()
    yield from files.zips.values()
