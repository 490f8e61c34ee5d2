"""What a ledger answers about one batch: not there, there with these offsets, or unknown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class HeldOffsets:
    """What a sink's ledger has of one batch; *not there* is another answer than *unknown*."""

    held: bool | None
    """None where it cannot be determined."""
    digest: str | None = None
    """The stored digest; None where the batch is not there or its offsets are not known."""


UNKNOWN = HeldOffsets(None)
NOT_HELD = HeldOffsets(False)

OffsetsOf = Callable[[str, int], HeldOffsets]
"""Asks a ledger about a batch of a query; never raises."""


def unknown_offsets(_query_id: str, _batch_id: int) -> HeldOffsets:
    """Answer for a sink whose ledger cannot be asked about one batch."""
    return UNKNOWN


def held_with(digest: str | None) -> HeldOffsets:
    """Return the answer for a batch that is there; its digest may not be known."""
    return HeldOffsets(True, digest)
