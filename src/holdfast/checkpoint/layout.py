"""Sorts the names of a checkpoint's listing into the parts that Spark knows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from holdfast.checkpoint.statefiles import StateFiles, StateSorter
from holdfast.format.logs.filelog import effective_interval, log_id_of, needed_ids
from holdfast.format.logs.log import batch_id_of
from holdfast.format.logs.offsets import OffsetsEntry
from holdfast.storage.reading import FileKind, Listed

_TEMPORARY = (".tmp", ".tmp.crc")
_PARTS = ("metadata", "offsets", "commits", "sources", "state")
_OTHER = "other"
_FILE, _FOLDER = FileKind.FILE, FileKind.FOLDER
"""Looked up once: a listing asks for them tens of thousands of times."""


@dataclass(frozen=True)
class LogFiles:
    """offsets/ or commits/: the files that Spark takes for batches, and folders named like one."""

    folder: str
    present: bool
    files: Mapping[int, Listed]
    numbered_folders: tuple[str, ...] = ()

    @cached_property
    def ids(self) -> tuple[int, ...]:
        """Batch ids with a file, ascending."""
        return tuple(sorted(self.files))

    @cached_property
    def newest(self) -> int | None:
        """The greatest batch id with a file, None for an empty log."""
        return max(self.files, default=None)


@dataclass(frozen=True)
class SourceFiles:
    """One folder below sources/: its numbered files, as a compacting log names them."""

    name: str
    files: Mapping[int, Listed]
    compact_ids: frozenset[int]


@dataclass
class PartSize:
    """How much lies in one part of a checkpoint."""

    files: int = 0
    size_bytes: int = 0


@dataclass(frozen=True)
class Layout:
    """Every listed name of a checkpoint, sorted once."""

    items: Mapping[str, Listed]
    offsets: LogFiles
    commits: LogFiles
    sources: Mapping[str, SourceFiles]
    state: StateFiles
    temporary: tuple[str, ...]
    orphan_checksums: tuple[str, ...]
    """Hadoop side files `.name.crc` whose `name` is not there."""
    foreign: tuple[str, ...]
    """Names at the root that are no part of a checkpoint."""
    special: tuple[Listed, ...]
    """Links out of the folder, broken links, pipes and the like."""
    strays: tuple[str, ...] = ()
    """Files in offsets/ and commits/ that Spark does not take for batches."""
    misnamed: tuple[tuple[int, str], ...] = ()
    """Files there that Spark takes for a batch, but looks for under its plain number."""
    besides: tuple[str, ...] = ()
    """Every file that is neither below offsets/ nor below commits/, nor a side file."""
    parts: Mapping[str, PartSize] = field(default_factory=dict)
    """Size by the first name of the path; what is no part of a checkpoint under `other`."""

    @cached_property
    def size_bytes(self) -> int:
        """The size of all files."""
        return sum(part.size_bytes for part in self.parts.values())

    @cached_property
    def file_count(self) -> int:
        """The number of all files."""
        return sum(part.files for part in self.parts.values())

    @property
    def empty(self) -> bool:
        """Nothing of a checkpoint is here."""
        return not any(path.split("/", 1)[0] in _PARTS for path in self.items)

    def has_file(self, path: str) -> bool:
        """A regular file of this name was listed."""
        item = self.items.get(path)
        return item is not None and item.kind is FileKind.FILE

    def checksum_beside(self, path: str) -> str | None:
        """Return the Hadoop side file of a file, None where there is none."""
        candidate = checksum_name(path)
        return candidate if self.has_file(candidate) else None


def checksum_name(path: str) -> str:
    """Name Hadoop's side file of a file: `offsets/.7.crc` for `offsets/7`."""
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}.{name}.crc"


def checked_name(path: str) -> str | None:
    """Name the file that a Hadoop side file belongs to, None where the name is no side file's."""
    folder, slash, name = path.rpartition("/")
    if name.startswith(".") and name.endswith(".crc") and len(name) > 5:
        return f"{folder}{slash}{name[1:-4]}"
    return None


@dataclass
class _Sorter:
    """Collects while the listing is walked once."""

    logs: dict[str, dict[int, Listed]] = field(
        default_factory=lambda: {"offsets": {}, "commits": {}}
    )
    numbered_folders: dict[str, list[str]] = field(
        default_factory=lambda: {"offsets": [], "commits": []}
    )
    sources: dict[str, dict[int, Listed]] = field(default_factory=dict)
    compact: dict[str, set[int]] = field(default_factory=dict)
    state: StateSorter = field(default_factory=StateSorter)
    temporary: list[str] = field(default_factory=list)
    checksums: list[tuple[str, str]] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    special: list[Listed] = field(default_factory=list)
    strays: list[str] = field(default_factory=list)
    misnamed: list[tuple[int, str]] = field(default_factory=list)
    besides: list[str] = field(default_factory=list)
    parts: dict[str, PartSize] = field(
        default_factory=lambda: {name: PartSize() for name in (*_PARTS, _OTHER)}
    )

    def take(self, items: Mapping[str, Listed]) -> None:
        """Sort the listed names; nearly all of a long history are taken at once."""
        logs, parts, checksums = self.logs, self.parts, self.checksums
        for path, item in items.items():
            head, _, name = path.partition("/")
            if item[1] is _FILE:
                part = parts.get(head) or parts[_OTHER if name else _part_of(head)]
                part.files += 1
                part.size_bytes += item[2]
                log = logs.get(head)
                if log is not None and name.isascii() and len(name) < 19:
                    if name.isdecimal() and (name[0] != "0" or name == "0"):
                        log[int(name)] = item
                        continue
                    if name[:1] == "." and name[-4:] == ".crc" and name[1:-4].isdecimal():
                        checksums.append((path, f"{head}/{name[1:-4]}"))
                        continue
            self._take_other(item, head, name)

    def _take_other(self, item: Listed, head: str, rest: str) -> None:
        """Sort a name that is neither a plain entry of a log nor the checksum of one."""
        path, kind = item.path, item.kind
        name = rest.rpartition("/")[2] or head
        if name[:1] == "." and self._take_side_file(item, name):
            return
        if kind is _FILE and head not in self.logs:
            self.besides.append(path)
        if kind is not _FILE and kind is not _FOLDER:
            self.special.append(item)
        elif head in self.logs:
            self._take_log(item, head, rest)
        elif head == "sources":
            self._take_source(item, rest)
        elif head == "state":
            self.state.take(item, rest)
        elif head not in _PARTS and not rest:
            self.foreign.append(path)

    def _take_side_file(self, item: Listed, name: str) -> bool:
        if name.endswith(_TEMPORARY):
            self.temporary.append(item.path)
            return True
        checked = checked_name(item.path)
        if checked is not None:
            self.checksums.append((item.path, checked))
        return checked is not None

    def _take_log(self, item: Listed, head: str, rest: str) -> None:
        batch_id = batch_id_of(rest)
        if batch_id is None:
            if item.kind is _FILE and "/" not in rest:
                self.strays.append(item.path)
            return
        if item.kind is _FILE:
            self.logs[head][batch_id] = item
            if rest != str(batch_id):
                self.misnamed.append((batch_id, item.path))
        else:
            self.numbered_folders[head].append(item.path)

    def _take_source(self, item: Listed, rest: str) -> None:
        folder, _, name = rest.partition("/")
        if folder:
            self.sources.setdefault(folder, {})
            self.compact.setdefault(folder, set())
        numbered = log_id_of(name)
        if numbered is not None and item.kind is FileKind.FILE:
            log_id, is_compact = numbered
            if is_compact:
                self.compact[folder].add(log_id)
            if is_compact or name == str(log_id) or log_id not in self.sources[folder]:
                self.sources[folder][log_id] = item


def lay_out(listed: Iterable[Listed]) -> Layout:
    """Sort a listing into the parts of a checkpoint."""
    items = {item.path: item for item in listed}
    sorter = _Sorter()
    sorter.take(items)
    return Layout(
        items=items,
        offsets=_log_files("offsets", sorter, items),
        commits=_log_files("commits", sorter, items),
        sources={
            name: SourceFiles(name, found, frozenset(sorter.compact[name]))
            for name, found in sorter.sources.items()
        },
        state=sorter.state.sorted(),
        temporary=tuple(sorter.temporary),
        orphan_checksums=tuple(side for side, checked in sorter.checksums if checked not in items),
        foreign=tuple(sorter.foreign),
        special=tuple(sorter.special),
        strays=tuple(sorter.strays),
        misnamed=tuple(sorter.misnamed),
        besides=tuple(sorter.besides),
        parts=sorter.parts,
    )


def _part_of(name: str) -> str:
    """Count the checksum of `metadata`, the only one at the root, with it."""
    return "metadata" if name == ".metadata.crc" else _OTHER


def _log_files(folder: str, sorter: _Sorter, items: Mapping[str, Listed]) -> LogFiles:
    present = folder in items or bool(sorter.logs[folder])
    return LogFiles(folder, present, sorter.logs[folder], tuple(sorter.numbered_folders[folder]))


_FILE_OFFSET = '"logOffset"'


def folder_of(entry: OffsetsEntry, position: int, layout: Layout) -> str | None:
    """Name the folder of the source at this position of an offsets entry.

    The same stream used twice in a query has two positions but one folder, the earlier one's.
    """
    source = entry.sources[position]
    if source.name in layout.sources:
        return source.name
    order = in_order(entry)
    for earlier in (entry.sources[at] for at in order[: order.index(position)]):
        if earlier.text == source.text and earlier.name in layout.sources:
            return earlier.name
    return None


def file_log_folders(layout: Layout, offsets: Mapping[int, OffsetsEntry]) -> frozenset[str]:
    """Name the folders that hold a file source's log: by shape of the folder or of the offsets."""
    found = {
        name
        for name, source in layout.sources.items()
        if source.compact_ids or any(log_id > 0 for log_id in source.files)
    }
    for entry in offsets.values():
        for position, source in enumerate(entry.sources):
            folder = folder_of(entry, position, layout)
            if folder is not None and source.text is not None and _FILE_OFFSET in source.text:
                found.add(folder)
    return frozenset(found)


def wanted_log_ids(source: SourceFiles, offsets: Mapping[int, OffsetsEntry]) -> list[int]:
    """Name the entries of a file log to read: what Spark needs, and what the shown batches took."""
    if not source.files:
        return []
    newest = max(source.files)
    interval = effective_interval(source.compact_ids)
    # A damaged name can make these ranges long beyond counting: only membership is asked.
    needed = needed_ids(newest, interval)
    shown = range(newest - len(offsets) - interval, newest + 1)
    return sorted(one for one in source.files if one in needed or one in shown)


def matching_position(
    before: OffsetsEntry | None, after: OffsetsEntry, position: int
) -> int | None:
    """Find the same source in another entry: by position in version 1, by name in version 2."""
    if before is None:
        return None
    name = after.sources[position].name
    return next((at for at, source in enumerate(before.sources) if source.name == name), None)


def in_order(entry: OffsetsEntry) -> tuple[int, ...]:
    """Return the positions of an entry's sources in the order of their ids.

    Version 2 writes them in the order of a hash table; numbers count before names.
    """
    positions = range(len(entry.sources))
    if entry.version == 1:
        return tuple(positions)
    return tuple(sorted(positions, key=lambda at: _id_order(entry.sources[at].name)))


def _id_order(name: str) -> tuple[bool, int, str]:
    return (False, int(name), name) if name.isdecimal() else (True, 0, name)
