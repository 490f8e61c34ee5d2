"""The rows of one store at one batch, read without a JVM and within a bound of memory."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa

from holdfast.checkpoint.layout import Layout
from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.statefiles import DEFAULT_STORE, OperatorFiles, PartitionFiles, StoreFiles
from holdfast.errors import CheckpointError, UsageError
from holdfast.findings import Finding, Place, Severity
from holdfast.format.buffers import Changes
from holdfast.state.columns import shown_batch, shown_schema
from holdfast.state.decoding import RowDecoder
from holdfast.state.layouts import StoreLayout, layouts_of
from holdfast.state.loading.chains import Chain, PartitionHistory, loadable_batches, nearest_batch
from holdfast.state.loading.links import LinkReader
from holdfast.state.loading.logs import StateLog
from holdfast.state.loading.partition import living_entries
from holdfast.state.results import MEMORY_BYTES, BatchChange
from holdfast.storage.location import place_within
from holdfast.storage.reading import Reader

if TYPE_CHECKING:
    from holdfast.state.query.keysearch import KeySearch


_BUFFERED_BYTES = 32 << 20
"""So much is read before the first row is decoded: damage in a snapshot of usual size is met while
another one can still take its place."""

Unloadable = Callable[[str, str], CheckpointError]
"""Makes the error for a place and a reason; it knows which other batches can be loaded."""


@dataclass(frozen=True)
class PartitionReader:
    """Reads one partition of a store at a version."""

    reader: Reader
    layout: Layout
    decoder: RowDecoder
    partition: int
    history: PartitionHistory
    version: int
    memory_bytes: int
    search: KeySearch | None
    damaged: set[str]
    """Files known to be damaged; grows while reading."""
    findings: list[Finding]
    """What was met on the way; grows while reading."""
    unloadable: Unloadable

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows; raise HF2744 where a file is missing or damaged that nothing replaces."""
        while True:
            chain = self._chain()
            links = LinkReader(self.reader, self.layout, self.decoder.encoding)
            shown = False
            try:
                for batch in self._rows(chain, links):
                    shown = True
                    yield batch
            except CheckpointError as error:
                failed = links.failed
                if failed is None:
                    error.at = error.at or place_within(self.reader.location, self.history.folder)
                    raise
                self.damaged.add(failed.path)
                if shown or not failed.whole:
                    raise self.unloadable(error.at or failed.path, error.message) from error
                continue
            self._note(chain, links)
            return

    def _chain(self) -> Chain:
        chain = self.history.chain(self.version, self.damaged)
        if not chain.loadable:
            first = chain.breaks[0]
            at = place_within(self.reader.location, first.path)
            raise self.unloadable(at, str(first))
        return chain

    def _rows(self, chain: Chain, links: LinkReader) -> Iterator[pa.RecordBatch]:
        family = self.decoder.layout.family
        if family is not None and not self._has_family(chain, links, family):
            return
        if self.search is not None:
            links.wanted = self.search.stored_bytes
        living = living_entries(chain, links.changes, self.memory_bytes)
        for entries in _buffered(living) if self._replaceable(chain) else living:
            keys, values = self.decoder.decode(entries)
            batch = shown_batch(self.decoder.layout, self.partition, keys, values)
            batch = batch if self.search is None else self.search.among(batch)
            if len(batch):
                yield batch

    def _replaceable(self, chain: Chain) -> bool:
        """Return whether other files would do, should the chain's snapshot be damaged."""
        wholes = {link.path for link in chain.links if link.whole}
        if not wholes or self.history.ids:
            # With ids, only the headers of changelogs would tell: nobody reads them for this.
            return bool(wholes)
        return self.history.chain(self.version, self.damaged | wholes).loadable

    def _has_family(self, chain: Chain, links: LinkReader, family: str) -> bool:
        """Ask the snapshot that is read anyway, or any other: numbers are never given again."""
        if not chain.links:
            return False
        first = chain.links[0]
        snapshots = [first] if first.whole else self.history.zips(self.damaged)
        if not snapshots:
            broken = "".join(f"; {path} is damaged" for path in chain.passed_over)
            message = f"no snapshot of the partition has the number of {family}{broken}"
            at = place_within(self.reader.location, self.history.folder)
            raise CheckpointError("HF2751", message, at=at)
        return links.find_family(snapshots[0], family)

    def _note(self, chain: Chain, links: LinkReader) -> None:
        self.findings.extend(links.overlooked)
        for path in chain.passed_over:
            message = f"{path} is damaged; older files were read instead"
            self.findings.append(Finding("HF2747", Severity.WARNING, message, Place(path)))


def _buffered(living: Iterator[Changes]) -> Iterator[Changes]:
    held: list[Changes] = []
    used = 0
    for entries in living:
        held.append(entries)
        used += int(entries.keys.lengths.sum() + entries.values.lengths.sum())
        if used > _BUFFERED_BYTES:
            yield from held
            held = []
    yield from held


@dataclass(frozen=True)
class StateView:
    """One store at one batch. Nothing is read of its rows before they are asked for."""

    layout: StoreLayout
    layouts: tuple[StoreLayout, ...]
    """Every store of the operator, with the names that can be asked for."""
    batch_id: int
    partition_count: int
    partitions: tuple[int, ...]
    """Those that are read: all, or the only one that can hold the wanted key."""
    log: StateLog
    decoder: RowDecoder
    search: KeySearch | None
    memory_bytes: int
    _met: list[Finding] = field(default_factory=list)

    @property
    def operator(self) -> int:
        """The id of the operator."""
        return self.layout.operator_id

    @property
    def store(self) -> str:
        """The name of the store, column family or state variable."""
        return self.layout.name

    @property
    def version(self) -> int:
        """The version of the state: batch b writes b + 1."""
        return self.batch_id + 1

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns of the rows: partition, key, user_map_key of a map, value, expires_at_ms."""
        columns = self.decoder.key_columns, self.decoder.value_columns
        return shown_schema(self.layout, *columns)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What can't be known of the store, and, once rows were read, what was met on the way."""
        return (*self.layout.findings, *self._met)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows, partition by partition, in an order that is the same each time."""
        damaged = {one.file for one in self.log.picture.damages if not one.overlooked}
        for partition, history in self._histories(self.partitions, (self.batch_id,)).items():
            yield from PartitionReader(
                reader=self.log.reader,
                layout=self.log.picture.layout,
                decoder=self.decoder,
                partition=partition,
                history=history,
                version=self.version,
                memory_bytes=self.memory_bytes,
                search=self.search,
                damaged=damaged,
                findings=self._met,
                unloadable=lambda at, reason: self._unloadable(at, reason, damaged),
            ).batches()

    def loadable_batches(self, damaged: Container[str] = ()) -> tuple[int, ...]:
        """Name the committed batches whose state every partition can still load."""
        groups: dict[int, list[int]] = {}
        for batch in self.log.committed:
            count = self.log.partitions(batch, self.operator, self._files)
            groups.setdefault(count, []).append(batch)
        found: list[int] = []
        for count, batches in groups.items():
            histories = self._histories(range(count), batches)
            found += loadable_batches(histories.values(), batches, damaged)
        return tuple(sorted(found))

    @property
    def _files(self) -> StoreFiles:
        return self.log.picture.layout.state.operators[self.operator].stores[self.layout.store]

    def _histories(
        self, partitions: Iterable[int], batches: Iterable[int]
    ) -> dict[int, PartitionHistory]:
        return self.log.histories(self.operator, self._files, partitions, batches)

    def _unloadable(self, at: str, reason: str, damaged: Container[str]) -> CheckpointError:
        nearest = nearest_batch(self.batch_id, self.loadable_batches(damaged))
        other = "no other batch's state can be loaded either"
        if nearest is not None:
            other = f"the nearest batch whose state can be loaded is {nearest}"
        message = f"the state of batch {self.batch_id} cannot be loaded: {reason}; {other}"
        return CheckpointError("HF2744", message, at=at)


def open_state(
    reader: Reader,
    picture: Picture,
    *,
    operator: int | None = None,
    store: str | None = None,
    batch: int | None = None,
    partition: int | None = None,
    key: Mapping[str, object] | None = None,
    memory_bytes: int = MEMORY_BYTES,
) -> StateView:
    """Open one store: by default the first operator's first, at the newest committed batch."""
    _raise_unlisted_state(picture)
    log = StateLog(reader, picture)
    files = _operator(picture, operator)
    batch_id = log.committed_batch(batch)
    layouts = layouts_of(picture, files.id, batch_id)
    layout = _chosen(layouts, store, picture, files.id)
    store_files = files.stores[layout.store]
    decoder = RowDecoder(layout, log.encoding(batch_id, store_files))
    search = None if key is None else _search(decoder, key)
    count = log.partitions(batch_id, files.id, store_files)
    return StateView(
        layout=layout,
        layouts=layouts,
        batch_id=batch_id,
        partition_count=count,
        partitions=_partitions(count, partition, search),
        log=log,
        decoder=decoder,
        search=search,
        memory_bytes=memory_bytes,
    )


def _raise_unlisted_state(picture: Picture) -> None:
    """Raise why a folder of the state could not be listed: rows that are unseen are not missing."""
    for folder, error in (picture.unlisted or {}).items():
        if folder.partition("/")[0] == "state":
            raise error


def _operator(picture: Picture, operator: int | None) -> OperatorFiles:
    operators = picture.layout.state.operators
    if not operators:
        raise UsageError("HF2740", "the checkpoint has no state", at=picture.location)
    if operator is not None and operator not in operators:
        known = ", ".join(map(str, operators))
        message = f"there is no stateful operator {operator}, only {known}"
        raise UsageError("HF2741", message, at=picture.location)
    return operators[min(operators) if operator is None else operator]


def _chosen(
    layouts: tuple[StoreLayout, ...], store: str | None, picture: Picture, operator_id: int
) -> StoreLayout:
    for layout in layouts:
        if store is None or store in (layout.name, layout.family):
            return layout
    names = ", ".join(layout.name for layout in layouts if not layout.internal) or "none"
    unknown = {one.message for layout in layouts for one in layout.findings if one.code == "HF2745"}
    message = f"operator {operator_id} has no store {store or 'at all'!r}; there are: {names}"
    message = "; ".join([message, *sorted(unknown)])
    raise UsageError("HF2742", message, at=picture.location)


def _search(decoder: RowDecoder, key: Mapping[str, object]) -> KeySearch:
    # Who looks at rows does not wait for what finds one key.
    from holdfast.state.query.keysearch import KeySearch

    return KeySearch(decoder, key)


def _partitions(count: int, asked: int | None, search: KeySearch | None) -> tuple[int, ...]:
    if asked is not None and not 0 <= asked < count:
        raise UsageError("HF2749", f"there is no partition {asked}: the store has {count}")
    own = None if search is None else search.partition(count)
    found = range(count) if own is None else (own,)
    return tuple(one for one in found if asked is None or one == asked)


def partition_bytes(view: StateView) -> dict[int, int]:
    """Return the size of all files of every batch that a partition keeps, for each that is read."""
    own = "" if view.layout.store == DEFAULT_STORE else f"{view.layout.store}/"
    folders = {f"state/{view.operator}/{one}/{own}": one for one in view.partitions}
    depth = 3 + bool(own)
    sizes = dict.fromkeys(view.partitions, 0)
    for path, item in view.log.picture.layout.items.items():
        parts = path.split("/", depth)
        partition = folders.get("/".join(parts[:depth]) + "/") if len(parts) > depth else None
        if partition is not None:
            sizes[partition] += item.size
    return sizes


def batch_changes(view: StateView, batches: Iterable[int]) -> tuple[BatchChange, ...]:
    """Return what each batch wrote as deltas or changelogs, those that left any."""
    sizes: dict[int, int] = {}
    for files in _store(view).partitions.values():
        for version, size in _change_sizes(files):
            sizes[version - 1] = sizes.get(version - 1, 0) + size
    return tuple(BatchChange(batch, sizes[batch]) for batch in batches if batch in sizes)


def _store(view: StateView) -> StoreFiles:
    return view.log.picture.layout.state.operators[view.operator].stores[view.layout.store]


def _change_sizes(files: PartitionFiles) -> list[tuple[int, int]]:
    deltas = [(version, item.size) for version, item in files.deltas.items()]
    return [*deltas, *((version, item.size) for (version, _), item in files.changelogs.items())]
