"""What makes a batch the same batch, whoever delivers it and how often."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass


@dataclass(frozen=True)
class BatchIdentity:
    """One batch of one query, with the offsets that it was planned with."""

    query_id: str
    """The checkpoint's own; a reset makes another one."""
    batch_id: int
    generation: int
    """Which holder of the lease delivers it: it grows with every take-over."""
    offsets_digest: str
    """The SHA-256 of the bytes of `offsets/<batch_id>`."""

    @property
    def key(self) -> str:
        """One text for the query and the batch: the same however often the batch is delivered."""
        return f"{self.query_id}/{self.batch_id}"


def digest_of_offsets(entry: bytes) -> str:
    """Give the digest of an offsets entry, by which a re-run differs from a new plan."""
    return hashlib.sha256(entry).hexdigest()
