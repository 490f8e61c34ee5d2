"""Which files give one version of one partition's state, and what of them is missing or damaged.

Pure: it looks at names, at the ids that commits give, and at the lineages that the headers of
changelogs name. What else is known to be damaged, the caller tells as `damaged`.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum

from holdfast.checkpoint.statefiles import PartitionFiles, VersionedId
from holdfast.storage.reading import Listed

Lineages = Mapping[VersionedId, tuple[VersionedId, ...]]
"""State checkpoint format 2: what each changelog says, in its header, that it builds on."""

_NAMED_BREAKS = 10
"""A chain without its base may lack thousands of files; so many are named."""


class LinkKind(str, Enum):
    """What a file of a chain is, by its suffix."""

    DELTA = "delta"
    SNAPSHOT = "snapshot"
    CHANGELOG = "changelog"
    ZIP = "zip"


@dataclass(frozen=True)
class Link:
    """One file that a version is made from."""

    version: int
    kind: LinkKind
    path: str
    size: int

    @property
    def whole(self) -> bool:
        """The file holds everything, not only what its batch changed."""
        return self.kind in (LinkKind.SNAPSHOT, LinkKind.ZIP)


@dataclass(frozen=True)
class Break:
    """A version whose file is missing or damaged."""

    version: int
    path: str
    """Of the damaged file, or of the one that should be there."""
    missing: bool

    def __str__(self) -> str:
        return f"{self.path} is {'missing' if self.missing else 'damaged'}"


@dataclass(frozen=True)
class Chain:
    """The files that give a version, the oldest first; loadable where nothing is broken."""

    version: int
    links: tuple[Link, ...]
    breaks: tuple[Break, ...] = ()
    """The first ones, the oldest first."""
    passed_over: tuple[str, ...] = ()
    """Damaged snapshots in whose place an older one, or none, and the changes since are used."""

    @property
    def loadable(self) -> bool:
        """Every file is there, and none is known to be damaged."""
        return not self.breaks


@dataclass(frozen=True)
class PartitionHistory:
    """The files of one partition of one store, with what commits and headers say of them."""

    folder: str
    files: PartitionFiles
    ids: Mapping[int, str] = field(default_factory=dict)
    """State checkpoint format 2: version to the unique id that its batch's commit gives."""
    lineages: Lineages = field(default_factory=dict)

    def chain(self, version: int, damaged: Container[str] = ()) -> Chain:
        """Name the files of a version; a damaged snapshot is passed over where older ones do."""
        if version <= 0:
            return Chain(0, ())
        ancestry = self._ancestry(version, damaged)
        bases = [one for one in self._wholes(ancestry) if one.version <= version]
        bases.sort(key=lambda link: -link.version)
        base = next((one for one in bases if not _is_damaged(one, damaged)), None)
        passed = [one for one in bases if base is None or one.version > base.version]
        start = min(ancestry, default=1) - 1 if base is None else base.version
        links, breaks = self._changes(range(start + 1, version + 1), ancestry, damaged)
        if start and base is None and not any(one.version == start + 1 for one in breaks):
            # The oldest known changelog builds on a snapshot of its own version.
            stem = f"{self.folder}/{start + 1}_{ancestry[start + 1]}"
            breaks.insert(0, Break(start + 1, f"{stem}.zip", missing=True))
        if breaks and passed and base is None:
            # Without the damaged snapshot everything before it is missing as well: say what is
            # the cause, not what follows from it.
            breaks = [Break(one.version, one.path, missing=False) for one in passed]
        return Chain(
            version,
            (*((base,) if base is not None else ()), *links),
            tuple(breaks),
            () if breaks else tuple(one.path for one in passed),
        )

    def loadable_versions(self, damaged: Container[str] = ()) -> tuple[int, ...]:
        """Return every version that can still be loaded, the oldest first."""
        if self.ids:
            return tuple(one for one in sorted(self.ids) if self.chain(one, damaged).loadable)
        wholes = {one.version for one in self._wholes({}) if not _is_damaged(one, damaged)}
        found: list[int] = []
        for version in sorted(self.files.versions() - {0}):
            link = self._change(version, {})
            follows = version == 1 or found[-1:] == [version - 1]
            unbroken = link is not None and not _is_damaged(link, damaged)
            if version in wholes or (follows and unbroken):
                found.append(version)
        return tuple(found)

    def zips(self, damaged: Container[str] = ()) -> tuple[Link, ...]:
        """Name every RocksDB snapshot, of whatever version, that is not known to be damaged."""
        found = [
            _link(version, LinkKind.ZIP, item) for (version, _), item in self.files.zips.items()
        ]
        whole = [one for one in found if not _is_damaged(one, damaged)]
        return tuple(sorted(whole, key=lambda link: -link.version))

    def _changes(
        self, versions: range, ancestry: Mapping[int, str], damaged: Container[str]
    ) -> tuple[list[Link], list[Break]]:
        links: list[Link] = []
        breaks: list[Break] = []
        for version in versions:
            link = self._change(version, ancestry)
            if link is None:
                breaks.append(Break(version, self._missing_path(version, ancestry), missing=True))
            elif _is_damaged(link, damaged):
                breaks.append(Break(version, link.path, missing=False))
            else:
                links.append(link)
            if len(breaks) == _NAMED_BREAKS:
                break
        return links, breaks

    def _wholes(self, ancestry: Mapping[int, str]) -> Iterator[Link]:
        """Every snapshot of the store; in format 2 those of one ancestry."""
        for version, item in self.files.snapshots.items():
            yield _link(version, LinkKind.SNAPSHOT, item)
        for (version, unique_id), item in self.files.zips.items():
            if ancestry.get(version, "") == unique_id:
                yield _link(version, LinkKind.ZIP, item)

    def _change(self, version: int, ancestry: Mapping[int, str]) -> Link | None:
        if version in self.files.deltas:
            return _link(version, LinkKind.DELTA, self.files.deltas[version])
        item = self.files.changelogs.get((version, ancestry.get(version, "")))
        return None if item is None else _link(version, LinkKind.CHANGELOG, item)

    def _ancestry(self, version: int, damaged: Container[str]) -> Mapping[int, str]:
        """Follow lineages back to a snapshot, as far as headers tell; empty in format 1."""
        if version not in self.ids:
            return {}
        found = {version: self.ids[version]}
        oldest = version
        while oldest > 1 and all(_is_damaged(one, damaged) for one in self._wholes(found)):
            found.update(self.lineages.get((oldest, found[oldest]), ()))
            if min(found) == oldest:
                break
            oldest = min(found)
        return found

    def _missing_path(self, version: int, ancestry: Mapping[int, str]) -> str:
        return self.files.missing_path(self.folder, version, ancestry.get(version, ""))


def loadable_batches(
    histories: Iterable[PartitionHistory], batches: Iterable[int], damaged: Container[str] = ()
) -> tuple[int, ...]:
    """Return those of the batches whose state every partition can still load; b writes b + 1."""
    found = set(batches)
    for history in histories:
        found &= {version - 1 for version in history.loadable_versions(damaged)}
    return tuple(sorted(found))


def nearest_batch(batch: int, loadable: Iterable[int]) -> int | None:
    """Return the loadable batch to go to instead: the newest before, else the first one after."""
    others = set(loadable) - {batch}
    before = [one for one in others if one < batch]
    return max(before) if before else min(others, default=None)


def _link(version: int, kind: LinkKind, item: Listed) -> Link:
    return Link(version, kind, item.path, item.size)


def _is_damaged(link: Link, damaged: Container[str]) -> bool:
    return link.size == 0 or link.path in damaged
