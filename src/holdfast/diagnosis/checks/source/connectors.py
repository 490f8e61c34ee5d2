"""Sources of connectors: Delta offsets against the tables that they are of, the shards of
Kinesis."""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast.checkpoint.picture import Picture, entry_before
from holdfast.checkpoint.progress import explained
from holdfast.checkpoint.sourcefolders import matching_position
from holdfast.diagnosis.inspection.sources import stored_offsets
from holdfast.diagnosis.inspection.subject import Subject
from holdfast.findings import Finding, Place, Severity
from holdfast.format.sources import ExplainedOffset
from holdfast.format.sources.delta import STORED_BASE, DeltaOffset, DeltaOffsetReader
from holdfast.ledgers.delta.table import TableSeen

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
