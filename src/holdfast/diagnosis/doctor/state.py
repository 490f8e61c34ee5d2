"""Looks at the state files: at those that the next start loads, within a budget, or at every row
of every file."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from holdfast.checkpoint.files import checksum_names
from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.recovery.outcome import unhindered_start
from holdfast.checkpoint.verification import Progress, verify_files
from holdfast.diagnosis.checks.state.rocksdb import all_snapshots, broken_snapshots
from holdfast.diagnosis.inspection.subject import (
    NOTHING_SEEN,
    StateSeen,
    changed_files,
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
    compared: int = 0,
) -> StateSeen:
    """Return what the state files are like: every file where all is verified, else the needed.

    `compared` files are known to match their checksums, or not to, without the libraries.
    """
    if not picture.layout.state.operators:
        return NOTHING_SEEN
    broken = broken_snapshots(picture, snapshots)
    broken |= {damage.file for damage in picture.damages if not damage.overlooked}
    if (lacking := _lacking()) is not None:
        seen = _by_name(picture, snapshots, broken, lacking.message)
        return replace(seen, compared_files=compared)
    # Only here are the libraries needed that decode rows, and their import takes its time.
    if verified:
        from holdfast.diagnosis.doctor.fullstate import read_state

        return read_state(reader, picture, broken, progress)
    from holdfast.diagnosis.doctor.neededstate import read_needed_state

    seen = read_needed_state(reader, picture, broken, budget or Budget())
    damaged = broken | {one.path for one in seen.damages} | changed_files(picture, seen.overlooked)
    return replace(seen, loadable=_loadable(picture, snapshots, damaged))


def compare_state(
    reader: Reader, picture: Picture, *, verified: bool, budget: Budget | None = None
) -> tuple[Picture, int]:
    """Return the picture with the state files that differ from their checksums, and how many were
    compared: those that the next start loads, within a budget.

    Only where the libraries are missing that decode rows: these compare the checksums as well.
    """
    if not picture.layout.state.operators or _lacking() is None:
        return picture, 0
    wanted = list(_checkable(picture, _every_file(picture) if verified else _needed(picture)))
    if verified:
        return picture, len(wanted)
    left = budget or Budget()
    room, compared = left.most_bytes, 0
    for path, size in wanted:
        if size <= room and not left.is_over():
            room -= size
            compared += 1
            picture = verify_files(reader, picture, {path: size})
    return picture, compared


def _lacking() -> UsageError | None:
    try:
        require_state_extra()
    except UsageError as error:
        return error
    return None


def _checkable(picture: Picture, paths: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Yield each file that has a checksum, with its size."""
    layout = picture.layout
    for path in dict.fromkeys(paths):
        if any(layout.has_file(side) for side in checksum_names(path)):
            yield path, layout.items[path].size


def _every_file(picture: Picture) -> Iterator[str]:
    for _, _, _, files in every_partition(picture):
        yield from (item.path for item in files.items())


def _needed(picture: Picture) -> Iterator[str]:
    """Yield the paths of what the next load reads; of all files where names alone do not tell."""
    version = unhindered_start(picture).batch_id or 0
    histories = histories_by_name(picture)
    if histories is None:
        yield from _every_file(picture)
    elif version:
        for history in histories:
            yield from (link.path for link in history.chain(version).links)


def _by_name(
    picture: Picture, snapshots: Mapping[str, bytes], broken: frozenset[str], reason: str
) -> StateSeen:
    sizes = [size for path in _every_file(picture) if (size := picture.layout.items[path].size)]
    return StateSeen(
        unread_files=len(sizes),
        unread_bytes=sum(sizes),
        unread_reason=reason if sizes else "",
        loadable=_loadable(picture, snapshots, broken | changed_files(picture)),
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
