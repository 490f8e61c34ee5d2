"""What of the state would stop the next start, by names and sizes, and what it leaves out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from holdfast.checkpoint.layout import checked_name
from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.recovery.outcome import Action, StartOutcome, unhindered_start
from holdfast.checkpoint.releases import PARTITIONS, PROVIDER, at_least
from holdfast.checkpoint.statefiles import (
    DEFAULT_STORE,
    JOIN_STORES,
    OperatorFiles,
    PartitionFiles,
    StoreFiles,
    VersionedId,
)
from holdfast.format.logs.commits import CommitEntry
from holdfast.storage.reading import Listed

FIRST_REPAIRING_RELEASE = "4.2"
"""Earlier ones stop at a damaged snapshot, whatever else is there."""


def is_passed_over(picture: Picture, path: str, release: str) -> bool:
    """Return whether a release goes on without this snapshot: older files rebuild its version."""
    if not at_least(release, FIRST_REPAIRING_RELEASE):
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


_SINGLE_PARTITION = frozenset({"globalLimit"})
"""Operators that gather all rows in one task keep one partition, whatever the setting says."""


@dataclass(frozen=True)
class StateFailure:
    """Why state can't be loaded, and where the fault lies."""

    reason: str
    place: str
    folder_missing: bool = False
    before_sink: bool = False


def state_failure(picture: Picture, going_on: StartOutcome, release: str) -> StateFailure | None:
    """Return why a release cannot load the state that the next batch reads, None if it can."""
    if going_on.batch_id is None or going_on.action is Action.FRESH:
        return None
    version = going_on.batch_id
    missing = _missing_operator(picture, version)
    if missing is not None:
        return missing
    if picture.newest_commit_id is not None and picture.newest_commit is None:
        # The commit is damaged in a way that Spark overlooks: which state it names is not known.
        return None
    for operator in picture.layout.state.operators.values():
        failure = _operator_failure(picture, operator, version, release)
        if failure is not None:
            return failure
    return None


def provider_of(picture: Picture) -> str | None:
    """Return `hdfs`, `rocksdb` or another pinned provider class; None for a stateless query."""
    if not picture.layout.state.operators:
        return None
    name = picture.settings.get(PROVIDER, "")
    if "HDFSBacked" in name:
        return "hdfs"
    if "RocksDB" in name:
        return "rocksdb"
    return name or None


def partition_count(picture: Picture, operator_id: int) -> int | None:
    """Return the number of partitions that an operator's state has, None where nothing pins it."""
    if gathers_all_rows(picture, operator_id):
        return 1
    pinned = picture.settings.get(PARTITIONS, "")
    return int(pinned) if pinned.isdecimal() else None


def gathers_all_rows(picture: Picture, operator_id: int) -> bool:
    """A streaming limit; Spark 3.5 records no name, but the limit alone has a key of no type."""
    metadata = picture.operators.get(operator_id)
    if metadata is not None:
        return metadata.name in _SINGLE_PARTITION
    schema = picture.schemas.get((operator_id, DEFAULT_STORE))
    return schema is not None and '"type":"void"' in schema.families[0].key_json


def _missing_operator(picture: Picture, version: int) -> StateFailure | None:
    """Ids of operators are counted from 0 without gaps; format 2 also names them in the commits."""
    present = picture.layout.state.operators
    if picture.layout.state.present and not present:
        # A stateless query never makes the folder.
        return StateFailure("state/ is empty: the operators' state is missing", "state", True)
    idle = _batch_without_data(picture) if not present else None
    if idle is not None:
        reason = (
            f"state/ is missing: batch {idle} had no new data, and only a query with state plans "
            "such a batch"
        )
        return StateFailure(reason, "state", folder_missing=True)
    commit = picture.commits.get(version - 1)
    named = set(commit.state_ids or ()) if commit is not None else set()
    # A folder that describes no operator is nobody's: it does not prove that others are missing.
    described = [one.id for one in present.values() if one.described]
    wanted = chain(sorted(named), range(max(described, default=-1) + 1))
    missing = next((one for one in wanted if one not in present), None)
    if missing is None or version <= 0:
        return None
    place = f"state/{missing}"
    reason = f"{place}, the state of operator {missing}, is missing"
    return StateFailure(reason, place, folder_missing=True)


def _batch_without_data(picture: Picture) -> int | None:
    """Return a batch that was planned only because the watermark moved, None if there is none.

    The real-time and the continuous mode plan batches without data for stateless queries as well:
    the first names in its commits that there is no state, the second knows no watermark.
    """
    for batch_id, entry in picture.offsets.items():
        before, commit = picture.offsets.get(batch_id - 1), picture.commits.get(batch_id)
        if before is None or entry.metadata is None or before.metadata is None:
            continue
        moved = entry.metadata.watermark_ms > before.metadata.watermark_ms
        stateless = commit is not None and commit.state_ids is not None
        if moved and not stateless and entry.sources == before.sources:
            return batch_id
    return None


def _operator_failure(
    picture: Picture, operator: OperatorFiles, version: int, release: str
) -> StateFailure | None:
    schema = _refused_schema(picture, operator)
    if schema is not None:
        reason = f"Spark cannot read the state schema {schema}"
        return StateFailure(reason, schema, before_sink=True)
    if version == 0:
        return None
    count = partition_count(picture, operator.id)
    if not any(store.partitions for store in operator.stores.values()):
        place = f"state/{operator.id}"
        return StateFailure(f"{place} has no partition", place, folder_missing=True)
    for store in operator.stores.values():
        if not store.partitions:
            continue
        for partition in range(count or max(store.partitions) + 1):
            place = _place(operator, partition, store)
            files = store.partitions.get(partition)
            if files is None:
                reason = f"{place} is missing, and with it state version {version}"
                return StateFailure(reason, place)
            unique_id = _unique_id(picture, operator, store, partition, version)
            fault = _unloadable(picture, files, (version, unique_id), release)
            if fault is not None:
                return _lost_snapshot(picture, fault, files, place, version) or fault.located(
                    files, place, version
                )
    return None


def _refused_schema(picture: Picture, operator: OperatorFiles) -> str | None:
    for store in operator.stores.values():
        for path in (store.partition_schema, *store.schema_files.values()):
            if path is not None and picture.refused(path):
                return path
    return None


def _place(operator: OperatorFiles, partition: int, store: StoreFiles) -> str:
    suffix = "" if store.name == "default" else f"/{store.name}"
    return f"state/{operator.id}/{partition}{suffix}"


@dataclass(frozen=True)
class _Fault:
    """The first version of a chain that is missing or damaged."""

    version: int
    unique_id: str = ""
    damaged: str = ""
    """The file, where there is one."""
    text: str = ""
    """What is wrong, where that lies in another file."""

    def located(self, files: PartitionFiles, folder: str, wanted: int) -> StateFailure:
        """Name the file at fault, and the version that can't be loaded without it."""
        path = self.damaged or files.missing_path(folder, self.version, self.unique_id)
        fault = "is empty or damaged" if self.damaged else "is missing"
        reason = self.text or f"{path} {fault}"
        return StateFailure(f"{reason}, so state version {wanted} cannot be loaded", path)


def _lost_snapshot(
    picture: Picture, fault: _Fault, files: PartitionFiles, folder: str, wanted: int
) -> StateFailure | None:
    """Return that a snapshot is missing, where Spark removed the changes up to it long ago.

    Which one it was tells only a checksum that was left of it.
    """
    kept = min((*files.deltas, *(one for one, _ in files.changelogs)), default=0)
    if fault.damaged or fault.unique_id or not fault.version + 1 < kept <= wanted:
        return None
    suffix = "snapshot" if files.deltas else "zip"
    names = {version: f"{folder}/{version}.{suffix}" for version in range(kept - 1, wanted + 1)}
    left = {checked_name(one) for one in picture.layout.orphan_checksums}
    lost = next((names[one] for one in sorted(names, reverse=True) if names[one] in left), None)
    reason = (
        f"{lost} is missing"
        if lost is not None
        else (f"{folder} has no snapshot: one of a version from {kept - 1} to {wanted} is missing")
    )
    return StateFailure(f"{reason}, so state version {wanted} cannot be loaded", lost or folder)


def _unloadable(
    picture: Picture, files: PartitionFiles, wanted: VersionedId, release: str
) -> _Fault | None:
    version, unique_id = wanted
    provider = provider_of(picture)
    if provider == "hdfs":
        snapshots = _usable(picture, files.snapshots, release)
        links = _chain(files.deltas, snapshots, version)
    elif provider == "rocksdb":
        if unique_id:
            return _unloadable_by_id(picture, files, wanted)
        zips = _usable(picture, _plain(files.zips), release)
        links = _chain(_plain(files.changelogs), zips, version)
    else:
        return None
    return _broken_link(picture, links)


def _unloadable_by_id(
    picture: Picture, files: PartitionFiles, wanted: VersionedId
) -> _Fault | None:
    """Checkpoint format 2 loads the one file that the commit names; what it builds on is inside."""
    item = files.zips.get(wanted) or files.changelogs.get(wanted)
    if item is None:
        return _Fault(*wanted)
    if _is_damaged(picture, item):
        return _Fault(*wanted, damaged=item.path, text=_damage_text(picture, item))
    return None


def _plain(files: Mapping[VersionedId, Listed]) -> dict[int, Listed]:
    return {version: item for (version, unique_id), item in files.items() if not unique_id}


def _usable(picture: Picture, snapshots: Mapping[int, Listed], release: str) -> dict[int, Listed]:
    """Leave out the damaged snapshots that a release passes over."""
    return {
        version: item
        for version, item in snapshots.items()
        if not (_is_damaged(picture, item) and is_passed_over(picture, item.path, release))
    }


def _is_damaged(picture: Picture, item: Listed) -> bool:
    damage = picture.refused(item.path)
    return item.size == 0 or (damage is not None and not damage.is_unseen)


def _chain(
    changes: Mapping[int, Listed], snapshots: Mapping[int, Listed], version: int
) -> Iterator[tuple[int, Listed | None]]:
    """Name the files that rebuild a version: the newest snapshot up to it, then every change."""
    base = max((one for one in snapshots if one <= version), default=0)
    if base:
        yield base, snapshots[base]
    for one in range(base + 1, version + 1):
        yield one, changes.get(one)


def _broken_link(picture: Picture, links: Iterator[tuple[int, Listed | None]]) -> _Fault | None:
    for version, item in links:
        if item is None:
            return _Fault(version)
        if _is_damaged(picture, item):
            return _Fault(version, damaged=item.path, text=_damage_text(picture, item))
    return None


def _damage_text(picture: Picture, item: Listed) -> str:
    """Name the table of a RocksDB snapshot that is at fault; the snapshot itself may be whole."""
    damage = picture.refused(item.path)
    return damage.error.message if damage is not None and damage.error.code == "HF2314" else ""


def _unique_id(
    picture: Picture, operator: OperatorFiles, store: StoreFiles, partition: int, version: int
) -> str:
    """Look up the id that commit `version - 1` gives this store's files in checkpoint format 2."""
    commit = picture.commits.get(version - 1) or picture.newest_commit
    return "" if commit is None else unique_id(commit, operator.id, partition, store.name)


def unique_id(commit: CommitEntry, operator_id: int, partition: int, store: str) -> str:
    """Return the id in the name of a store's newest file as a commit tells it; '' in format 1."""
    if commit.version < 2 or not commit.state_ids:
        return ""
    partitions = commit.state_ids.get(operator_id, ())
    ids = partitions[partition] if partition < len(partitions) else ()
    position = JOIN_STORES.index(store) if store in JOIN_STORES else 0
    return ids[position] if position < len(ids) else ""


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
