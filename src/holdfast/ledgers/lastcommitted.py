"""What a sink says it last committed for a query, and how that is known."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LastCommitted:
    """The newest batch that a sink holds of a query."""

    value: int | None
    """The batch id, None where the sink holds none or does not tell."""
    basis: str
    """How it is known, or why not."""
    closed: bool = False
    """The sink takes nothing more of the query: its batches are being taken back, or were."""
