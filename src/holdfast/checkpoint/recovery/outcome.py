"""What the next start of a query does with its checkpoint."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


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
    """A part of the checkpoint could not be read, so nobody can say."""


@dataclass(frozen=True)
class Outcome:
    """What one Spark release does."""

    action: Action
    batch_id: int | None
    reason: str
    sink_touched: bool = False
    """The batch reaches the sink although the start ends in failure."""


def failure(reason: str, batch_id: int | None = None, sink_touched: bool = False) -> Outcome:
    """Make the outcome of a start that fails."""
    return Outcome(Action.FAIL, batch_id, reason, sink_touched)


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
