"""Sources against what was stored: Kafka topics, Delta tables, Kinesis shards, and files of the
batch that runs again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from holdfast.checkpoint.layout import matching_position
from holdfast.checkpoint.picture import Picture, entry_before
from holdfast.checkpoint.progress import explained
from holdfast.diagnosis.inspection.sourcefiles import lost_files, may_be_missing
from holdfast.diagnosis.inspection.sources import (
    BrokerSeen,
    Partition,
    Span,
    StartOffsets,
    next_records,
    stored_offsets,
)
from holdfast.diagnosis.inspection.subject import DeclaredJob, Subject
from holdfast.findings import Finding, Place, Severity
from holdfast.format.sources import ExplainedOffset
from holdfast.format.sources.tables import STORED_BASE, DeltaOffset, DeltaOffsetReader
from holdfast.jobs.projectfile.substitution import has_reference
from holdfast.ledgers.delta.transactions import TableSeen

_SHOWN = 20
"""How many partitions a finding lists."""


def check_records_there(subject: Subject) -> Iterator[Finding]:
    """Report partitions whose next record is not in the topic any more, or not yet again."""
    start, broker = next_records(subject.picture), _only_broker(subject)
    if start is None or broker is None:
        return
    wrong = {
        one: gone for one, at in start.offsets.items() if (gone := _gone_topics(broker, one, at))
    }
    if wrong:
        (topic, partition), gone = min(wrong.items())
        message = f"{topic} partition {partition}: {gone}"
        if len(wrong) > 1:
            message += f" (and {len(wrong) - 1} more)"
        yield _finding("HF2369", message, start, wrong)


def check_same_topic(subject: Subject) -> Iterator[Finding]:
    """Report topics whose first record is newer than the last batch, which is past it."""
    start, broker = next_records(subject.picture), _only_broker(subject)
    if start is None or broker is None:
        return
    wrong: dict[Partition, str] = {}
    for one, at in start.offsets.items():
        span = broker.spans.get(one)
        if span is not None and _began_later(span, at):
            wrong[one] = f"the checkpoint is at {at}; the first record, {span.first}, is newer"
    if wrong:
        (topic, partition), gone = min(wrong.items())
        message = f"{topic} partition {partition}: {gone} than batch {start.batch_id}"
        yield _finding("HF2370", message, start, wrong)


def check_brokers_asked(subject: Subject) -> Iterator[Finding]:
    """Report brokers that could not be asked."""
    for broker in subject.sources.brokers:
        if broker.failure is not None:
            message = f"Kafka at {broker.servers or 'unknown servers'} was not contacted: "
            message += broker.failure
            severity = Severity.WARNING if broker.tried else Severity.INFO
            evidence = {"servers": broker.servers, "reason": broker.failure}
            yield Finding("HF2368", severity, message, Place(""), evidence)


def _only_broker(subject: Subject) -> BrokerSeen | None:
    """Return what the one broker said; with several, whose offsets are whose is not certain."""
    brokers = subject.sources.brokers
    if len({one.servers for one in brokers}) != 1 or brokers[0].failure is not None:
        return None
    return brokers[0]


def _gone_topics(broker: BrokerSeen, partition: Partition, at: int) -> str | None:
    span = broker.spans.get(partition)
    if span is None:
        what = "the partition" if partition[0] in broker.topics else "the topic"
        return f"{what} no longer exists"
    if at < span.first:
        return f"record {at} is next, the topic begins at {span.first}"
    if at > span.following:
        return f"record {at} is next, the topic ends before {span.following}"
    return None


def _began_later(span: Span, at: int) -> bool:
    """Return whether every record that is there came after the batch that was past them."""
    return span.first < at <= span.following and span.first_since == span.first


def _finding(code: str, message: str, start: StartOffsets, wrong: dict[Partition, str]) -> Finding:
    shown = {f"{topic}-{number}": gone for (topic, number), gone in sorted(wrong.items())}
    evidence = {"partitions": dict(list(shown.items())[:_SHOWN]), "count": len(shown)}
    place = Place(f"offsets/{start.batch_id}", line=3)
    return Finding(code, Severity.FATAL, message, place, evidence)


Partitions = Mapping[str, frozenset[int]]


@dataclass(frozen=True)
class _Declared:
    """What all Kafka sources of a job read together."""

    topics: frozenset[str] = frozenset()
    patterns: tuple[re.Pattern[str], ...] = ()
    assigned: Partitions = field(default_factory=dict)

    @property
    def words(self) -> str:
        """As the options spell it."""
        named = [*sorted(self.topics), *(f"/{one.pattern}/" for one in self.patterns)]
        named += [f"{topic}{sorted(parts)}" for topic, parts in sorted(self.assigned.items())]
        return ", ".join(named)

    def takes(self, topic: str, partition: int) -> bool:
        """Return whether a partition is still read."""
        fits = topic in self.topics or any(one.fullmatch(topic) for one in self.patterns)
        return fits or partition in self.assigned.get(topic, ())


def check_declared_topics(subject: Subject) -> Iterator[Finding]:
    """Report Kafka topics that are declared and unknown, or known and not declared any more."""
    declared = _declared(subject.job) if subject.job is not None else None
    recorded = _recorded(subject)
    if declared is None or not recorded:
        return
    gone = sorted(
        f"{topic}-{partition}"
        for topic, partitions in recorded.items()
        for partition in partitions
        if not declared.takes(topic, partition)
    )
    new = {*declared.topics, *declared.assigned} - recorded.keys()
    if not gone and not new:
        return
    message = f"topics {declared.words} are declared, the checkpoint has "
    message += ", ".join(sorted(recorded))
    evidence = {"declared": declared.words, "recorded": sorted(recorded), "gone": gone[:20]}
    place = Place(f"offsets/{subject.picture.newest_offsets_id}", line=3)
    yield Finding("HF2325", Severity.FATAL if gone else Severity.WARNING, message, place, evidence)


def _declared(job: DeclaredJob) -> _Declared | None:
    """Return what is declared; None where nothing is, or a part of it is not understood."""
    topics: set[str] = set()
    patterns: list[re.Pattern[str]] = []
    assigned: dict[str, frozenset[int]] = {}
    for source in job.job.named_sources.values():
        if source.format.lower() != "kafka":
            continue
        options = {key.lower(): value for key, value in source.options.items()}
        said = {key: options.get(key) for key in ("subscribe", "subscribepattern", "assign")}
        if not any(said.values()) or any(has_reference(one) for one in said.values() if one):
            return None
        try:
            topics |= {one.strip() for one in (said["subscribe"] or "").split(",") if one.strip()}
            patterns += [re.compile(one) for one in (said["subscribepattern"],) if one]
            assigned |= _assigned(said["assign"] or "{}")
        except (re.error, ValueError):
            # Patterns are Java's, and may say what Python's don't; the job itself is not judged.
            return None
    found = _Declared(frozenset(topics), tuple(patterns), assigned)
    return found if found.words else None


def _assigned(text: str) -> dict[str, frozenset[int]]:
    found = json.loads(text)
    if not isinstance(found, dict) or not all(isinstance(one, list) for one in found.values()):
        raise ValueError(text)
    return {topic: frozenset(map(int, partitions)) for topic, partitions in found.items()}


def _recorded(subject: Subject) -> Partitions:
    """Return the partitions of every topic in the newest offsets entry."""
    entry = subject.picture.newest_offsets
    found: dict[str, frozenset[int]] = {}
    for position in range(len(entry.sources) if entry is not None else 0):
        assert entry is not None
        offset = explained(subject.picture, entry, position, {})
        if isinstance(offset, ExplainedOffset) and offset.kind == "kafka":
            decoded = offset.decoded if isinstance(offset.decoded, dict) else {}
            for topic, partitions in decoded.items():
                found[str(topic)] = found.get(str(topic), frozenset()) | _numbers(partitions)
    return found


def _numbers(partitions: object) -> frozenset[int]:
    keys = partitions if isinstance(partitions, dict) else {}
    return frozenset(int(one) for one in keys if str(one).isdecimal())


def check_pending_files(subject: Subject) -> Iterator[Finding]:
    """Report files of the pending batch that are gone, unless it is skipped or may lack them."""
    pending, looked = subject.picture.pending, subject.sources.files
    if pending is None or _is_held(subject, pending) or _may_lack_files(subject):
        return
    found = lost_files(pending, looked)
    if found is not None:
        yield found
    for folder in looked.unlisted:
        message = f"files of batch {pending}, which runs again, were not looked for: "
        message += f"{folder} could not be listed"
        yield Finding("HF2368", Severity.WARNING, message, Place(""), {"folder": folder})


def _is_held(subject: Subject, batch_id: int) -> bool:
    if subject.sink is None or subject.query_id is None:
        return False
    held = subject.sink.last_committed(subject.query_id).value
    return held is not None and held >= batch_id


def _may_lack_files(subject: Subject) -> bool:
    """Return whether the project, or the last run where nothing is declared, says so."""
    run, job = subject.recorded.run_of(subject.picture), subject.job
    settings = job.settings if job is not None else (run.settings if run is not None else {})
    sources = job.job.named_sources.values() if job is not None else ()
    return may_be_missing(settings, (one.options for one in sources))


_SHARDS = re.compile(r"sources/([^/]+)/shard-commit/([0-9]+)")


def check_idle_delta_source(subject: Subject) -> Iterator[Finding]:
    """Report a pending batch that takes nothing from a Delta source between table versions."""
    picture = subject.picture
    newest_id, newest = picture.pending, picture.newest_offsets
    if newest_id is None or newest is None:
        return
    before = entry_before(picture, newest_id)
    for position, source in enumerate(newest.sources):
        earlier = matching_position(before, newest, position)
        now = explained(picture, newest, position, {})
        if before is None or earlier is None or not isinstance(now, ExplainedOffset):
            continue
        decoded = now.decoded
        idle = before.sources[earlier].text == source.text
        if idle and now.kind == "delta" and isinstance(decoded, dict) and decoded["index"] == -1:
            message = f"batch {newest_id} is pending and reads nothing from source {source.name}"
            place = Place(f"offsets/{newest_id}", line=position + 3)
            yield Finding("HF2307", Severity.WARNING, message, place)


def check_kinesis_shards(subject: Subject) -> Iterator[Finding]:
    """Report a Kinesis source without the file of shards of the newest committed batch."""
    committed = subject.picture.newest_commit_id
    kept: dict[str, set[int]] = {}
    for path in subject.picture.layout.items:
        found = _SHARDS.fullmatch(path)
        if found is not None:
            kept.setdefault(found[1], set()).add(int(found[2]))
    for name, ids in sorted(kept.items()):
        if committed is not None and committed not in ids:
            path = f"sources/{name}/shard-commit/{committed}"
            evidence = {"newest_kept": max(ids), "newest_commit": committed}
            yield Finding("HF2311", Severity.ERROR, f"{path} is missing", Place(path), evidence)


def check_same_table(subject: Subject) -> Iterator[Finding]:
    """Report offsets of a table that is none of those that are read now."""
    tables = subject.sources.tables
    known = {one.table_id for one in tables if one.table_id is not None}
    if not tables or any(_unknown(one) for one in tables):
        return
    for offset in _offsets(subject.picture, subject.picture.newest_offsets_id):
        if offset["reservoirId"] not in known:
            seen = ", ".join(f"{one.location} ({one.table_id or 'no table'})" for one in tables)
            message = (
                f"the checkpoint read table {offset['reservoirId']}; the declared table is {seen}"
            )
            evidence = {"recorded": offset["reservoirId"], "tables": sorted(known)}
            yield Finding("HF2366", Severity.FATAL, message, _place(subject), evidence)


def check_versions_there(subject: Subject) -> Iterator[Finding]:
    """Report versions that come next and are gone from the table's log."""
    newest = subject.picture.newest_offsets_id
    tables = {one.table_id: one for one in subject.sources.tables if one.table_id is not None}
    befores = {one["reservoirId"]: one for one in _offsets(subject.picture, _before(newest))}
    for offset in _offsets(subject.picture, newest):
        table = tables.get(offset["reservoirId"])
        # Spark has the source read the newest batch once more, also where it is committed.
        start = befores.get(offset["reservoirId"], offset)
        gone = _gone(table, start) if table is not None else None
        if table is not None and gone is not None:
            message = f"version {gone} of {table.location} is next, and its file is missing"
            evidence = {"next": gone, "oldest": table.oldest, "newest": table.newest}
            yield Finding("HF2367", Severity.FATAL, message, _place(subject), evidence)


def check_tables_readable(subject: Subject) -> Iterator[Finding]:
    """Report tables that could not be looked at."""
    for table in subject.sources.tables:
        if _unknown(table):
            why = "its log does not show the table's id"
            if table.failure is not None:
                why = table.failure.message
            message = f"the Delta source {table.location} could not be read: {why}"
            yield Finding("HF2368", Severity.WARNING, message, Place(""), {"reason": why})


def _gone(table: TableSeen, start: DeltaOffset) -> int | None:
    version = start["reservoirVersion"]
    if start["isStartingVersion"]:
        if start["index"] != STORED_BASE and not table.has_snapshot(version):
            return version
        return table.first_missing(version + 1)
    return table.first_missing(version)


def _unknown(table: TableSeen) -> bool:
    return table.failure is not None or (table.newest is not None and table.table_id is None)


def _offsets(picture: Picture, batch_id: int | None) -> Iterator[DeltaOffset]:
    entry = picture.offsets.get(batch_id) if batch_id is not None else None
    for one in stored_offsets(picture, entry):
        if one.kind == DeltaOffsetReader.kind:
            yield one.decoded  # type: ignore[misc]


def _before(batch_id: int | None) -> int | None:
    return None if batch_id is None else batch_id - 1


def _place(subject: Subject) -> Place:
    return Place(f"offsets/{subject.picture.newest_offsets_id}", line=3)
