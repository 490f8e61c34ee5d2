"""The result of `inspect`: what is in a checkpoint and what the next start will do with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from holdfast.answers import OneLine
from holdfast.checkpoint.files import checksum_names
from holdfast.checkpoint.layout import LogFiles, in_order, matching_position
from holdfast.checkpoint.operators import Operator, operators_of
from holdfast.checkpoint.picture import Picture, entry_before, passed_over
from holdfast.checkpoint.progress import Batch, Formats, advance, explained, timeline
from holdfast.checkpoint.recovery.forecast import next_start
from holdfast.checkpoint.recovery.outcome import NextStart
from holdfast.checkpoint.recovery.state import provider_of
from holdfast.checkpoint.releases import RELEASES, SparkVersion, spark_version, unusual_settings
from holdfast.errors import DecodeError
from holdfast.format.sources import Amount, ExplainedOffset
from holdfast.wording import id_ranges

if TYPE_CHECKING:
    from holdfast.records.run import Run


@dataclass(frozen=True)
class Addition:
    """One field that no known Spark writes."""

    file: str
    field: str
    value: object


def additions_of(picture: Picture) -> tuple[Addition, ...]:
    """Return every unknown field of the entries that the next start reads."""
    return tuple(_additions(picture))


def _additions(picture: Picture) -> Iterator[Addition]:
    planned, committed = picture.newest_offsets_id, picture.newest_commit_id
    if picture.query is not None:
        yield from _each("metadata", picture.query.extra)
    if picture.newest_offsets is not None and picture.newest_offsets.metadata is not None:
        yield from _each(f"offsets/{planned}", picture.newest_offsets.metadata.extra)
    if picture.newest_commit is not None:
        yield from _each(f"commits/{committed}", picture.newest_commit.extra)
    for folder, operator in picture.operators.items():
        yield from _each(f"state/{folder}/_metadata", {**operator.extra, **operator.info_extra})
        for store in operator.stores:
            yield from _each(f"state/{folder}/_metadata", store.extra)


def _each(file: str, extra: Mapping[str, object]) -> Iterator[Addition]:
    for field, value in extra.items():
        yield Addition(file, field, value)


RECORDED = "recorded"


def recorded_version(run: Run | None, by_files: SparkVersion | None) -> SparkVersion | None:
    """Return the recorded release; None where the files are another's, which left no record."""
    if run is None:
        return None
    release = ".".join(run.versions.spark.split(".")[:2])
    if by_files is not None and release in RELEASES and not _within(release, by_files):
        return None
    return SparkVersion(run.versions.spark, release, release, RECORDED)


def _within(release: str, bounds: SparkVersion) -> bool:
    if bounds.low is None:
        return False
    low, high = (RELEASES.index(one) if one in RELEASES else 0 for one in (bounds.low, bounds.high))
    return low <= RELEASES.index(release) <= high


@dataclass(frozen=True)
class Batches:
    """The span of batches, each an id or null."""

    first_kept: int | None
    """The oldest batch of which an offsets entry is kept."""
    last_planned: int | None
    last_committed: int | None
    pending: int | None
    """Planned without a commit: the batch that the next start would run again."""

    @property
    def passed_over(self) -> int | None:
        """The newest batch that Spark will not run again."""
        return passed_over(self.last_committed, self.pending)


@dataclass(frozen=True)
class Log:
    """One of the two logs."""

    version: int | None
    """Version of the newest entry, null for an empty or unreadable log."""
    ids: tuple[tuple[int, int], ...]
    """The ids kept, as inclusive ranges."""


@dataclass(frozen=True)
class Logs:
    """Both logs."""

    offsets: Log
    commits: Log


@dataclass(frozen=True)
class Source:
    """One source of the query, in the order of the offsets log."""

    index: int
    name: str
    """Its name, or its index as text where sources have no names."""
    kind: str
    """file, kafka, delta, rate, rate-micro-batch, socket, memory, python, iceberg or unknown."""
    offset: object
    """Where the newest planned batch ends, decoded."""
    previous: object
    """Where it begins: the end of the batch before."""
    pending_amount: Amount | None
    """What the pending batch takes from this source; null when no batch is pending."""
    summary: str
    """The offset in one line."""
    candidates: tuple[str, ...]
    """What else the offset could be, where its shape fits several sources."""
    basis: str
    """How the kind is known."""
    note: str | None


@dataclass(frozen=True)
class Sink:
    """The sink, as a commit of log version 3 names it, or as the newest run recorded it."""

    kind: str
    identity: str | None
    last_committed: int | None
    """The newest commit; where it is recorded, the newest batch that a run noted as delivered;
    if the sink was read, the newest batch of this query in it."""
    basis: str
    """`read`, `recorded`, `declared`, or `asked` where the sink itself answered."""
    asked: str | None = None
    """Its source if the sink was read, or why that failed; null if it was not read."""
    native: bool = False
    """Whether the newest run had Spark's own sink write, as recorded."""


@dataclass(frozen=True)
class Part:
    """Size of one part of the checkpoint."""

    name: str
    files: int
    size_bytes: int


@dataclass(frozen=True)
class Unverified:
    """State files that were not compared: the forecast takes them for undamaged."""

    files: int
    """How many there are."""
    size_bytes: int
    """Their size in bytes."""


@dataclass(frozen=True, repr=False)
class Inspection(OneLine):
    """What is in the checkpoint and what the next start will do."""

    SHOWN: ClassVar = (
        "location",
        "batches.last_committed",
        "batches.pending",
        "next_start.action",
        "next_start.batch_id",
    )
    COMMAND: ClassVar = "inspect"

    location: str
    query_id: str | None
    size_bytes: int
    file_count: int
    batches: Batches
    next_start: NextStart
    logs: Logs
    sources: tuple[Source, ...]
    watermark_ms: int | None
    """The watermark that the next batch will use."""
    batch_timestamp_ms: int | None
    """When the newest batch was planned."""
    settings: Mapping[str, str]
    """Spark settings pinned by the newest offsets entry."""
    unusual_settings: Mapping[str, str]
    """Those of them that a new query would not get by default."""
    operators: tuple[Operator, ...]
    provider: str | None
    """hdfs, rocksdb, another provider's class, or null for a stateless query."""
    spark_version: SparkVersion
    sink: Sink | None
    timeline: tuple[Batch, ...]
    """The newest batches, oldest first."""
    parts: tuple[Part, ...]
    """Size by part."""
    additions: tuple[Addition, ...]
    """Fields in the newest entries that no known Spark writes."""
    verified: bool
    """Every file was read and compared with its checksums, not only those that were needed."""
    unverified: Unverified | None = None
    """State files that `next_start` assumes to be undamaged: with `verified` those without a
    checksum. Null where all were compared, or the query has none."""


def inspection_of(
    picture: Picture,
    *,
    formats: Formats,
    shown: int,
    spark: str | None,
    verified: bool,
    run: Run | None = None,
) -> Inspection:
    """Draw the result from a picture and the newest run's record; nothing is read any more."""
    layout = picture.layout
    by_files = spark_version(picture)
    version = recorded_version(run, by_files) or by_files
    newest = picture.newest_offsets
    return Inspection(
        location=picture.location,
        query_id=picture.query.id if picture.query is not None else None,
        size_bytes=layout.size_bytes,
        file_count=layout.file_count,
        batches=Batches(
            layout.offsets.ids[0] if layout.offsets.ids else None,
            picture.newest_offsets_id,
            picture.newest_commit_id,
            picture.pending,
        ),
        next_start=next_start(picture, spark or version.assumed),
        logs=_logs(picture),
        sources=_sources(picture, formats),
        watermark_ms=_next_watermark(picture),
        batch_timestamp_ms=newest.metadata.timestamp_ms if newest and newest.metadata else None,
        settings=picture.settings,
        unusual_settings=unusual_settings(picture.settings),
        operators=operators_of(picture),
        provider=provider_of(picture),
        spark_version=version,
        sink=_sink(picture) or _recorded_sink(run),
        timeline=timeline(picture, formats, shown),
        parts=_parts(picture),
        additions=additions_of(picture),
        verified=verified,
        unverified=_unverified(picture, verified),
    )


def _unverified(picture: Picture, verified: bool) -> Unverified | None:
    """Count the state files that nothing was compared with: where all is verified, those without
    a checksum, whose rows are not decoded here."""
    sizes = [
        item.size
        for operator in picture.layout.state.operators.values()
        for store in operator.stores.values()
        for partition in store.partitions.values()
        for item in partition.items()
        if not (verified and any(map(picture.layout.has_file, checksum_names(item.path))))
    ]
    return Unverified(len(sizes), sum(sizes)) if sizes else None


def _logs(picture: Picture) -> Logs:
    offsets, commit = picture.newest_offsets, picture.newest_commit
    return Logs(
        _log(picture.layout.offsets, offsets.version if offsets is not None else None),
        _log(picture.layout.commits, commit.version if commit is not None else None),
    )


def _log(files: LogFiles, version: int | None) -> Log:
    return Log(version, id_ranges(files.ids))


def _sources(picture: Picture, formats: Formats) -> tuple[Source, ...]:
    newest_id, newest = picture.newest_offsets_id, picture.newest_offsets
    if newest_id is None or newest is None:
        return ()
    before = entry_before(picture, newest_id)
    found: list[Source] = []
    for index, position in enumerate(in_order(newest)):
        source = newest.sources[position]
        now = explained(picture, newest, position, formats)
        earlier = matching_position(before, newest, position)
        was = (
            explained(picture, before, earlier, formats)
            if before is not None and earlier is not None
            else None
        )
        pending = picture.pending is not None and (before is not None or newest_id == 0)
        amount = advance(picture, before, newest, position, formats) if pending else None
        found.append(_source(index, source.name, now, was, amount, source.text))
    return tuple(found)


def _source(
    index: int,
    name: str,
    now: ExplainedOffset | DecodeError | None,
    was: ExplainedOffset | DecodeError | None,
    amount: Amount | None,
    text: str | None,
) -> Source:
    previous = was.decoded if isinstance(was, ExplainedOffset) else None
    if isinstance(now, ExplainedOffset):
        return Source(
            index=index,
            name=name,
            kind=now.kind,
            offset=now.decoded,
            previous=previous,
            pending_amount=amount,
            summary=now.summary,
            candidates=now.candidates,
            basis=now.basis,
            note=now.note,
        )
    note = now.message if now is not None else None
    summary = "no offset yet" if now is None else "not readable"
    return Source(
        index=index,
        name=name,
        kind="unknown",
        offset=text,
        previous=previous,
        pending_amount=None,
        summary=summary,
        candidates=(),
        basis="none",
        note=note,
    )


def _next_watermark(picture: Picture) -> int | None:
    newest = picture.newest_offsets
    if newest is None or newest.metadata is None:
        return None
    commit = picture.newest_commit
    if picture.pending is not None or commit is None:
        return newest.metadata.watermark_ms
    return max(newest.metadata.watermark_ms, commit.next_watermark_ms)


def _sink(picture: Picture) -> Sink | None:
    commit = picture.newest_commit
    for record in (commit.sinks or {}).values() if commit is not None else ():
        if record.is_active:
            return Sink(record.provider_name, record.sink_name, picture.newest_commit_id, "read")
    return None


def _recorded_sink(run: Run | None) -> Sink | None:
    if run is None or run.sink is None:
        return None
    return Sink(run.sink.kind, run.sink.identity, run.last_batch, RECORDED, native=run.sink.native)


def _parts(picture: Picture) -> tuple[Part, ...]:
    sizes = picture.layout.parts.items()
    return tuple(Part(name, size.files, size.size_bytes) for name, size in sizes if size.files)
