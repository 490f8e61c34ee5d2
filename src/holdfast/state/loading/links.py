"""The changes in one file of a chain, of one column family, located where a file is damaged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from holdfast.checkpoint.files import read_checked_files
from holdfast.checkpoint.layout import Layout
from holdfast.checkpoint.statefiles import PartitionFiles, VersionedId
from holdfast.errors import CheckpointError, DecodeError, HoldfastError, StorageError
from holdfast.findings import Finding, Place, Severity
from holdfast.format.buffers import DELETE_RANGE, PUT, Changes, Spans, equal_to
from holdfast.format.rocksdb.keys import family_prefix
from holdfast.format.state.changes import read_changelog, read_changes
from holdfast.state.decoding import Encoding
from holdfast.state.loading.chains import Link, LinkKind
from holdfast.storage.location import place_within
from holdfast.storage.reading import Reader

_CHANGED = "HF2111"
_WHY_CHANGED = (
    "the file was changed or damaged after it was written, so the rows read from it may be wrong. "
    "Spark compares the checksum when it loads this state, and fails"
)


@dataclass
class LinkReader:
    """Reads the files of one partition; remembers damage that Spark would not notice."""

    reader: Reader
    layout: Layout
    encoding: Encoding
    prefix: bytes = b""
    """What the keys of the wanted column family begin with."""
    wanted: bytes | None = None
    """The one key that is wanted, behind the prefix; None for all."""
    overlooked: list[Finding] = field(default_factory=list)
    failed: Link | None = None
    """The file that turned out to be damaged."""

    def changes(self, link: Link) -> Iterator[Changes]:
        """Yield a file's changes in their order, those that are not wanted left out."""
        with self._located(link):
            for chunk in self._every(link):
                yield self._wanted(chunk)

    def find_family(self, snapshot: Link, family: str) -> bool:
        """Learn what the keys of a column family begin with; False where it is not known yet."""
        from holdfast.state.loading.rocksdb import read_snapshot

        with self._located(snapshot):
            for known in read_snapshot(self.reader, snapshot.path).column_families:
                if known.name == family:
                    self.prefix = family_prefix(known.id)
        return bool(self.prefix)

    def _every(self, link: Link) -> Iterator[Changes]:
        checked = self.encoding.row_checksum
        if link.kind is LinkKind.ZIP:
            yield from self._snapshot(link)
        elif link.kind is LinkKind.CHANGELOG:
            yield from read_changelog(self._verified(link), row_checksum=checked).changes
        else:
            whole = link.kind is LinkKind.SNAPSHOT
            yield from read_changes(self._verified(link), snapshot=whole, row_checksum=checked)

    def _verified(self, link: Link) -> bytes:
        """Read a file and compare it with the checksums beside it: some codecs notice no damage."""
        look = read_checked_files(self.reader, self.layout, [link.path])[link.path]
        if isinstance(look, StorageError):
            raise look
        for damage in look.damages:
            if not damage.readable:
                raise damage.error
            self.overlooked.append(_finding(damage.error, link))
        return look.data

    def _snapshot(self, link: Link) -> Iterator[Changes]:
        # RocksDB is not waited for where another store is read.
        from holdfast.state.loading.rocksdb import open_tables, read_snapshot

        snapshot = read_snapshot(self.reader, link.path)
        with open_tables(self.reader, link.path, snapshot) as tables:
            if self.wanted is None:
                yield from tables.entries(self.prefix)
                return
            key = self.prefix + self.wanted
            value = tables.value_of(key)
            if value is not None:
                yield Changes(np.array([PUT], np.uint8), Spans.of([key]), Spans.of([value]))

    def _wanted(self, chunk: Changes) -> Changes:
        keys = chunk.keys
        mask = np.ones(len(chunk), np.bool_)
        if self.prefix:
            head = Spans(keys.data, keys.starts, np.minimum(keys.lengths, len(self.prefix)))
            mask = equal_to(head, self.prefix)
        if self.wanted is not None:
            ranges = mask & (chunk.kinds == DELETE_RANGE)
            mask = equal_to(keys, self.prefix + self.wanted) | ranges
        return chunk if mask.all() else chunk.take(mask)

    @contextmanager
    def _located(self, link: Link) -> Iterator[None]:
        try:
            yield
        except CheckpointError as error:
            if isinstance(error, DecodeError):
                if error.overlooked:
                    self.overlooked.append(_finding(error, link))
                    return
                error.at = error.at or _place(self.reader, link.path, error.byte)
            self.failed = link
            raise


@dataclass(frozen=True)
class Lineages(Mapping[VersionedId, tuple[VersionedId, ...]]):
    """What changelogs say that they build on; a header is read when it is asked for."""

    reader: Reader
    files: PartitionFiles
    read: dict[VersionedId, tuple[VersionedId, ...]] = field(default_factory=dict)

    def __getitem__(self, key: VersionedId) -> tuple[VersionedId, ...]:
        if key not in self.read:
            path = self.files.changelogs[key].path
            try:
                lineage = read_changelog(self.reader.read(path)).lineage
            except DecodeError:
                # Whoever follows the lineage learns of the damage when it reads the file itself.
                lineage = ()
            self.read[key] = tuple((item.version, item.unique_id) for item in lineage)
        return self.read[key]

    def __iter__(self) -> Iterator[VersionedId]:
        return iter(self.files.changelogs)

    def __len__(self) -> int:
        return len(self.files.changelogs)


def _place(reader: Reader, path: str, byte: int | None) -> str:
    at = place_within(reader.location, path)
    return at if byte is None else f"{at} byte {byte}"


def _finding(error: HoldfastError, link: Link) -> Finding:
    byte = error.byte if isinstance(error, DecodeError) else None
    place = Place(link.path, byte=byte)
    evidence = {"version": link.version}
    # A checksum that differs leaves nobody who knows whether these are the rows that Spark wrote.
    changed = error.code.number == _CHANGED
    severity = Severity.ERROR if changed else Severity.WARNING
    why = _WHY_CHANGED if changed else error.why
    return Finding(error.code.number, severity, error.message, place, evidence, why)
