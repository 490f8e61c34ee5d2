"""The result of `diff`: what differs between two checkpoints, or two batches of one, in logs and
state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, TypeVar

from holdfast.answers import OneLine
from holdfast.checkpoint.layout import in_order
from holdfast.checkpoint.operators import operators_of
from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.progress import Formats, advance
from holdfast.format.logs.commits import CommitEntry
from holdfast.format.logs.offsets import OffsetsEntry
from holdfast.format.sources import Amount
from holdfast.state.results import StateRow
from holdfast.wording import id_ranges


class Change(str, Enum):
    """What became of a row from the left to the right."""

    ADDED = "added"
    """Only the right has it."""
    CHANGED = "changed"
    """Both have it, with different values."""
    REMOVED = "removed"
    """Only the left has it."""


@dataclass(frozen=True)
class RowDifference:
    """One row that differs, as `state` shows it on either side."""

    change: Change
    """What became of it."""
    left: StateRow | None
    """None where it was added."""
    right: StateRow | None
    """None where it was removed."""


@dataclass(frozen=True)
class StoreComparison:
    """How the rows of one store, column family or state variable compare."""

    operator: int
    """The id of the operator."""
    store: str
    """The name of the store or state variable."""
    left_rows: int | None = None
    """Rows on the left; None where they were not compared."""
    right_rows: int | None = None
    """Rows on the right; None where they were not compared."""
    added: int | None = None
    """Rows that only the right has."""
    changed: int | None = None
    """Rows of keys that both have, with other values; of a list, elements at the same place."""
    removed: int | None = None
    """Rows that only the left has."""
    rows: tuple[RowDifference, ...] = ()
    """The first ones of each kind, in the order of `state`."""
    complete: bool = False
    """Every row that differs is among them."""
    not_compared: str | None = None
    """Why the rows were not compared; None where they were."""

    @property
    def identical(self) -> bool:
        """Both sides were read to the end and hold the same rows."""
        return self.not_compared is None and not (self.added or self.changed or self.removed)


Entry = TypeVar("Entry", OffsetsEntry, CommitEntry)
Key = TypeVar("Key")


@dataclass(frozen=True)
class Side:
    """One of the two checkpoints, or of the two batches."""

    location: str
    query_id: str | None
    last_planned: int | None
    last_committed: int | None
    batch_id: int | None = None
    """The batch whose state is compared; None where no state is."""


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
    damaged: tuple[int, ...] = ()
    """Ids whose entry cannot be decoded, on either side: these were not compared."""

    @property
    def differs(self) -> bool:
        """An entry is missing, says something else or cannot be decoded on one of the sides."""
        return bool(self.only_left or self.only_right or self.different or self.damaged)


NOT_COMPARED = LogComparison((), (), (), ())
"""Two batches of one checkpoint have the same logs."""


@dataclass(frozen=True)
class EntryDifference:
    """What one batch, or the two batches that are compared, say on either side."""

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


@dataclass(frozen=True, repr=False)
class Comparison(OneLine):
    """What differs between the logs and the states of two checkpoints, or of two batches."""

    SHOWN: ClassVar = ("left.location", "right.location", "same_query", "identical")
    COMMAND: ClassVar = "diff"

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
    stores: tuple[StoreComparison, ...] = ()
    """What differs in the state; empty where there is none, or it was not to be compared."""


def comparison_of(left: Picture, right: Picture, formats: Formats) -> Comparison:
    """Compare two pictures."""
    offsets = _compare_log(
        left.layout.offsets.ids,
        right.layout.offsets.ids,
        left.offsets,
        right.offsets,
        _refused("offsets", left, right),
    )
    commits = _compare_log(
        left.layout.commits.ids,
        right.layout.commits.ids,
        left.commits,
        right.commits,
        _refused("commits", left, right),
    )
    settings = differing(left.settings, right.settings)
    operators = differing(_names(left), _names(right))
    entries = tuple(
        difference
        for batch_id in offsets.different
        for difference in entry_differences(
            batch_id, left.offsets[batch_id], right.offsets[batch_id]
        )
    )
    ids = (left.query.id if left.query else None, right.query.id if right.query else None)
    logs = (offsets, commits)
    return Comparison(
        left=side_of(left),
        right=side_of(right),
        same_query=ids[0] is not None and ids[0] == ids[1],
        offsets=offsets,
        commits=commits,
        entries=entries,
        sources=distances(right, left.newest_offsets, right.newest_offsets, formats),
        settings=settings,
        operators=operators,
        identical=not settings
        and not operators
        and ids[0] == ids[1]
        and not any(log.differs for log in logs),
    )


def side_of(picture: Picture, batch_id: int | None = None) -> Side:
    """Name one of the two that are compared."""
    return Side(
        picture.location,
        picture.query.id if picture.query is not None else None,
        picture.newest_offsets_id,
        picture.newest_commit_id,
        batch_id,
    )


def _compare_log(
    left_ids: tuple[int, ...],
    right_ids: tuple[int, ...],
    left: Mapping[int, Entry],
    right: Mapping[int, Entry],
    damaged: tuple[int, ...],
) -> LogComparison:
    both = sorted(set(left) & set(right))
    return LogComparison(
        id_ranges(sorted(set(left_ids) - set(right_ids))),
        id_ranges(sorted(set(right_ids) - set(left_ids))),
        id_ranges(both),
        tuple(one for one in both if left[one] != right[one]),
        damaged,
    )


def _refused(log: str, *pictures: Picture) -> tuple[int, ...]:
    found = {
        int(name)
        for picture in pictures
        for damage in picture.damages
        if picture.refused(damage.file)
        for folder, _, name in (damage.file.partition("/"),)
        if folder == log and name.isascii() and name.isdigit()
    }
    return tuple(sorted(found))


def differing(
    left: Mapping[Key, str], right: Mapping[Key, str]
) -> dict[Key, tuple[str | None, str | None]]:
    """Return what two mappings say differently."""
    keys = [*left, *(key for key in right if key not in left)]
    return {key: (left.get(key), right.get(key)) for key in keys if left.get(key) != right.get(key)}


def _names(picture: Picture) -> dict[int, str]:
    return {one.id: one.name or "not named" for one in operators_of(picture)}


def entry_differences(
    batch_id: int, one: OffsetsEntry, other: OffsetsEntry
) -> list[EntryDifference]:
    """Return the differences between two entries, field by field."""
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


def distances(
    picture: Picture, one: OffsetsEntry | None, other: OffsetsEntry | None, formats: Formats
) -> tuple[SourceDistance, ...]:
    """Return how far each source of the second entry, which a picture holds, is ahead."""
    if one is None or other is None:
        return ()
    texts = {source.name: source.text for source in one.sources}
    return tuple(
        SourceDistance(
            index,
            source.name,
            texts.get(source.name),
            source.text,
            advance(picture, one, other, position, formats) if source.name in texts else None,
        )
        for index, position in enumerate(in_order(other))
        for source in (other.sources[position],)
    )
