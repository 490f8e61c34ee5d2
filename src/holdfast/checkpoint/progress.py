"""How far sources were read: what offsets mean, what each batch took, the timeline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from holdfast.checkpoint.layout import folder_of, in_order, matching_position
from holdfast.checkpoint.picture import Picture, entry_before
from holdfast.checkpoint.recovery.logs import file_log_offset
from holdfast.errors import DecodeError
from holdfast.format.logs.offsets import OffsetsEntry
from holdfast.format.sources import (
    Amount,
    ExplainedOffset,
    SourceEvidence,
    amount_between,
    explain,
    files_amount,
    went_back,
)

Formats = Mapping[str, str]
"""A source's name in the project to the format declared there, in the order of the project."""


def evidence_of(
    picture: Picture, entry: OffsetsEntry, position: int, formats: Formats
) -> SourceEvidence | None:
    """Gather what tells the meaning of an offset; None where the source had none yet."""
    source = entry.sources[position]
    if source.text is None:
        return None
    folder = folder_of(entry, position, picture.layout)
    return SourceEvidence(
        source.text,
        initial=picture.initial_offsets.get(folder) if folder is not None else None,
        has_file_log=folder in picture.source_logs,
        provider=_provider(entry, source.name),
        declared_format=_declared(entry, position, formats),
    )


def _declared(entry: OffsetsEntry, position: int, formats: Formats) -> str | None:
    """Look a source up by its name, or by its place where the log knows sources by place only."""
    by_name = formats.get(entry.sources[position].name)
    if by_name is not None or len(formats) != len(entry.sources):
        return by_name
    return list(formats.values())[in_order(entry).index(position)]


def explained(
    picture: Picture, entry: OffsetsEntry, position: int, formats: Formats
) -> ExplainedOffset | DecodeError | None:
    """Explain an offset; the error stands in its place where it is not what its source writes."""
    evidence = evidence_of(picture, entry, position, formats)
    if evidence is None:
        return None
    try:
        return explain(evidence)
    except DecodeError as error:
        return error


def advance(
    picture: Picture,
    before: OffsetsEntry | None,
    after: OffsetsEntry,
    position: int,
    formats: Formats,
) -> Amount | None:
    """Measure what a batch took from a source; None where it is unknown."""
    now = explained(picture, after, position, formats)
    evidence = evidence_of(picture, after, position, formats)
    if evidence is None or not isinstance(now, ExplainedOffset):
        return None
    earlier = matching_position(before, after, position)
    start = (
        evidence_of(picture, before, earlier, formats) if before and earlier is not None else None
    )
    if now.kind == "file":
        counted = _files_between(picture, before, after, position, earlier)
        if counted is not None:
            return files_amount(counted)
    try:
        return amount_between(now.kind, start, evidence)
    except DecodeError:
        return None


def movement_back(
    picture: Picture, before: OffsetsEntry, after: OffsetsEntry, position: int
) -> str | None:
    """Say how a source's offset moved back from one entry to the next, None where it did not."""
    earlier = matching_position(before, after, position)
    if earlier is None:
        return None
    start = evidence_of(picture, before, earlier, {})
    end = evidence_of(picture, after, position, {})
    if start is None or end is None:
        return None
    now = explained(picture, after, position, {})
    if not isinstance(now, ExplainedOffset):
        return None
    try:
        return went_back(now.kind, start, end)
    except DecodeError:
        return None


def _provider(entry: OffsetsEntry, name: str) -> str | None:
    sources = entry.metadata.source_metadata if entry.metadata is not None else None
    reported = sources.get(name) if sources else None
    provider = reported.get("providerName") if isinstance(reported, dict) else None
    return provider if isinstance(provider, str) else None


def _files_between(
    picture: Picture,
    before: OffsetsEntry | None,
    after: OffsetsEntry,
    position: int,
    earlier: int | None,
) -> int | None:
    """Count files in the source's own log; None where an entry that tells was not read."""
    folder = folder_of(after, position, picture.layout)
    end = file_log_offset(after, position)
    if folder is None or end is None:
        return None
    start = file_log_offset(before, earlier) if before and earlier is not None else -1
    logs = picture.source_logs.get(folder, {})
    count = 0
    for log_id in range((-1 if start is None else start) + 1, end + 1):
        if log_id not in logs:
            return None
        count += sum(1 for item in logs[log_id].items if item.log_offset == log_id)
    return count


@dataclass(frozen=True)
class Batch:
    """One batch as the two logs tell it."""

    id: int
    planned: bool
    committed: bool
    timestamp_ms: int | None
    """The driver's clock when the batch was planned."""
    watermark_ms: int | None
    """The watermark that the batch used."""
    advances: tuple[Amount | None, ...]
    """What the batch took, one value per source; None where it is unknown."""


def timeline(picture: Picture, formats: Formats, most: int) -> tuple[Batch, ...]:
    """Return the newest batches, oldest first."""
    planned, committed = picture.layout.offsets.files, picture.layout.commits.files
    ids = sorted({*planned, *committed})[-most:]
    return tuple(_batch(picture, formats, batch_id) for batch_id in ids)


def _batch(picture: Picture, formats: Formats, batch_id: int) -> Batch:
    entry = picture.offsets.get(batch_id)
    metadata = entry.metadata if entry is not None else None
    before = entry_before(picture, batch_id)
    advances: tuple[Amount | None, ...] = ()
    # Without the entry before, the first kept batch's amount would count from the beginning.
    if entry is not None and (before is not None or batch_id == 0):
        positions = in_order(entry)
        advances = tuple(advance(picture, before, entry, at, formats) for at in positions)
    return Batch(
        id=batch_id,
        planned=batch_id in picture.layout.offsets.files,
        committed=batch_id in picture.layout.commits.files,
        timestamp_ms=metadata.timestamp_ms if metadata is not None else None,
        watermark_ms=metadata.watermark_ms if metadata is not None else None,
        advances=advances,
    )
