"""How a start goes on where nothing is in its way."""

from __future__ import annotations

from holdfast.checkpoint.gaps import skips_like_async
from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.recovery.outcome import Action, Outcome


def going_on(picture: Picture) -> Outcome:
    """Everything needed is there: plan the next batch, or run the pending one again."""
    planned, pending = picture.newest_offsets_id, picture.pending
    if planned is None:
        return Outcome(Action.FRESH, 0, "offsets/ holds no batch: batch 0 comes first")
    caution = ""
    if skips_like_async(picture) and planned - 1 not in picture.layout.offsets.files:
        caution = (
            f'; with async progress tracking, as before: without it Spark stops with "batch '
            f"{planned - 1} doesn't exist\""
        )
    if pending is None:
        return Outcome(
            Action.PLAN,
            planned + 1,
            f"batch {planned} is committed: the next start asks the sources for new data and "
            f"plans batch {planned + 1}{caution}",
        )
    return Outcome(
        Action.RERUN,
        pending,
        f"batch {pending} was planned but not committed: the next start runs it again with "
        f"exactly these offsets; the sink may already hold it{caution}",
    )
