"""Sorts the names below state/: operators, their stores, and the versions each partition holds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from holdfast.storage.reading import FileKind, Listed

_NUMBER = re.compile(r"0|[1-9][0-9]{0,18}")
"""Spark opens files by the plain number: `007` is none of its own."""
_VERSION_FILE = re.compile(
    rf"({_NUMBER.pattern})(?:_([0-9a-fA-F-]{{36}}))?\.(delta|snapshot|zip|changelog)"
)
_SCHEMA_FILE = re.compile(rf"({_NUMBER.pattern})_([0-9a-fA-F-]{{36}})")
DEFAULT_STORE = "default"
JOIN_STORES = (
    "left-keyToNumValues",
    "left-keyWithIndexToValue",
    "right-keyToNumValues",
    "right-keyWithIndexToValue",
)
"""The four stores of a stream-stream join, in the order in which a commit lists their ids."""

VersionedId = tuple[int, str]
"""A state version and the unique id that state checkpoint format 2 gives it ('' in format 1)."""


@dataclass
class PartitionFiles:
    """The files of one partition of one store, by what they are."""

    deltas: dict[int, Listed] = field(default_factory=dict)
    snapshots: dict[int, Listed] = field(default_factory=dict)
    zips: dict[VersionedId, Listed] = field(default_factory=dict)
    changelogs: dict[VersionedId, Listed] = field(default_factory=dict)

    def items(self) -> Iterator[Listed]:
        """Yield every file, of whatever kind."""
        yield from self.deltas.values()
        yield from self.snapshots.values()
        yield from self.changelogs.values()
        yield from self.zips.values()

    def versions(self) -> set[int]:
        """Every state version of which this partition holds some file."""
        return {
            *self.deltas,
            *self.snapshots,
            *(version for version, _ in self.zips),
            *(version for version, _ in self.changelogs),
        }

    def of_version(self, version: int) -> list[str]:
        """The paths of the files of one version."""
        plain = [files[version] for files in (self.deltas, self.snapshots) if version in files]
        by_id = [
            item
            for files in (self.zips, self.changelogs)
            for (one, _), item in files.items()
            if one == version
        ]
        return [item.path for item in (*plain, *by_id)]

    def missing_path(self, folder: str, version: int, unique_id: str = "") -> str:
        """Name the file of a version that is not there, by what its neighbours are called."""
        if not self.versions():
            return folder
        named = f"{version}_{unique_id}" if unique_id else self._unnamed(version)
        if self.deltas or self.snapshots:
            return f"{folder}/{version}.delta"
        return f"{folder}/{named}.{'changelog' if self.changelogs else 'zip'}"

    def _unnamed(self, version: int) -> str:
        """State checkpoint format 2 has an id in every name, which nobody knows here."""
        with_ids = any(one for _, one in (*self.zips, *self.changelogs))
        return f"{version}_*" if with_ids else str(version)


@dataclass
class StoreFiles:
    """One store of an operator: its partitions, and its schema files of either form."""

    name: str
    partitions: dict[int, PartitionFiles] = field(default_factory=dict)
    partition_schema: str | None = None
    """`<partition 0>/_metadata/schema`, schema versions 1 and 2."""
    schema_files: dict[str, str] = field(default_factory=dict)
    """File name to path below `_stateSchema/<store>/`, schema version 3."""


@dataclass
class OperatorFiles:
    """One folder below state/."""

    id: int
    metadata: str | None = None
    """`_metadata/metadata`, operator metadata version 1."""
    metadata_by_batch: dict[int, str] = field(default_factory=dict)
    """`_metadata/v2/<batch>`, operator metadata version 2."""
    stores: dict[str, StoreFiles] = field(default_factory=dict)

    @property
    def described(self) -> bool:
        """Some metadata or schema tells what this operator is."""
        schemas = any(one.partition_schema or one.schema_files for one in self.stores.values())
        return bool(self.metadata or self.metadata_by_batch or schemas)


@dataclass(frozen=True)
class StateFiles:
    """Everything below state/."""

    present: bool
    operators: Mapping[int, OperatorFiles]
    any_file: bool


class StateSorter:
    """Takes the names below state/ one by one."""

    def __init__(self) -> None:
        self._operators: dict[int, OperatorFiles] = {}
        self._present = False
        self._any_file = False

    def take(self, item: Listed, rest: str) -> None:
        """Sort one name; `rest` is its path below state/."""
        self._present = True
        self._any_file = self._any_file or item.kind is FileKind.FILE
        parts = rest.split("/")
        if not _NUMBER.fullmatch(parts[0]):
            return
        operator = self._operators.setdefault(int(parts[0]), OperatorFiles(int(parts[0])))
        if len(parts) > 1 and _NUMBER.fullmatch(parts[1]):
            self._take_partition(operator, item, int(parts[1]), parts[2:])
        elif item.kind is FileKind.FILE:
            _take_operator_file(operator, item, parts[1:])

    def _take_partition(
        self, operator: OperatorFiles, item: Listed, partition: int, parts: list[str]
    ) -> None:
        store_name, names = _store_of(item, parts)
        if store_name is None or not _is_store(store_name, names):
            return
        store = operator.stores.setdefault(store_name, StoreFiles(store_name))
        if names == ["_metadata", "schema"] and item.kind is FileKind.FILE:
            store.partition_schema = item.path
            return
        files = store.partitions.setdefault(partition, PartitionFiles())
        if len(names) == 1 and item.kind is FileKind.FILE:
            _take_version_file(files, item, names[0])

    def sorted(self) -> StateFiles:
        """Return what was taken."""
        return StateFiles(self._present, dict(sorted(self._operators.items())), self._any_file)


def _store_of(item: Listed, parts: list[str]) -> tuple[str | None, list[str]]:
    """Distinguish a store's own directory from the files of the default store."""
    if not parts:
        return None, parts
    head = parts[0]
    own_folder = head not in ("_metadata", "SSTs", "logs") and (
        len(parts) > 1 or item.kind is FileKind.FOLDER
    )
    return (head, parts[1:]) if own_folder else (DEFAULT_STORE, parts)


def _is_store(name: str, names: list[str]) -> bool:
    """A foreign folder is no store; one that Spark does not name itself must hold state."""
    if name == DEFAULT_STORE or name in JOIN_STORES or names == ["_metadata", "schema"]:
        return True
    return len(names) == 1 and _VERSION_FILE.fullmatch(names[0]) is not None


def _take_operator_file(operator: OperatorFiles, item: Listed, parts: list[str]) -> None:
    if parts == ["_metadata", "metadata"]:
        operator.metadata = item.path
    elif parts[:2] == ["_metadata", "v2"] and len(parts) == 3 and _NUMBER.fullmatch(parts[2]):
        operator.metadata_by_batch[int(parts[2])] = item.path
    elif parts[:1] == ["_stateSchema"] and len(parts) == 3 and _SCHEMA_FILE.fullmatch(parts[2]):
        store = operator.stores.setdefault(parts[1], StoreFiles(parts[1]))
        store.schema_files[parts[2]] = item.path


def _take_version_file(files: PartitionFiles, item: Listed, name: str) -> None:
    found = _VERSION_FILE.fullmatch(name)
    if found is None:
        return
    version, unique_id, suffix = int(found[1]), found[2] or "", found[3]
    if suffix == "delta":
        files.deltas[version] = item
    elif suffix == "snapshot":
        files.snapshots[version] = item
    elif suffix == "zip":
        files.zips[version, unique_id] = item
    else:
        files.changelogs[version, unique_id] = item
