"""Removes old backups: their lists first, then the copies that no list names any more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.backup.snapshot import BACKUP, moment_ms
from holdfast.backup.store import (
    Store,
    object_path,
    object_sizes,
    read_catalogue,
    snapshot_path,
)

DAY_MS = 24 * 3600 * 1000


@dataclass(frozen=True)
class Retention:
    """What to keep: the newest so many, or those of the last so many days; either is enough."""

    keep_last: int | None = None
    keep_within_days: float | None = None

    @property
    def removes(self) -> bool:
        """Whether anything may be removed at all."""
        return self.keep_last is not None or self.keep_within_days is not None

    def kept(self, ids: Sequence[str], now_ms: int) -> frozenset[str]:
        """Choose among ids, oldest first; the newest one is always kept."""
        if not self.removes:
            return frozenset(ids)
        kept = set(ids[-max(self.keep_last or 1, 1) :])
        if self.keep_within_days is not None:
            since = now_ms - self.keep_within_days * DAY_MS
            kept |= {one for one in ids if moment_ms(one) >= since}
        return frozenset(kept)


@dataclass(frozen=True)
class Removed:
    """What retention took away."""

    backups: tuple[str, ...] = ()
    files: int = 0
    size_bytes: int = 0


def apply_retention(store: Store, retention: Retention, now_ms: int) -> Removed:
    """Remove the backups that are not kept, then what only they named, under the store's lock."""
    catalogue = read_catalogue(store)
    asked = [one.id for one in catalogue.snapshots if one.purpose == BACKUP]
    kept = retention.kept(asked, now_ms)
    # What a restore set aside is kept as long as the backups around it.
    removed = tuple(
        one.id
        for one in catalogue.snapshots
        if one.id not in kept and (one.purpose == BACKUP or one.id < min(kept, default=""))
    )
    for snapshot_id in removed:
        store.writer.remove(snapshot_path(snapshot_id))
    # Gone for good before their copies are: a list must never name what is not there.
    store.writer.settle()
    files, size = sweep(store)
    return Removed(removed, files, size)


def sweep(store: Store) -> tuple[int, int]:
    """Remove the copies that no list names; none while a list can't be read."""
    catalogue = read_catalogue(store)
    if catalogue.damaged:
        return 0, 0
    named = {file.sha256 for snapshot in catalogue.snapshots for file in snapshot.files}
    sizes = object_sizes(store.items())
    unnamed = [sha256 for sha256 in sizes if sha256 not in named]
    for sha256 in unnamed:
        store.writer.remove(object_path(sha256))
    store.writer.settle()
    return len(unnamed), sum(sizes[sha256] for sha256 in unnamed)
