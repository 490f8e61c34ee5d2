"""Decides whether the sources still have everything after a batch, so that it can be read again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from holdfast.checkpoint.layout import folder_of, matching_position
from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.progress import explained
from holdfast.checkpoint.recovery.logs import file_log_offset
from holdfast.diagnosis.inspection.sourcefiles import look_for
from holdfast.diagnosis.inspection.sources import Partition, stored_partitions
from holdfast.errors import DecodeError, PlanError
from holdfast.format.logs.filelog import effective_interval, needed_ids
from holdfast.format.logs.offsets import OffsetsEntry, decode_initial
from holdfast.format.sources import ExplainedOffset
from holdfast.format.strictjson import decode_object
from holdfast.remedy.facts import Facts

_GENERATED = frozenset({"rate", "rate-micro-batch"})
_ONCE_ONLY = frozenset({"memory", "socket"})
_GONE = (
    "replay reads everything again that came after the batch before. Replay from a later batch "
    "whose data is still there"
)
_UNKNOWN = (
    "rows that the source no longer has would be missing from the output. Plan it where the "
    "source can be reached"
)


@dataclass(frozen=True)
class _SourceRead:
    """One source of the query: where the batch before ended, None where it had no offset yet."""

    position: int
    name: str
    kind: str
    before: ExplainedOffset | None


def refuse_lost_source(facts: Facts, after: Picture) -> None:
    """Raise PlanError where a source lost what the next batch begins with, or cannot be asked.

    `after` is the checkpoint as it will be: its newest entry is where the sources go on.
    """
    newest = facts.subject.picture.newest_offsets
    if newest is None:
        message = "the newest offsets entry cannot be read, so that the sources are unknown"
        raise PlanError("HF4603", message, at=facts.location)
    for read in _reads(facts.subject.picture, newest, after.newest_offsets):
        if read.kind in _GENERATED:
            continue
        if read.kind == "file":
            _refuse_lost_files(facts, newest, after.newest_offsets, read)
        elif read.kind == "delta":
            _refuse_lost_versions(facts, read)
        elif read.kind == "kafka":
            _refuse_lost_records(facts, after, read)
        elif read.kind in _ONCE_ONLY:
            message = f"source {read.name} ({read.kind}) gives its rows only once"
            raise PlanError("HF4612", message, at=facts.location, why=_GONE)
        else:
            message = f"whether source {read.name} ({read.kind}) still has its data is unknown"
            raise PlanError("HF4603", message, at=facts.location, why=_UNKNOWN)


def _reads(
    picture: Picture, newest: OffsetsEntry, before: OffsetsEntry | None
) -> Iterator[_SourceRead]:
    for position, source in enumerate(newest.sources):
        told = explained(picture, newest, position, {})
        if isinstance(told, DecodeError):
            raise PlanError("HF4603", told.message, at=picture.location)
        earlier = matching_position(before, newest, position)
        then = None
        if before is not None and earlier is not None:
            found = explained(picture, before, earlier, {})
            if isinstance(found, DecodeError):
                raise PlanError("HF4603", found.message, at=picture.location)
            then = found
        if told is not None:
            yield _SourceRead(position, source.name, told.kind, then)


def _refuse_lost_files(
    facts: Facts, newest: OffsetsEntry, before: OffsetsEntry | None, read: _SourceRead
) -> None:
    picture = facts.subject.picture
    folder = folder_of(newest, read.position, picture.layout)
    source = picture.layout.sources.get(folder or "")
    logs = picture.source_logs.get(folder or "", {})
    if source is None or folder is None:
        message = f"the log of source {read.name} is not in the checkpoint"
        raise PlanError("HF4603", message, at=facts.location)
    last = max(source.files, default=-1)
    missing = [
        one for one in needed_ids(last, effective_interval(source.compact_ids)) if one not in logs
    ]
    if missing:
        message = f"sources/{folder} has no readable entry {missing[0]}"
        raise PlanError("HF4603", message, at=facts.location)
    earlier = matching_position(before, newest, read.position)
    start = file_log_offset(before, earlier) if before and earlier is not None else None
    begin = -1 if start is None else start
    wanted = {item.path for log in logs.values() for item in log.items if item.log_offset > begin}
    looked = look_for(wanted, facts.names_in)
    for one in looked.unlisted:
        message = f"{one} cannot be listed, so that it is unknown which files are there"
        raise PlanError("HF4603", message, at=facts.location, why=_UNKNOWN)
    if gone := looked.gone:
        more = f" (and {len(gone) - 1} more)" if len(gone) > 1 else ""
        message = f"source {read.name} no longer has {gone[0]}{more}"
        raise PlanError("HF4612", message, at=facts.location, why=_GONE)


def _refuse_lost_versions(facts: Facts, read: _SourceRead) -> None:
    begun: Mapping[str, object] = {}
    if read.before is not None and isinstance(read.before.decoded, dict):
        begun = read.before.decoded
    tables = facts.subject.sources.tables
    found = [one for one in tables if not begun or one.table_id == begun.get("reservoirId")]
    if not found or any(one.failure is not None for one in found) or (not begun and len(found) > 1):
        message = f"the Delta table of source {read.name} could not be asked for its versions"
        raise PlanError("HF4603", message, at=facts.location, why=_UNKNOWN)
    table = found[0]
    if not begun:
        # The first batch reads the table as it is now, or from the declared version on.
        if table.newest is None:
            raise _lost(facts, read, "the table no longer exists")
        return
    version, index = int(str(begun["reservoirVersion"])), begun["index"]
    if begun["isStartingVersion"]:
        if not table.has_snapshot(version):
            raise _lost(facts, read, f"version {version} of {table.location} cannot be read")
        return
    missing = table.first_missing(version)
    beyond = table.newest is not None and version > table.newest + 1
    if missing is not None or beyond or (index != -1 and version not in table.log.versions):
        shown = version if missing is None else missing
        raise _lost(facts, read, f"the log of {table.location} has no version {shown}")


def _refuse_lost_records(facts: Facts, after: Picture, read: _SourceRead) -> None:
    wanted = dict(_begins(facts, after, read))
    brokers = facts.subject.sources.brokers
    if len({one.servers for one in brokers}) != 1 or brokers[0].failure is not None:
        why = next((one.failure for one in brokers if one.failure), "it is not declared here")
        message = f"Kafka could not be asked what source {read.name} still has: {why}"
        raise PlanError("HF4603", message, at=facts.location, why=_UNKNOWN)
    for (topic, partition), record in sorted(wanted.items()):
        span = brokers[0].spans.get((topic, partition))
        if span is None:
            raise _lost(facts, read, f"{topic} partition {partition} no longer exists")
        if record < span.first:
            told = f"{topic} partition {partition} begins at {span.first}, record {record} is gone"
            raise _lost(facts, read, told)


def _begins(facts: Facts, after: Picture, read: _SourceRead) -> Iterator[tuple[Partition, int]]:
    """Yield where the next batch begins in each partition."""
    if after.newest_offsets is not None and read.before is not None:
        yield from stored_partitions(after, after.newest_offsets).items()
        return
    newest = facts.subject.picture.newest_offsets
    assert newest is not None
    folder = folder_of(newest, read.position, facts.subject.picture.layout)
    data = facts.subject.picture.initial_offsets.get(folder or "")
    if data is None:
        message = f"where source {read.name} began is not in the checkpoint"
        raise PlanError("HF4603", message, at=facts.location, why=_UNKNOWN)
    try:
        text = decode_initial(data).text
        began = decode_object(text, what="where a source began")
        for topic, partitions in began.items():
            for partition, record in dict(partitions).items():  # type: ignore[call-overload]
                yield (topic, int(partition)), int(record)
    except (DecodeError, TypeError, ValueError) as error:
        message = f"where source {read.name} began cannot be read: {error}"
        raise PlanError("HF4603", message, at=facts.location, why=_UNKNOWN) from error


def _lost(facts: Facts, read: _SourceRead, what: str) -> PlanError:
    return PlanError("HF4612", f"source {read.name}: {what}", at=facts.location, why=_GONE)
