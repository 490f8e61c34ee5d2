"""A batch that the ledger in a database holds, and what that makes of a delivery."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.ledgers.identity import BatchIdentity
from holdfast.spark.sinks.sink import Delivery


@dataclass(frozen=True)
class HeldBatch:
    """A batch that the ledger holds."""

    batch_id: int
    generation: int
    offsets_digest: str | None
    """None where the batch is older than those that are remembered one by one."""
    rows: int | None

    def is_of(self, identity: BatchIdentity) -> bool:
        """Return whether the ledger's row is known to be of the same offsets."""
        return self.offsets_digest is not None and identity.has_offsets(self.offsets_digest)


def delivery_of(
    held: HeldBatch | None, *, rows: int, generation: int, asked_again: bool
) -> Delivery:
    """Tell whether a batch was written by us: now, or by a commit whose answer was lost."""
    if held is None:
        return Delivery(skipped=False, rows=rows)
    ours = asked_again and held.generation == generation
    return Delivery(skipped=not ours, rows=held.rows if ours else None)
