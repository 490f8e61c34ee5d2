"""Which state files the next start does not load, because a newer snapshot has their content."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.recovery.outcome import unhindered_start
from holdfast.checkpoint.recovery.state import unique_id
from holdfast.checkpoint.statefiles import PartitionFiles


def superseded_state(picture: Picture) -> frozenset[str]:
    """Name the changes and snapshots that are older than the snapshot the next load begins with.

    A snapshot that is damaged does not count: what it was made from is loaded in its place.
    """
    version = unhindered_start(picture).batch_id or 0
    found: set[str] = set()
    for operator in picture.layout.state.operators.values():
        for store in operator.stores.values():
            for partition, files in store.partitions.items():
                ids = {
                    batch + 1: unique_id(commit, operator.id, partition, store.name)
                    for batch, commit in picture.commits.items()
                }
                base = _base(picture, files, ids, version)
                found |= {path for path, place in _places(files) if place < base}
    return frozenset(found)


def _base(
    picture: Picture, files: PartitionFiles, ids: Mapping[int, str], version: int
) -> tuple[int, bool]:
    """Return the place of the newest whole snapshot that the next load can begin with."""
    damaged = {damage.file for damage in picture.damages}
    wholes = {
        **{(one, ""): item for one, item in files.snapshots.items()},
        **{key: item for key, item in files.zips.items() if ids.get(key[0], "") == key[1]},
    }
    usable = [
        one
        for (one, _), item in wholes.items()
        if one <= version and item.size and item.path not in damaged
    ]
    return max(usable, default=0), True


def _places(files: PartitionFiles) -> Iterator[tuple[str, tuple[int, bool]]]:
    """Yield each file with its place in the order of loading: a snapshot after its own change."""
    for version, item in files.deltas.items():
        yield item.path, (version, False)
    for (version, _), item in files.changelogs.items():
        yield item.path, (version, False)
    for version, item in files.snapshots.items():
        yield item.path, (version, True)
    for (version, _), item in files.zips.items():
        yield item.path, (version, True)
