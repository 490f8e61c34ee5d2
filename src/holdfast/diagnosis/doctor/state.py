"""Looks at the state files: at those that the next start loads, within a budget, or at every row
of every file."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.verification import Progress
from holdfast.diagnosis.checks.state.rocksdb import all_snapshots, broken_snapshots
from holdfast.diagnosis.inspection.subject import (
    NOTHING_SEEN,
    StateSeen,
    every_partition,
    histories_by_name,
    loadable_in,
)
from holdfast.errors import UsageError
from holdfast.state.opened import require_state_extra
from holdfast.storage.reading import Reader

_MEGABYTE = 1 << 20


@dataclass
class Budget:
    """So many bytes and seconds; the time runs from the moment at which it is made."""

    most_bytes: int = 64 * _MEGABYTE
    most_seconds: float = 2.0
    clock: Callable[[], float] = time.monotonic
    _began: float = field(init=False)

    def __post_init__(self) -> None:
        """Look at the clock for the first time."""
        self._began = self.clock()

    def is_over(self) -> bool:
        """Return whether the time is used up."""
        return self.clock() - self._began >= self.most_seconds

    @property
    def no_bytes(self) -> str:
        """Say that files were left out for their size."""
        most = f"{self.most_bytes // _MEGABYTE:,} MB"
        return f"without full verification at most {most} of state are read"

    @property
    def no_time(self) -> str:
        """Say that files were left out for the time."""
        return f"without full verification state is read for at most {self.most_seconds:g} s"


def look_at_state(
    reader: Reader,
    picture: Picture,
    snapshots: Mapping[str, bytes],
    *,
    verified: bool,
    progress: Progress | None = None,
    budget: Budget | None = None,
) -> StateSeen:
    """Return what the state files are like: every file where all is verified, else the needed."""
    if not picture.layout.state.operators:
        return NOTHING_SEEN
    broken = broken_snapshots(picture, snapshots)
    broken |= {damage.file for damage in picture.damages if not damage.overlooked}
    try:
        require_state_extra()
    except UsageError as error:
        return _by_name(picture, snapshots, broken, error.message)
    # Only here are the libraries needed that decode rows, and their import takes its time.
    if verified:
        from holdfast.diagnosis.doctor.fullstate import read_state

        return read_state(reader, picture, broken, progress)
    from holdfast.diagnosis.doctor.neededstate import read_needed_state

    seen = read_needed_state(reader, picture, broken, budget or Budget())
    damaged = broken | {one.path for one in seen.damages}
    return replace(seen, loadable=_loadable(picture, snapshots, damaged))


def _by_name(
    picture: Picture, snapshots: Mapping[str, bytes], broken: frozenset[str], reason: str
) -> StateSeen:
    items = [
        item for _, _, _, files in every_partition(picture) for item in files.items() if item.size
    ]
    return StateSeen(
        unread_files=len(items),
        unread_bytes=sum(item.size for item in items),
        unread_reason=reason if items else "",
        loadable=_loadable(picture, snapshots, broken),
    )


def _loadable(
    picture: Picture, snapshots: Mapping[str, bytes], damaged: frozenset[str]
) -> tuple[int, ...] | None:
    """Return the batches that can be loaded as far as names and known damage tell."""
    histories = histories_by_name(picture)
    if histories is None or not {*all_snapshots(picture)} <= snapshots.keys():
        # A snapshot that nobody looked into may name a table that is gone.
        return None
    return loadable_in(picture, histories, damaged)
