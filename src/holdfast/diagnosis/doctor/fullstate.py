"""Decodes every state file of a checkpoint, and tries the rows with the schema of their store."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.recovery.outcome import unhindered_start
from holdfast.checkpoint.statefiles import OperatorFiles, PartitionFiles, StoreFiles
from holdfast.checkpoint.verification import Progress
from holdfast.diagnosis.inspection.subject import (
    StateDamage,
    StateSeen,
    changed_files,
    every_partition,
    loadable_in,
)
from holdfast.errors import CheckpointError, HoldfastError, NotFoundError, StorageError
from holdfast.findings import Finding
from holdfast.format.buffers import MERGE, PUT, Changes, Spans, equal_to
from holdfast.format.rocksdb.keys import family_prefix
from holdfast.state.decoding import Encoding, RowDecoder
from holdfast.state.layouts import layouts_of
from holdfast.state.loading.chains import Link, LinkKind, PartitionHistory
from holdfast.state.loading.links import LinkReader
from holdfast.state.loading.logs import StateLog
from holdfast.state.loading.rocksdb import read_snapshot
from holdfast.storage.reading import Reader


def read_state(
    reader: Reader, picture: Picture, broken: frozenset[str], progress: Progress | None = None
) -> StateSeen:
    """Decode every state file but those that are known to be broken; nothing is kept of the rows.

    Memory stays bounded by the largest file and one chunk of its rows.
    """
    reading = _FullReading(reader, picture, StateLog(reader, picture), broken)
    partitions = list(every_partition(picture))
    sizes = [sum(link.size for link in _links(files)) for _, _, _, files in partitions]
    total, done = sum(sizes), 0
    for (operator, store, partition, files), size in zip(partitions, sizes, strict=True):
        reading.take(operator, store, partition, files)
        done += size
        if progress is not None:
            progress(done, total)
    return reading.seen()


@dataclass
class _FullReading:
    reader: Reader
    picture: Picture
    log: StateLog
    broken: frozenset[str]
    damages: list[StateDamage] = field(default_factory=list)
    denied: list[StateDamage] = field(default_factory=list)
    misfits: dict[tuple[int, str], StateDamage] = field(default_factory=dict)
    histories: list[PartitionHistory] = field(default_factory=list)
    overlooked: list[Finding] = field(default_factory=list)
    unread: str = ""

    @cached_property
    def batches(self) -> tuple[int, ...]:
        """The committed batches of which the logs tell what their state is made from."""
        return tuple(
            batch
            for batch in self.log.committed
            if not self.picture.refused(f"commits/{batch}")
            and not self.picture.refused(f"offsets/{batch}")
        )

    def take(
        self, operator: OperatorFiles, store: StoreFiles, partition: int, files: PartitionFiles
    ) -> None:
        """Read the files of one partition."""
        batches = self.batches
        if not batches:
            return
        try:
            self.histories += self.log.histories(operator.id, store, [partition], batches).values()
            encoding = self.log.encoding(batches[-1], store)
            decoders = self._decoders(operator, store, files, encoding)
        except HoldfastError as error:
            self.unread = error.message
            return
        for link in _links(files):
            if link.size and link.path not in self.broken:
                self._read(link, encoding, decoders, (operator.id, store.name))

    def seen(self) -> StateSeen:
        """Return what was seen."""
        version = unhindered_start(self.picture).batch_id or 0
        damaged = {*self.broken, *(one.path for one in self.damages)}
        unloadable = damaged | changed_files(self.picture, self.overlooked)
        loadable = loadable_in(self.picture, self.histories, unloadable) if self.histories else None
        return StateSeen(
            tuple(self.damages),
            tuple(self.misfits.values()),
            tuple(self.overlooked),
            needed=self._needed(version, damaged),
            denied=tuple(self.denied),
            unread_reason=self.unread,
            loadable=None if self.unread or self.denied else loadable,
        )

    def _needed(self, version: int, damaged: set[str]) -> frozenset[str]:
        """Name what the next load begins with and replays, also in place of damaged snapshots."""
        return frozenset(
            link.path
            for one in self.histories
            for chain in (one.chain(version), one.chain(version, damaged))
            for link in chain.links
        )

    def _decoders(
        self,
        operator: OperatorFiles,
        store: StoreFiles,
        files: PartitionFiles,
        encoding: Encoding,
    ) -> list[tuple[bytes, RowDecoder]]:
        """Return a decoder for each column family, with what its keys begin with."""
        layouts = layouts_of(self.picture, operator.id, self.batches[-1])
        own = [one for one in layouts if one.store == store.name and one.key_json is not None]
        numbers = self._family_numbers(files) if any(one.family for one in own) else {}
        return [
            (b"" if one.family is None else numbers[one.family], RowDecoder(one, encoding))
            for one in own
            if one.family is None or one.family in numbers
        ]

    def _family_numbers(self, files: PartitionFiles) -> dict[str, bytes]:
        for _, item in sorted(files.zips.items(), reverse=True):
            if item.path not in self.broken:
                families = read_snapshot(self.reader, item.path).column_families
                return {one.name: family_prefix(one.id) for one in families}
        return {}

    def _read(
        self,
        link: Link,
        encoding: Encoding,
        decoders: list[tuple[bytes, RowDecoder]],
        store: tuple[int, str],
    ) -> None:
        links = LinkReader(self.reader, self.picture.layout, encoding)
        try:
            for chunk in links.changes(link):
                if store not in self.misfits:
                    self._try_rows(link, chunk, decoders, store)
        except NotFoundError:
            # A query that runs now removed it: nothing needs it any more.
            return
        except StorageError as error:
            self.denied.append(StateDamage(link.path, error))
        except HoldfastError as error:
            self.damages.append(StateDamage(link.path, error))
        self.overlooked += links.overlooked

    def _try_rows(
        self,
        link: Link,
        chunk: Changes,
        decoders: list[tuple[bytes, RowDecoder]],
        store: tuple[int, str],
    ) -> None:
        written = (chunk.kinds == PUT) | (chunk.kinds == MERGE)
        for prefix, decoder in decoders:
            try:
                decoder.decode(chunk.take(written & _begins(chunk.keys, prefix)))
            except CheckpointError as error:
                self.misfits[store] = StateDamage(link.path, error)


def _begins(keys: Spans, prefix: bytes) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    if not prefix:
        return np.ones(len(keys), np.bool_)
    return equal_to(Spans(keys.data, keys.starts, np.minimum(keys.lengths, len(prefix))), prefix)


def _links(files: PartitionFiles) -> Iterator[Link]:
    for version, item in files.deltas.items():
        yield Link(version, LinkKind.DELTA, item.path, item.size)
    for version, item in files.snapshots.items():
        yield Link(version, LinkKind.SNAPSHOT, item.path, item.size)
    for (version, _), item in files.changelogs.items():
        yield Link(version, LinkKind.CHANGELOG, item.path, item.size)
    for (version, _), item in files.zips.items():
        yield Link(version, LinkKind.ZIP, item.path, item.size)
