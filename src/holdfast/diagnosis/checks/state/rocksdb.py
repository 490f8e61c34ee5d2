"""RocksDB snapshots: each table that the newest ones name is there, in its size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from holdfast.checkpoint.picture import Damage, Picture
from holdfast.checkpoint.recovery.outcome import unhindered_start
from holdfast.checkpoint.recovery.state import is_passed_over, superseded_state
from holdfast.checkpoint.releases import start_releases
from holdfast.checkpoint.statefiles import PartitionFiles
from holdfast.diagnosis.checks.log.contents import superseded
from holdfast.diagnosis.inspection.subject import Subject
from holdfast.errors import DecodeError
from holdfast.findings import Finding, Place, Severity
from holdfast.format.rocksdb.snapshot import decode_rocks_zip
from holdfast.storage.reading import Listed

_MOST_BYTES = 1024 * 1024
"""No snapshot is larger: it names its tables, it does not hold them."""
_FEW = 64
"""So many snapshots are read without being asked for."""


def needed_snapshots(picture: Picture) -> list[str]:
    """Name the RocksDB snapshot of each partition that the next load begins with.

    Where state checkpoint format 2 keeps several of one version, only the commit tells which one
    counts; these are left out.
    """
    wanted = unhindered_start(picture).batch_id
    paths: list[str] = []
    for operator in picture.layout.state.operators.values():
        for store in operator.stores.values():
            for files in store.partitions.values():
                item = _newest(files, wanted) if wanted is not None else None
                if item is not None and 0 < item.size <= _MOST_BYTES:
                    paths.append(item.path)
    return paths


def all_snapshots(picture: Picture) -> list[str]:
    """Name every RocksDB snapshot: only all of them tell which tables nothing needs."""
    return [
        item.path
        for operator in picture.layout.state.operators.values()
        for store in operator.stores.values()
        for files in store.partitions.values()
        for item in files.zips.values()
        if 0 < item.size <= _MOST_BYTES
    ]


def snapshots_to_read(picture: Picture, *, everything: bool) -> list[str]:
    """Name the snapshots to look into: all where they are few, else the newest and the oldest.

    What the newest has grown from, the oldest tells.
    """
    every = all_snapshots(picture)
    if everything or len(every) <= _FEW:
        return every
    oldest = [
        files.zips[min(files.zips)].path
        for operator in picture.layout.state.operators.values()
        for store in operator.stores.values()
        for files in store.partitions.values()
        if files.zips
    ]
    wanted = {*needed_snapshots(picture), *oldest}
    return [path for path in every if path in wanted]


def _newest(files: PartitionFiles, most: int) -> Listed | None:
    version = max((version for version, _ in files.zips if version <= most), default=None)
    found = [item for (one, _), item in files.zips.items() if one == version]
    return found[0] if len(found) == 1 else None


def check_snapshot_tables(subject: Subject) -> Iterator[Finding]:
    """Report snapshots that are damaged, and tables that are missing or of another size."""
    needed = {*needed_snapshots(subject.picture), *subject.state.needed}
    message: set[str] = set()
    # Many snapshots name one table: it is reported with the one that the next start needs, if any.
    for path in sorted(subject.snapshots, key=lambda path: path not in needed):
        if subject.picture.refused(path):
            continue
        severity = _severity(subject.picture, path) if path in needed else Severity.WARNING
        for place, reason, evidence in _faults(subject.picture, path, subject.snapshots[path]):
            if place not in message:
                message.add(place)
                yield Finding("HF2314", severity, reason, Place(place), evidence)


def broken_snapshots(picture: Picture, snapshots: Mapping[str, bytes]) -> frozenset[str]:
    """Name the snapshots that can't be loaded, by their own bytes or by the names of tables."""
    return frozenset(path for path, data in snapshots.items() if any(_faults(picture, path, data)))


def snapshot_damages(picture: Picture, snapshots: Mapping[str, bytes]) -> tuple[Damage, ...]:
    """Return the snapshots that can't be loaded, each with its first fault or that of a table."""
    found: list[Damage] = []
    for path, data in snapshots.items():
        reasons = [reason for _, reason, _ in _faults(picture, path, data)]
        reasons += _refused_tables(picture, path, data) if not reasons else ()
        if reasons:
            found.append(Damage(path, DecodeError("HF2314", reasons[0])))
    return tuple(found)


def _refused_tables(picture: Picture, path: str, data: bytes) -> Iterator[str]:
    folder = path.rpartition("/")[0]
    for name in tables_of(data):
        if picture.refused(f"{folder}/SSTs/{name}") is not None:
            yield f"{folder}/SSTs/{name}, which {path} refers to, is damaged"


def _faults(
    picture: Picture, path: str, data: bytes
) -> Iterator[tuple[str, str, dict[str, object]]]:
    """Yield places, what is wrong there, and the evidence."""
    try:
        tables = tables_of(data)
    except DecodeError as error:
        yield path, f"{path} cannot be opened: {error.message}", {"byte": error.byte}
        return
    folder = path.rpartition("/")[0]
    for name, size in tables.items():
        place = f"{folder}/SSTs/{name}"
        item = picture.layout.items.get(place)
        if item is None or item.size != size:
            state = "is missing" if item is None else f"has {item.size:,} bytes, not {size:,}"
            evidence = {"snapshot": path, "bytes_expected": size}
            yield place, f"{place}, which {path} refers to, {state}", evidence


def _severity(picture: Picture, path: str) -> Severity:
    """Fatal, unless each release that could have written this rebuilds the state without it."""
    passed = is_passed_over(picture, path, start_releases(picture)[0])
    return Severity.ERROR if passed else Severity.FATAL


def judged_by_snapshots(finding: Finding, subject: Subject) -> Finding:
    """Lower a finding about a damaged table that no snapshot names which the next start loads."""
    path = finding.place.file
    if finding.code != "HF2111" or not _is_table(path):
        return finding
    folder, _, name = path.rpartition("/SSTs/")
    unneeded = superseded_state(subject.picture)
    for zipped in all_snapshots(subject.picture):
        if zipped in unneeded or zipped.rpartition("/")[0] != folder:
            continue
        try:
            if zipped not in subject.snapshots or name in tables_of(subject.snapshots[zipped]):
                return finding
        except DecodeError:
            # What a damaged snapshot names is not known.
            return finding
    return superseded(finding)


def unneeded_tables(picture: Picture, snapshots: Mapping[str, bytes]) -> tuple[str, ...]:
    """Return the tables that no snapshot names; none where a snapshot was not read, or is damaged:
    what it names is not known then."""
    if not {*all_snapshots(picture)} <= snapshots.keys():
        return ()
    named: set[str] = set()
    try:
        for path, data in snapshots.items():
            named |= {f"{path.rpartition('/')[0]}/SSTs/{name}" for name in tables_of(data)}
    except DecodeError:
        return ()
    return tuple(path for path in picture.layout.items if _is_table(path) and path not in named)


def check_unneeded_tables(subject: Subject) -> Iterator[Finding]:
    """Mention tables that no snapshot names, where all snapshots were read."""
    spare = unneeded_tables(subject.picture, subject.snapshots)
    if spare:
        size = sum(subject.picture.layout.items[path].size for path in spare)
        count = sum(1 for path in subject.picture.layout.items if _is_table(path))
        message = f"{len(spare)} of {count} RocksDB tables are not in any snapshot"
        evidence = {"count": len(spare), "bytes": size, "files": spare[:20]}
        yield Finding("HF2315", Severity.INFO, message, Place(spare[0]), evidence)


def _is_table(path: str) -> bool:
    return path.startswith("state/") and "/SSTs/" in path and path.endswith(".sst")


def snapshot_bytes(data: bytes | None) -> int | None:
    """Return the size of all tables in a snapshot; None if it was not or cannot be read."""
    if data is None:
        return None
    try:
        return sum(tables_of(data).values())
    except DecodeError:
        # That it is damaged is reported by its own check.
        return None


def tables_of(data: bytes) -> dict[str, int]:
    """Return the tables that a snapshot names, with their sizes; raise DecodeError if damaged."""
    return {table.stored_name: table.size_bytes for table in decode_rocks_zip(data).sst_files}
