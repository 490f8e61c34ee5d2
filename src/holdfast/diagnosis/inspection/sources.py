"""What the sources of a checkpoint still have: Delta tables by their logs, Kafka by its broker."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.sourceview import explained
from holdfast.diagnosis.inspection.kafkabroker import SERVERS, BrokerSeen, Partition, ask_broker
from holdfast.errors import HoldfastError
from holdfast.format.logs.offsets import OffsetsEntry
from holdfast.format.sources import ExplainedOffset
from holdfast.ledgers.delta.table import TableSeen, look_at_source_table
from holdfast.records.run import Run
from holdfast.storage.reading import Reader

OpenTable = Callable[[str], tuple[str, Reader]]
"""Opens the log of the table at a path: how the place is shown, and a reader of the log."""
KafkaOptions = Callable[[], tuple[Mapping[str, str], ...]]
"""Gives the options of every declared Kafka source, secrets filled in; raises HoldfastError."""

_DESCRIPTION = re.compile(r"DeltaSource\[(.+)\]")


@dataclass(frozen=True)
class SourcesSeen:
    """What was seen; empty where no source of a checkpoint can be asked."""

    tables: tuple[TableSeen, ...] = ()
    brokers: tuple[BrokerSeen, ...] = ()


NO_SOURCES_SEEN = SourcesSeen()


@dataclass(frozen=True)
class SourcePlaces:
    """Where the sources are; nothing is read yet."""

    open_table: OpenTable | None = None
    tables: tuple[str, ...] = ()
    """The declared paths of Delta tables."""
    kafka: KafkaOptions | None = None

    def look(self, picture: Picture, run: Run | None) -> SourcesSeen:
        """Look at what the newest offsets are of, and at nothing else; never raises."""
        kinds = {one.kind for one in stored_offsets(picture, picture.newest_offsets)}
        tables = tuple(self._tables(run)) if "delta" in kinds else ()
        brokers = tuple(self._brokers(picture)) if "kafka" in kinds else ()
        return SourcesSeen(tables, brokers)

    def _tables(self, run: Run | None) -> Iterator[TableSeen]:
        sources = run.sources if run is not None else ()
        described = (_DESCRIPTION.fullmatch(one.description or "") for one in sources)
        recorded = tuple(match[1] for match in described if match is not None)
        for path in dict.fromkeys(self.tables or recorded):
            if self.open_table is not None:
                yield self._table(self.open_table, path)

    def _table(self, open_table: OpenTable, path: str) -> TableSeen:
        try:
            shown, reader = open_table(path)
        except HoldfastError as failure:
            return TableSeen(path, failure=failure)
        return look_at_source_table(shown, lambda: reader)

    def _brokers(self, picture: Picture) -> Iterator[BrokerSeen]:
        if self.kafka is None:
            return
        entry = picture.newest_offsets
        assert entry is not None
        since = entry.metadata.timestamp_ms if entry.metadata is not None else None
        wanted = frozenset(stored_partitions(picture, entry))
        try:
            declared = self.kafka()
        except HoldfastError as failure:
            yield BrokerSeen("", failure=failure.message, tried=False)
            return
        for options in {one.get(SERVERS, ""): one for one in declared}.values():
            yield ask_broker(options, wanted, since)


NO_SOURCE_PLACES = SourcePlaces()


@dataclass(frozen=True)
class StartOffsets:
    """Where the next start reads on, by partition."""

    batch_id: int
    offsets: Mapping[Partition, int] = field(default_factory=dict)


def stored_offsets(picture: Picture, entry: OffsetsEntry | None) -> Iterator[ExplainedOffset]:
    """Yield the offsets of an entry that are understood."""
    for position in range(len(entry.sources) if entry is not None else 0):
        assert entry is not None
        found = explained(picture, entry, position, {})
        if isinstance(found, ExplainedOffset):
            yield found


def stored_partitions(picture: Picture, entry: OffsetsEntry) -> dict[Partition, int]:
    """Return the next record of every Kafka partition of an entry."""
    return {
        (topic, int(partition)): record
        for one in stored_offsets(picture, entry)
        if one.kind == "kafka" and isinstance(one.decoded, dict)
        for topic, partitions in one.decoded.items()
        for partition, record in partitions.items()
    }


def next_records(picture: Picture) -> StartOffsets | None:
    """Return the records that the next start reads first; None where no entry tells them.

    A pending batch runs again from the offsets of the batch before it.
    """
    newest = picture.newest_offsets_id
    if newest is None or (entry := picture.offsets.get(newest)) is None:
        return None
    end = stored_partitions(picture, entry)
    before = picture.offsets.get(newest - 1) if picture.pending is not None else None
    start = stored_partitions(picture, before) if before is not None else {}
    return StartOffsets(newest, {**end, **start})
