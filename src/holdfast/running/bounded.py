"""Batches of a prepared checkpoint, which Spark runs one by one beside a running stream."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.jobs.ready import ReadySink
from holdfast.ledgers.sinkstate import SinkState

if TYPE_CHECKING:
    from holdfast.jobs.projectfile.job import Job


@dataclass(frozen=True, kw_only=True)
class BoundedBatches:
    """What is run: batches 1 to `last` of a checkpoint, each with offsets that are written down."""

    name: str
    """Under which they are in the sink; not the query's own."""
    last: int
    generation: int
    confirm: Callable[[], None]
    """Raises once the lease is lost."""
    keeps_newer: bool
    """A row of the sink stays where `order_by` says that it is newer."""
    fits: Callable[[ReadySink], None]
    """Raises where the sink is declared as another one than when this was planned."""
    fits_table: Callable[[SinkState], None]
    """Raises where another table is in its place, or none any more."""
    fits_job: Callable[[Job], None]
    """Raises where sources and transform are declared otherwise than when this was planned."""
    is_there: Callable[[int], None]
    """Raises where the source lacks what a batch reads: Spark would leave it out."""
    offered: Callable[[int], bytes]
    """Puts the offsets of a batch where Spark finds them, and those of no later one; returns them.
    """
    committed: Callable[[int], bool]
    """Whether Spark has committed a batch."""


@dataclass(frozen=True)
class ActLease:
    """The lease of an act, as the gate before the sink asks for it."""

    generation: int
    confirming: Callable[[], None]

    def confirm(self) -> None:
        """Raise LeaseError once it is lost."""
        self.confirming()
