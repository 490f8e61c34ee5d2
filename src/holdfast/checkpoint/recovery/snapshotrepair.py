"""Which damaged snapshots of state Spark passes over by itself, and rebuilds from older files."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.releases import at_least
from holdfast.checkpoint.statefiles import PartitionFiles, VersionedId
from holdfast.storage.reading import Listed

FIRST_RELEASE = "4.2"
"""Earlier ones stop at a damaged snapshot, whatever else is there."""


def is_passed_over(picture: Picture, path: str, release: str) -> bool:
    """Tell whether a release goes on without this snapshot: older files rebuild its version."""
    if not at_least(release, FIRST_RELEASE):
        return False
    for operator in picture.layout.state.operators.values():
        for store in operator.stores.values():
            for files in store.partitions.values():
                snapshots = (*files.snapshots.values(), *files.zips.values())
                if path in {item.path for item in snapshots}:
                    return _is_rebuilt(files, path)
    return False


def _is_rebuilt(files: PartitionFiles, path: str) -> bool:
    snapshots = {**files.snapshots, **_without_ids(files.zips)}
    changes = {**files.deltas, **_without_ids(files.changelogs)}
    version = next((one for one, item in snapshots.items() if item.path == path), None)
    if version is None:
        return False
    base = max((one for one in snapshots if one < version), default=0)
    wanted = range(base + 1, version + 1)
    return all(one in changes and changes[one].size for one in wanted)


def _without_ids(files: Mapping[VersionedId, Listed]) -> dict[int, Listed]:
    """Keep those of state checkpoint format 1: format 2 names what it builds on inside."""
    return {version: item for (version, unique_id), item in files.items() if not unique_id}
