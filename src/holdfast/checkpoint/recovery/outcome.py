"""What the next start does with a checkpoint, and how it continues if nothing prevents it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from holdfast.checkpoint.picture import Picture, skips_like_async


class Action(str, Enum):
    """The first thing that Spark does with a checkpoint."""

    FRESH = "fresh"
    """Begin at batch 0, with a new query id where `metadata` is missing."""
    PLAN = "plan"
    """Ask the sources for new data and plan the batch after the newest."""
    RERUN = "rerun"
    """Run the newest planned batch again, with exactly its recorded offsets."""
    FAIL = "fail"
    UNKNOWN = "unknown"
    """A part of the checkpoint could not be read, so the outcome cannot be determined."""


@dataclass(frozen=True)
class StartOutcome:
    """What one Spark release does."""

    action: Action
    batch_id: int | None
    reason: str
    sink_touched: bool = False
    """The batch reaches the sink although the start ends in failure."""


def failure(reason: str, batch_id: int | None = None, sink_touched: bool = False) -> StartOutcome:
    """Make the outcome of a start that fails."""
    return StartOutcome(Action.FAIL, batch_id, reason, sink_touched)


@dataclass(frozen=True)
class Difference:
    """What another release would do instead."""

    spark: str
    action: Action
    reason: str


@dataclass(frozen=True)
class NextStart:
    """What the next start does, for the release assumed, and where others differ."""

    action: Action
    batch_id: int | None
    reason: str
    assumes_spark: str
    sink_touched: bool
    differs: tuple[Difference, ...]


def unhindered_start(picture: Picture) -> StartOutcome:
    """Everything needed is there: plan the next batch, or run the pending one again."""
    planned, pending = picture.newest_offsets_id, picture.pending
    if planned is None:
        return StartOutcome(Action.FRESH, 0, "offsets/ has no batch: batch 0 comes first")
    caution = ""
    if skips_like_async(picture) and planned - 1 not in picture.layout.offsets.files:
        caution = (
            '; with async progress tracking, as before: without it Spark fails with "batch '
            f"{planned - 1} doesn't exist\""
        )
    if pending is None:
        return StartOutcome(
            Action.PLAN,
            planned + 1,
            f"batch {planned} is committed: the next start gets new data from the sources and "
            f"plans batch {planned + 1}{caution}",
        )
    return StartOutcome(
        Action.RERUN,
        pending,
        f"batch {pending} was planned but not committed: the next start runs it again with "
        f"exactly these offsets; it may already be in the sink{caution}",
    )
