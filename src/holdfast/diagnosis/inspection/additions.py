"""Fields that a later Spark, or an unknown hand, added to entries: kept and shown, not dropped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from holdfast.checkpoint.picture import Picture


@dataclass(frozen=True)
class Addition:
    """One field that no known Spark writes."""

    file: str
    field: str
    value: object


def additions_of(picture: Picture) -> tuple[Addition, ...]:
    """Give every unknown field of the entries that the next start reads."""
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
