"""The timeline of batches: planned, committed, and what each took from its sources."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.checkpoint.gaps import entry_before
from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.sourcefolders import in_order
from holdfast.checkpoint.sourceview import Formats, advance
from holdfast.format.sources import Amount


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
    """What the batch took, a source each; None where it can't be told."""


def timeline(picture: Picture, formats: Formats, most: int) -> tuple[Batch, ...]:
    """Give the newest batches, oldest first."""
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
