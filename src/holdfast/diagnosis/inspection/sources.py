"""What the sources of a checkpoint still have: Delta tables by their logs, Kafka by its broker,
files of the batch that runs again by their folders."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.progress import explained
from holdfast.diagnosis.inspection.sourcefiles import (
    NOTHING_LOOKED_FOR,
    FilesLookedFor,
    NamesIn,
    look_for_pending,
)
from holdfast.errors import HoldfastError
from holdfast.format.logs.offsets import OffsetsEntry
from holdfast.format.sources import ExplainedOffset
from holdfast.ledgers.delta.transactions import TableSeen, look_at_source_table
from holdfast.records.run import Run
from holdfast.storage.reading import Reader
from holdfast.wording import pip_line

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient


ASKED_SECONDS = 2.0
"""How long one question to the broker may take."""
CLOCKS_APART_MS = 60_000
"""How far the clocks of producers and of the driver may be apart."""

SERVERS = "kafka.bootstrap.servers"
_PROTOCOL = "kafka.security.protocol"
_SECURE = ("kafka.sasl.", "kafka.ssl.")
Partition = tuple[str, int]


@dataclass(frozen=True)
class Span:
    """The records of one partition: from the first to the one that comes next."""

    first: int
    following: int
    first_since: int | None = None
    """The first record from the asked moment on; None where there is none."""
    at_moments: tuple[int | None, ...] = ()
    """The first record from each of other moments on; None where there is none."""


@dataclass(frozen=True)
class BrokerSeen:
    """What a broker says of some partitions."""

    servers: str
    topics: frozenset[str] = frozenset()
    spans: Mapping[Partition, Span] = field(default_factory=dict)
    """By topic and partition; one that is not there does not exist any more."""
    failure: str | None = None
    """Why it could not be asked."""
    tried: bool = True
    """Whether a connection was tried."""


def ask_broker(
    options: Mapping[str, str],
    partitions: Collection[Partition],
    since_ms: int | None,
    moments_ms: Sequence[int] = (),
) -> BrokerSeen:
    """Ask for the span of each partition, and its first record from moments on; never raises.

    For `since_ms` clocks may be apart; `moments_ms` are taken as they are.
    """
    given = {key.lower(): value for key, value in options.items()}
    servers = given.get(SERVERS, "")
    if not servers.strip():
        return BrokerSeen(servers, failure=f"the source declares no {SERVERS}", tried=False)
    protocol = given.get(_PROTOCOL, "PLAINTEXT").upper()
    if protocol != "PLAINTEXT" or any(key.startswith(_SECURE) for key in given):
        why = f"the source is declared with {protocol} and options for Java's client"
        return BrokerSeen(servers, failure=why, tried=False)
    try:
        from confluent_kafka import KafkaException
        from confluent_kafka.admin import AdminClient
    except ImportError:
        why = f"confluent-kafka is not installed: {pip_line('kafka')}"
        return BrokerSeen(servers, failure=why, tried=False)
    settings: dict[str, str | int | float | bool] = {
        "bootstrap.servers": servers,
        "socket.timeout.ms": int(ASKED_SECONDS * 1000),
    }
    try:
        # With a logger that is never polled the client does not write to the terminal.
        client = AdminClient(settings, logger=logging.getLogger(__name__))
        return _asked(client, servers, partitions, since_ms, moments_ms)
    except (KafkaException, ValueError) as error:
        return BrokerSeen(servers, failure=_words(error))


def _asked(
    client: AdminClient,
    servers: str,
    wanted: Collection[Partition],
    since_ms: int | None,
    moments_ms: Sequence[int],
) -> BrokerSeen:
    # All topics are listed: asking for one by name could create it.
    listed = client.list_topics(timeout=ASKED_SECONDS).topics
    there = [one for one in wanted if one[0] in listed and one[1] in listed[one[0]].partitions]
    spans = dict(_spans(client, there, since_ms, moments_ms)) if there else {}
    return BrokerSeen(servers, frozenset(listed), spans)


def _spans(
    client: AdminClient, wanted: list[Partition], since_ms: int | None, moments_ms: Sequence[int]
) -> Iterator[tuple[Partition, Span]]:
    import confluent_kafka.admin

    admin: Any = confluent_kafka.admin
    # Before the first records are asked for: what retention removes meanwhile is noticed then.
    at_moments = [
        _offsets(client, wanted, admin.OffsetSpec.for_timestamp(max(one, 0))) for one in moments_ms
    ]
    first = _offsets(client, wanted, admin.OffsetSpec.earliest())
    following = _offsets(client, wanted, admin.OffsetSpec.latest())
    since: dict[Partition, int] = {}
    if since_ms is not None:
        moment = admin.OffsetSpec.for_timestamp(since_ms + CLOCKS_APART_MS)
        since = _offsets(client, wanted, moment)
    for one in wanted:
        at = tuple(_found(offsets[one]) for offsets in at_moments)
        yield one, Span(first[one], following[one], _found(since.get(one, -1)), at)


def _found(offset: int) -> int | None:
    return offset if offset >= 0 else None


def _offsets(client: AdminClient, wanted: list[Partition], spec: Any) -> dict[Partition, int]:
    from confluent_kafka import TopicPartition

    asked = {TopicPartition(*one): spec for one in wanted}
    answers = client.list_offsets(asked, request_timeout=ASKED_SECONDS)
    return {
        (one.topic, one.partition): answer.result(ASKED_SECONDS).offset
        for one, answer in answers.items()
    }


def _words(error: Exception) -> str:
    inner = error.args[0] if error.args else error
    text = getattr(inner, "str", None)
    return str(text()) if callable(text) else str(inner)


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
    files: FilesLookedFor = NOTHING_LOOKED_FOR
    """Of the batch that runs again."""


NO_SOURCES_SEEN = SourcesSeen()


@dataclass(frozen=True)
class SourcePlaces:
    """Where the sources are; nothing is read yet."""

    open_table: OpenTable | None = None
    tables: tuple[str, ...] = ()
    """The declared paths of Delta tables."""
    kafka: KafkaOptions | None = None
    names_in: NamesIn | None = None
    """Lists folders that file sources read."""
    here: bool = False
    """The checkpoint is known to be where its job runs: local paths are those that Spark reads."""

    def look(self, picture: Picture, run: Run | None) -> SourcesSeen:
        """Look at what the newest offsets are of, and at nothing else; never raises."""
        kinds = {one.kind for one in stored_offsets(picture, picture.newest_offsets)}
        tables = tuple(self._tables(run)) if "delta" in kinds else ()
        brokers = tuple(self._brokers(picture)) if "kafka" in kinds else ()
        files = NOTHING_LOOKED_FOR
        if self.names_in is not None:
            files = look_for_pending(picture, self.names_in, here=self.here)
        return SourcesSeen(tables, brokers, files)

    def ask_kafka(self, partitions: Collection[Partition], moments_ms: Sequence[int]) -> BrokerSeen:
        """Ask the only declared broker for the first records from moments on; never raises."""
        try:
            declared = self.kafka() if self.kafka is not None else ()
        except HoldfastError as failure:
            return BrokerSeen("", failure=failure.message, tried=False)
        if len(declared) != 1:
            return BrokerSeen("", failure="no single Kafka source is declared", tried=False)
        return ask_broker(declared[0], partitions, None, moments_ms)

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
