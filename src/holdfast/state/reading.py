"""The rows of one store at one batch, read without a JVM and within a bound of memory."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.statefiles import OperatorFiles, StoreFiles
from holdfast.errors import CheckpointError, UsageError
from holdfast.findings import Finding
from holdfast.state.bounds import MEMORY_BYTES
from holdfast.state.layouts import StoreLayout, layouts_of
from holdfast.state.loading.chains import PartitionHistory, loadable_batches, nearest_batch
from holdfast.state.loading.statelog import StateLog
from holdfast.state.partitionreading import PartitionReader
from holdfast.state.query.showing import shown_schema
from holdfast.state.rowdecoding import RowDecoder
from holdfast.storage.reading import Reader

if TYPE_CHECKING:
    from holdfast.state.query.keysearch import KeySearch


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
        """Give the rows, partition by partition, in an order that is the same each time."""
        damaged = {one.file for one in self.log.picture.damages if not one.overlooked}
        for partition, history in self._histories(self.partitions, (self.batch_id,)).items():
            yield from PartitionReader(
                self.log.reader,
                self.log.picture.layout,
                self.decoder,
                partition,
                history,
                self.version,
                self.memory_bytes,
                self.search,
                damaged,
                self._met,
                lambda at, reason: self._unloadable(at, reason, damaged),
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
        message = f"the state of batch {self.batch_id} can't be loaded: {reason}; {other}"
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
        layout,
        layouts,
        batch_id,
        count,
        _partitions(count, partition, search),
        log,
        decoder,
        search,
        memory_bytes,
    )


def _raise_unlisted_state(picture: Picture) -> None:
    """Raise why a folder of the state could not be listed: rows that are unseen are not missing."""
    for folder, error in (picture.unlisted or {}).items():
        if folder.partition("/")[0] == "state":
            raise error


def _operator(picture: Picture, operator: int | None) -> OperatorFiles:
    operators = picture.layout.state.operators
    if not operators:
        raise UsageError("HF2740", "the checkpoint holds no state", at=picture.location)
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
