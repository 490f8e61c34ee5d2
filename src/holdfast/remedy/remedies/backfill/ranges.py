"""Writes a range of a source down as offsets, in the words in which Spark recorded such ones.

Every batch of a backfill is run as one that was planned before: from the end of the one before it
to its own. So Spark decides nothing, and what a batch reads stands in the plan.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from holdfast.checkpoint.layout import folder_of
from holdfast.checkpoint.progress import explained
from holdfast.diagnosis.inspection.sourcefiles import plain_path
from holdfast.diagnosis.inspection.sources import stored_partitions
from holdfast.errors import PlanError, UsageError
from holdfast.format.logs.filelog import (
    DEFAULT_INTERVAL,
    FileLog,
    SourceFile,
    effective_interval,
    encode_source_log,
    is_compaction,
    log_name,
    needed_ids,
)
from holdfast.format.logs.offsets import OffsetsEntry
from holdfast.format.sources import ExplainedOffset
from holdfast.records.moments import epoch_seconds
from holdfast.remedy.facts import Facts
from holdfast.remedy.remedies.backfill.times import (
    FROM_TIME,
    TO_TIME,
    Resolved,
    resolved,
    time_notes,
)
from holdfast.remedy.sourcedata import (
    refuse_gone_files,
    refuse_lost_records,
    refuse_lost_versions,
)
from holdfast.wording import counted

_OTHERS = "supported are files, Delta tables and Kafka topics. Use replay, or reset"


@dataclass(frozen=True)
class SourceRange:
    """What is read again."""

    ends: tuple[str, ...]
    """Where the range begins, then where each batch ends."""
    shown: str
    single: bool
    folder: str = ""
    """The folder below `sources/` that gets files."""
    logs: Mapping[str, str] = field(default_factory=dict)
    """The files in it: which data files a batch reads."""
    notes: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    """The ends, with the times that they were resolved from: the plan is made again from these."""


@dataclass(frozen=True)
class _Asked:
    """Which range of which source."""

    facts: Facts
    entry: OffsetsEntry
    told: ExplainedOffset
    first: str
    last: str
    batches: int


def source_range(
    facts: Facts, entry: OffsetsEntry, options: Mapping[str, str], batches: int
) -> SourceRange:
    """Return a range of the only source, cut into batches; raise UsageError or PlanError."""
    if "from" not in options or "to" not in options:
        raise UsageError("HF1001", "pass both ends, from and to: a backfill is of a bounded range")
    times = options.get(FROM_TIME, ""), options.get(TO_TIME, "")
    ends = Resolved(options["from"], options["to"], *times)
    told = _only_source(facts, entry)
    declared = {name.lower() for name in facts.require_job().sources[0].options}
    refused = sorted(declared & _REFUSED)
    if refused:
        message = f"a source with the option {refused[0]} cannot be read next to the stream"
        raise PlanError("HF4601", message, at=facts.location, why=_OTHERS)
    ranged = _RANGES.get(told.kind)
    if ranged is None:
        message = f"a range of a {told.kind} source cannot be written down as offsets"
        raise PlanError("HF4601", message, at=facts.location, why=_OTHERS)
    ends = resolved(facts, entry, told.kind, ends)
    found = ranged(_Asked(facts, entry, told, ends.first, ends.last, batches))
    notes = (*found.notes, *time_notes(told.kind, ends))
    return replace(found, notes=notes, options=ends.options)


_REFUSED = frozenset({"schematrackinglocation", "readchangefeed", "readchangedata"})
"""Options with which a second reader would write to the first one's log, or read other rows."""


def _only_source(facts: Facts, entry: OffsetsEntry) -> ExplainedOffset:
    if len(facts.require_job().sources) != 1 or len(entry.sources) != 1 or entry.version != 1:
        message = "a backfill is only possible for a query that reads one source, once"
        raise PlanError("HF4601", message, at=facts.location, why=_OTHERS)
    told = explained(facts.subject.picture, entry, 0, {})
    if not isinstance(told, ExplainedOffset):
        message = "the newest offset of the source cannot be read"
        raise PlanError("HF4603", message, at=facts.location)
    return told


def _files(asked: _Asked) -> SourceRange:
    facts, first, last = asked.facts, asked.first, asked.last
    folder, known = _read_files(facts, asked.entry)
    is_in = _in_range(facts, first, last)
    chosen = sorted(
        (one for one in known if is_in(one)), key=lambda one: (one.timestamp_ms, one.path)
    )
    if not chosen:
        message = f"the stream has read no file from {first} to {last}"
        raise PlanError("HF4601", message, at=facts.location, why=_UNREAD)
    refuse_gone_files([one.path for one in chosen], facts.names_in, at=facts.location)
    parts = _parts(chosen, asked.batches)
    shown = counted(len(chosen), "file")
    return SourceRange(
        ends=tuple(f'{{"logOffset":{at}}}' for at in range(len(parts) + 1)),
        shown=f"{shown} from {first} to {last}",
        single=len(chosen) == 1,
        folder=folder,
        logs=_logs(parts),
        notes=("files that the stream has not read yet are not part of it",),
    )


_UNREAD = "files that the stream has not read yet are its own to read"


def _read_files(facts: Facts, entry: OffsetsEntry) -> tuple[str, list[SourceFile]]:
    """Return every file that the stream has read, and the folder of the source's log."""
    picture = facts.subject.picture
    folder = folder_of(entry, 0, picture.layout)
    source = picture.layout.sources.get(folder or "")
    if source is None or folder is None:
        message = "the log of the source is not in the checkpoint"
        raise PlanError("HF4603", message, at=facts.location)
    logs = picture.source_logs.get(folder, {})
    last = max(source.files, default=-1)
    needed = needed_ids(last, effective_interval(source.compact_ids))
    missing = [one for one in needed if one not in logs]
    if missing:
        message = f"sources/{folder} has no readable entry {missing[0]}"
        raise PlanError("HF4603", message, at=facts.location)
    reached = json.loads(entry.sources[0].text or "{}").get("logOffset", -1)
    found = {
        one.path: one for log in logs.values() for one in log.items if one.log_offset <= reached
    }
    return folder, list(found.values())


def _in_range(facts: Facts, first: str, last: str) -> Callable[[SourceFile], bool]:
    """Compare times of modification where both ends are moments, else names in their order."""
    moments = epoch_seconds(first), epoch_seconds(last)
    if moments[0] is not None and moments[1] is not None:
        start, end = int(moments[0] * 1000), int(moments[1] * 1000)
        if end < start:
            raise UsageError("HF1001", f"the end {last} is before the beginning {first}")
        return lambda one: start <= one.timestamp_ms <= end
    if last < first and not first.startswith(last):
        raise UsageError("HF1001", f"the end {last} is before the beginning {first}")
    path = facts.require_job().sources[0].path or ""
    root = plain_path(path).rstrip("/") + "/"

    def is_in(one: SourceFile) -> bool:
        spelled = plain_path(one.path)
        name = spelled[len(root) :] if spelled.startswith(root) else spelled.rpartition("/")[2]
        # A directory as the end of the range means everything in it.
        return first <= name and (name <= last or name.startswith(last.rstrip("/") + "/"))

    return is_in


def _parts(chosen: Sequence[SourceFile], batches: int) -> list[list[SourceFile]]:
    cuts = _cuts(0, len(chosen), min(batches, len(chosen)))
    return [list(chosen[begin:end]) for begin, end in pairwise(cuts)]


def _cuts(first: int, end: int, batches: int) -> list[int]:
    """Return where the batches begin and end, in about equal parts."""
    return [first + (end - first) * at // batches for at in range(batches + 1)]


def _logs(parts: Sequence[Sequence[SourceFile]]) -> dict[str, str]:
    """Return the source's log: an empty entry where the range begins, then one for each batch."""
    entries = [(), *parts]
    numbered = [
        [SourceFile(one.path, one.timestamp_ms, at) for one in files]
        for at, files in enumerate(entries)
    ]
    logs: dict[str, str] = {}
    for at, files in enumerate(numbered):
        if is_compaction(at, DEFAULT_INTERVAL):
            files = [one for part in numbered[: at + 1] for one in part]  # noqa: PLW2901
        content = encode_source_log(FileLog(1, tuple(files)))
        logs[log_name(at, DEFAULT_INTERVAL)] = content.decode()
    return logs


def _versions(asked: _Asked) -> SourceRange:
    facts, first, last = asked.facts, asked.first, asked.last
    if not (first.isdecimal() and last.isdecimal() and first.isascii() and last.isascii()):
        message = (
            "the ends of a range of a Delta source are versions of the table, such as 12, or times "
            "with a zone, such as 2026-01-01T00:00Z"
        )
        raise UsageError("HF1001", message)
    begin, end = int(first), int(last)
    if end < begin:
        raise UsageError("HF1001", f"the end {last} is before the beginning {first}")
    known: Any = asked.told.decoded
    table_id = str(known["reservoirId"])
    refuse_lost_versions(facts.subject.sources.tables, table_id, begin, end, at=facts.location)
    cuts = _cuts(begin, end + 1, min(asked.batches, end + 1 - begin))
    return SourceRange(
        ends=tuple(_version_offset(table_id, one) for one in cuts),
        shown=f"version {begin}" if begin == end else f"versions {begin} to {end}",
        single=begin == end,
    )


def _version_offset(table_id: str, version: int) -> str:
    """Spell where a version begins: as the end of the one before it is stored."""
    offset = {
        "sourceVersion": 1,
        "reservoirId": table_id,
        "reservoirVersion": version,
        "index": -1,
        "isStartingVersion": False,
    }
    return json.dumps(offset, separators=(",", ":"))


def _records(asked: _Asked) -> SourceRange:
    facts, first, last = asked.facts, asked.first, asked.last
    known = stored_partitions(facts.subject.picture, asked.entry)
    begins, ends = _partitions(first, "the beginning"), _partitions(last, "the end")
    wanted = sorted(begins)
    if sorted(ends) != wanted or not wanted:
        raise UsageError("HF1001", "both ends must name the same partitions")
    strange = [one for one in wanted if one not in known]
    if strange:
        topic, number = strange[0]
        message = f"the stream does not read {topic} partition {number}"
        raise PlanError("HF4601", message, at=facts.location)
    for (topic, number), begin in sorted(begins.items()):
        if ends[topic, number] < begin:
            raise UsageError("HF1001", f"{topic} partition {number} ends before it begins")
    # As before each batch: of an empty part nothing can be lost.
    read = {one: begin for one, begin in begins.items() if begin < ends[one]}
    refuse_lost_records(facts.subject.sources.brokers, read, ends, at=facts.location)
    total = sum(ends[one] - begins[one] for one in wanted)
    if not total:
        message = "the range is empty"
        raise PlanError("HF4601", message, at=facts.location)
    number = min(asked.batches, max(ends[one] - begins[one] for one in wanted))
    cuts = {one: _cuts(begins[one], ends[one], number) for one in wanted}
    # Where the stream is in the other partitions is no part of the plan: it goes on reading them.
    still = dict.fromkeys((one for one in known if one not in begins), 0)
    return SourceRange(
        ends=tuple(
            _records_offset({**still, **{one: cuts[one][at] for one in wanted}})
            for at in range(number + 1)
        ),
        shown=f"{counted(total, 'record')} of {counted(len(read), 'partition')}",
        single=total == 1,
    )


def _partitions(text: str, option: str) -> dict[tuple[str, int], int]:
    try:
        found = {
            (str(topic), int(number)): record
            for topic, partitions in json.loads(text).items()
            for number, record in partitions.items()
        }
    except (ValueError, TypeError, AttributeError, RecursionError):
        found = {}
    if not found or not all(type(record) is int and record >= 0 for record in found.values()):
        message = (
            f'{option} of a Kafka source is JSON such as {{"topic": {{"0": 1200}}}}, or a time '
            "with a zone, such as 2026-01-01T00:00Z"
        )
        raise UsageError("HF1001", message)
    return found


def _records_offset(records: Mapping[tuple[str, int], int]) -> str:
    by_topic: dict[str, dict[str, int]] = {}
    for (topic, number), record in sorted(records.items()):
        by_topic.setdefault(topic, {})[str(number)] = record
    return json.dumps(by_topic, separators=(",", ":"))


_Range = Callable[[_Asked], SourceRange]
_RANGES: Mapping[str, _Range] = {"file": _files, "delta": _versions, "kafka": _records}
