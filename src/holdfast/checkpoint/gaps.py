"""Ids that a log skips, and whether async progress tracking would have skipped them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection
from itertools import pairwise

from holdfast.checkpoint.picture import Picture
from holdfast.format.logs.offsets import OffsetsEntry


def skips_like_async(picture: Picture) -> bool:
    """Tell whether both logs skip the same ids; a lost offsets file leaves its commit behind."""
    return both_skip(picture.layout.offsets.ids, picture.layout.commits.files)


def both_skip(ids: tuple[int, ...], commits: Collection[int]) -> bool:
    """Return whether both logs, given by their sorted ids, skip the same ids."""
    skipped = missing_between(ids)
    if not skipped:
        return False
    committed = set(commits)
    settled = tuple(one for one in ids if one in committed)
    return (
        bool(missing_between(settled))
        and not committed & set(skipped)
        and committed >= set(ids[:-1])
    )


def entry_before(picture: Picture, batch_id: int) -> OffsetsEntry | None:
    """Give the entry in which a batch begins; None where it is missing, or was not read."""
    ids = picture.layout.offsets.ids
    position = bisect_left(ids, batch_id)
    earlier = ids[position - 1] if position else None
    if earlier is None or (earlier != batch_id - 1 and not skips_like_async(picture)):
        return None
    return picture.offsets.get(earlier)


def missing_between(ids: tuple[int, ...]) -> list[int]:
    """Give the ids that are missing between the first and the last, at most 10 000 of them."""
    missing: list[int] = []
    if not ids or ids[-1] - ids[0] == len(ids) - 1:
        return missing
    for before, after in pairwise(ids):
        if len(missing) >= 10_000:
            break
        missing += range(before + 1, min(after, before + 10_001))
    return missing
