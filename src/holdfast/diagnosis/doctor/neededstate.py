"""Decodes the state files that the next start loads, within a budget of bytes and of time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from holdfast.checkpoint.files import checksum_names
from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.recovery.outcome import unhindered_start
from holdfast.diagnosis.doctor.state import Budget
from holdfast.diagnosis.inspection.subject import StateDamage, StateSeen, every_partition
from holdfast.errors import HoldfastError, NotFoundError, StorageError
from holdfast.findings import Finding
from holdfast.format.rocksdb.snapshot import LARGEST_ZIP, decode_rocks_zip
from holdfast.state.decoding import Encoding
from holdfast.state.loading.chains import Link, LinkKind, PartitionHistory
from holdfast.state.loading.links import LinkReader
from holdfast.state.loading.logs import StateLog
from holdfast.storage.memory import MemoryReader
from holdfast.storage.reading import Reader

_GROUP_FILES = 64
_GROUP_BYTES = 8 << 20
"""So much is asked of the storage at once."""


def read_needed_state(
    reader: Reader, picture: Picture, broken: frozenset[str], budget: Budget
) -> StateSeen:
    """Decode what the next load begins with and replays; what the budget leaves out is counted.

    Which files are within the budget of bytes follows from their sizes alone, in the order of
    operators, stores and partitions. The clock is looked at between files.
    """
    reading = _NeededReading(reader, picture, StateLog(reader, picture), budget, set(broken))
    reading.run()
    return reading.seen()


@dataclass(frozen=True)
class _Wanted:
    """A file to decode, with how it was written and what reading it fetches."""

    link: Link
    encoding: Encoding
    size: int


@dataclass(frozen=True)
class _Load:
    """A file that the next load needs."""

    size: int
    read: bool = False


@dataclass
class _NeededReading:
    reader: Reader
    picture: Picture
    log: StateLog
    budget: Budget
    damaged: set[str]
    damages: list[StateDamage] = field(default_factory=list)
    denied: list[StateDamage] = field(default_factory=list)
    overlooked: list[Finding] = field(default_factory=list)
    histories: list[tuple[PartitionHistory, Encoding]] = field(default_factory=list)
    needed: dict[str, _Load] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    """Files that were removed while we read, or could not be read."""
    reason: str = ""

    @property
    def version(self) -> int:
        """The version of the state that the next batch reads."""
        return unhindered_start(self.picture).batch_id or 0

    def run(self) -> None:
        """Read round by round: a damaged snapshot leads on to the older files in its place."""
        self._find_histories()
        while wanted := list(self._wanted()):
            for one in wanted:
                self.needed[one.link.path] = _Load(one.size)
            for group in _groups(self._affordable(wanted)):
                self._read_group(group)

    def seen(self) -> StateSeen:
        """Return what was seen."""
        done = [one for one in self.needed.values() if one.read]
        left = [one for one in self.needed.values() if not one.read]
        return StateSeen(
            damages=tuple(self.damages),
            overlooked=tuple(self.overlooked),
            denied=tuple(self.denied),
            needed=frozenset(self.needed),
            unread_files=len(left),
            unread_bytes=sum(one.size for one in left),
            unread_reason=self.reason,
            read_files=len(done),
            read_bytes=sum(one.size for one in done),
        )

    def _find_histories(self) -> None:
        version = self.version
        before = [one for one in (version - 1,) if self._tells(one)]
        for operator, store, partition, _ in every_partition(self.picture) if version else ():
            try:
                found = self.log.histories(operator.id, store, [partition], before)[partition]
                encoding = self.log.encoding(version - 1, store)
            except HoldfastError as error:
                self.reason = error.message
                continue
            self.histories.append((found, encoding))

    def _tells(self, batch_id: int) -> bool:
        """Whether a batch is committed, and its commit can be read."""
        path = f"commits/{batch_id}"
        return batch_id in self.log.committed and not self.picture.refused(path)

    def _wanted(self) -> Iterator[_Wanted]:
        for history, encoding in self.histories:
            try:
                links = history.chain(self.version, self.damaged).links
            except HoldfastError as error:
                self.reason = error.message
                continue
            for link in links:
                if link.size and not self._is_known(link.path):
                    yield _Wanted(link, encoding, self._size(link))

    def _is_known(self, path: str) -> bool:
        return path in self.needed or path in self.damaged or path in self.gone

    def _size(self, link: Link) -> int:
        """Count the tables of a RocksDB snapshot with it; a damaged one names none."""
        if link.kind is not LinkKind.ZIP:
            return link.size
        try:
            tables = decode_rocks_zip(self.reader.read(link.path, 0, LARGEST_ZIP + 1)).sst_files
        except HoldfastError:
            return link.size
        return link.size + sum(table.size_bytes for table in tables)

    def _affordable(self, wanted: Sequence[_Wanted]) -> Iterator[_Wanted]:
        left = self.budget.most_bytes - sum(one.size for one in self.needed.values() if one.read)
        for one in wanted:
            if one.size > left:
                self.reason = self.budget.no_bytes
                continue
            left -= one.size
            yield one

    def _read_group(self, group: Sequence[_Wanted]) -> None:
        if self.budget.is_over():
            self.reason = self.budget.no_time
            return
        plain = [one.link.path for one in group if one.link.kind is not LinkKind.ZIP]
        sides = [side for path in plain for side in checksum_names(path)
                 if self.picture.layout.has_file(side)]  # fmt: skip
        read = self.reader.read_many([*plain, *sides])
        for one in group:
            if self.budget.is_over():
                self.reason = self.budget.no_time
                return
            self._read(one, read)

    def _read(self, one: _Wanted, read: Mapping[str, bytes | StorageError]) -> None:
        path = one.link.path
        failure = read.get(path)
        if isinstance(failure, StorageError):
            self._unread(path, failure)
            return
        held = {name: data for name, data in read.items() if isinstance(data, bytes)}
        damage: HoldfastError | None = None
        overlooked: list[Finding] = []
        if path in held:
            damage, overlooked = self._decoded(MemoryReader(held, self.reader.location), one)
        if path not in held or damage or overlooked:
            # A running query may have replaced the file or its checksum: read both again.
            damage, overlooked = self._decoded(self.reader, one)
        if isinstance(damage, StorageError):
            self._unread(path, damage)
            return
        if damage is not None:
            self.damages.append(StateDamage(path, damage))
            self.damaged.add(path)
        self.overlooked += overlooked
        self.needed[path] = _Load(one.size, read=True)

    def _decoded(self, reader: Reader, one: _Wanted) -> tuple[HoldfastError | None, list[Finding]]:
        """Decode a file; return why it cannot be decoded, and damage that Spark overlooks."""
        links = LinkReader(reader, self.picture.layout, one.encoding)
        try:
            for _ in links.changes(one.link):
                pass
        except HoldfastError as error:
            return error, links.overlooked
        return None, links.overlooked

    def _unread(self, path: str, error: StorageError) -> None:
        del self.needed[path]
        self.gone.add(path)
        if not isinstance(error, NotFoundError):
            # What a query that runs now removed, nothing needs any more.
            self.denied.append(StateDamage(path, error))


def _groups(wanted: Iterator[_Wanted]) -> Iterator[list[_Wanted]]:
    group: list[_Wanted] = []
    size = 0
    for one in wanted:
        if group and (len(group) == _GROUP_FILES or size + one.size > _GROUP_BYTES):
            yield group
            group, size = [], 0
        group.append(one)
        size += one.size
    if group:
        yield group
