"""What a ledger of Holdfast's own tells at one look, whatever it is kept in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from holdfast.ledgers.lastcommitted import LastCommitted


@dataclass(frozen=True)
class OwnLedger:
    """The newest batch of every query that a sink took."""

    kind: str
    """`files`, `postgres` or `custom`."""
    location: str
    """Where the ledger is, as shown to people."""
    named: str
    """What it is, in words."""
    newest: Mapping[str, int]
    """Query id to the newest batch."""

    def last_committed(self, query_id: str | None) -> LastCommitted:
        """Give the newest batch of a query."""
        value = self.newest.get(query_id) if query_id is not None else None
        if value is not None:
            return LastCommitted.batch(value, f"read from {self.named}")
        told = LastCommitted.unknown if query_id is None else LastCommitted.nothing
        return told(f"no batch of this query is in {self.named}")
