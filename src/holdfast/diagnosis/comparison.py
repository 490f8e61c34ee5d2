"""The result of `diff A B`: what differs between the logs of two checkpoints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from holdfast.answers import Answer
from holdfast.checkpoint.operatorview import operators_of
from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.reading import read_picture
from holdfast.checkpoint.sourceview import Formats, advance
from holdfast.diagnosis.checks import check_picture
from holdfast.diagnosis.ranges import id_ranges
from holdfast.findings import Finding
from holdfast.format.commits import CommitEntry
from holdfast.format.offsets import OffsetsEntry
from holdfast.format.sources import Amount
from holdfast.storage.reading import Reader

Entry = TypeVar("Entry", OffsetsEntry, CommitEntry)
Key = TypeVar("Key")


@dataclass(frozen=True)
class Side:
    """One of the two checkpoints."""

    location: str
    query_id: str | None
    last_planned: int | None
    last_committed: int | None


@dataclass(frozen=True)
class LogComparison:
    """How the ids and entries of one log compare."""

    only_left: tuple[tuple[int, int], ...]
    only_right: tuple[tuple[int, int], ...]
    """Ids kept on one side only, as inclusive ranges."""
    compared: tuple[tuple[int, int], ...]
    """Ids whose entries were read on both sides."""
    different: tuple[int, ...]
    """Those of them whose entries say different things."""


@dataclass(frozen=True)
class EntryDifference:
    """What one batch says on either side."""

    batch_id: int
    field: str
    left: object
    right: object


@dataclass(frozen=True)
class SourceDistance:
    """How far one source of the right checkpoint is ahead of the left one's."""

    index: int
    name: str
    left: str | None
    right: str | None
    amount: Amount | None


@dataclass(frozen=True)
class Comparison:
    """What differs between the logs of two checkpoints."""

    left: Side
    right: Side
    same_query: bool
    """Both bear the same query id: one is a copy of the other, or they are one place."""
    offsets: LogComparison
    commits: LogComparison
    entries: tuple[EntryDifference, ...]
    """The differing fields of batches that both sides have."""
    sources: tuple[SourceDistance, ...]
    settings: Mapping[str, tuple[str | None, str | None]]
    """Pinned settings that differ between the newest entries."""
    operators: Mapping[int, tuple[str | None, str | None]]
    """Stateful operators that differ in name, or exist on one side only."""
    identical: bool
    """Nothing that was compared differs."""


def compare_checkpoints(
    left: Reader, right: Reader, *, formats: Formats | None = None, most: int
) -> Answer[Comparison]:
    """Compare the newest batches of two checkpoints; nothing is written."""
    one, other = read_picture(left, history=most), read_picture(right, history=most)
    return Answer(
        command="diff",
        location=one.location,
        result=comparison_of(one, other, formats or {}),
        findings=_findings(one, other),
    )


def comparison_of(left: Picture, right: Picture, formats: Formats) -> Comparison:
    """Compare two pictures."""
    offsets = _compare_log(
        left.layout.offsets.ids, right.layout.offsets.ids, left.offsets, right.offsets
    )
    commits = _compare_log(
        left.layout.commits.ids, right.layout.commits.ids, left.commits, right.commits
    )
    settings = _differing(left.settings, right.settings)
    operators = _differing(_names(left), _names(right))
    entries = tuple(
        difference
        for batch_id in offsets.different
        for difference in _entry_differences(batch_id, left, right)
    )
    ids = (left.query.id if left.query else None, right.query.id if right.query else None)
    logs = (offsets, commits)
    return Comparison(
        left=_side(left),
        right=_side(right),
        same_query=ids[0] is not None and ids[0] == ids[1],
        offsets=offsets,
        commits=commits,
        entries=entries,
        sources=_distances(left, right, formats),
        settings=settings,
        operators=operators,
        identical=not settings
        and not operators
        and ids[0] == ids[1]
        and not any(log.only_left or log.only_right or log.different for log in logs),
    )


def _side(picture: Picture) -> Side:
    return Side(
        picture.location,
        picture.query.id if picture.query is not None else None,
        picture.newest_offsets_id,
        picture.newest_commit_id,
    )


def _compare_log(
    left_ids: tuple[int, ...],
    right_ids: tuple[int, ...],
    left: Mapping[int, Entry],
    right: Mapping[int, Entry],
) -> LogComparison:
    both = sorted(set(left) & set(right))
    return LogComparison(
        id_ranges(sorted(set(left_ids) - set(right_ids))),
        id_ranges(sorted(set(right_ids) - set(left_ids))),
        id_ranges(both),
        tuple(one for one in both if left[one] != right[one]),
    )


def _differing(
    left: Mapping[Key, str], right: Mapping[Key, str]
) -> dict[Key, tuple[str | None, str | None]]:
    keys = [*left, *(key for key in right if key not in left)]
    return {key: (left.get(key), right.get(key)) for key in keys if left.get(key) != right.get(key)}


def _names(picture: Picture) -> dict[int, str]:
    return {one.id: one.name or "not named" for one in operators_of(picture)}


def _entry_differences(batch_id: int, left: Picture, right: Picture) -> list[EntryDifference]:
    one, other = left.offsets[batch_id], right.offsets[batch_id]
    fields = {"version": (one.version, other.version)}
    found: dict[str, tuple[object, object]] = dict(fields)
    if one.metadata is not None and other.metadata is not None:
        found["watermark_ms"] = (one.metadata.watermark_ms, other.metadata.watermark_ms)
        found["timestamp_ms"] = (one.metadata.timestamp_ms, other.metadata.timestamp_ms)
        found["settings"] = (dict(one.metadata.settings), dict(other.metadata.settings))
    names = [source.name for source in one.sources]
    texts = {source.name: source.text for source in other.sources}
    for source in one.sources:
        found[f"source {source.name}"] = (source.text, texts.get(source.name))
    for name, text in texts.items():
        if name not in names:
            found[f"source {name}"] = (None, text)
    return [
        EntryDifference(batch_id, name, *pair) for name, pair in found.items() if pair[0] != pair[1]
    ]


def _distances(left: Picture, right: Picture, formats: Formats) -> tuple[SourceDistance, ...]:
    one, other = left.newest_offsets, right.newest_offsets
    if one is None or other is None:
        return ()
    texts = {source.name: source.text for source in one.sources}
    return tuple(
        SourceDistance(
            index,
            source.name,
            texts.get(source.name),
            source.text,
            advance(right, one, other, index, formats) if source.name in texts else None,
        )
        for index, source in enumerate(other.sources)
    )


def _findings(left: Picture, right: Picture) -> tuple[Finding, ...]:
    """Damage on either side makes the comparison incomplete, so it is told with it."""
    return tuple(
        finding
        for picture in (left, right)
        for finding in check_picture(picture)
        if finding.code.startswith("HF21") or finding.code == "HF2230"
    )
