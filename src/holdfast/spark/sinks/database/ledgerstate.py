"""What a ledger in a database keeps beside its batches, and what both make of a batch.

It lies in rows of the ledger itself, under a name and a batch id that no written table has: whoever
may write the ledger may write them, no ledger has to be altered, and an older Holdfast does not see
them. One row for each query is what its drivers lock: there is always something to wait for.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from holdfast.errors import SinkError
from holdfast.ledgers.identity import BatchIdentity
from holdfast.spark.sinks.database.heldbatch import HeldBatch

RESERVED_BATCH = -1
"""The batch id of every row that is no batch."""
WHOLE_TABLE = "*"
"""Stands for the query in the row that counts for all queries of a table."""
NOTHING_PRUNED = -1


def reserved_name(table: str) -> str:
    """Give what stands for the written table in rows that are no batches."""
    return f"holdfast:{table}"


@dataclass(frozen=True)
class QueryState:
    """What is known of a query in a table, apart from its batches."""

    fence: int = 0
    """The generation under which batches were taken back last; no older one commits any more."""
    pruned_rows: int = 0
    """How many rows the batches brought whose ledger rows are removed."""
    pruned_through: int = NOTHING_PRUNED
    """The newest of them: up to here a batch without a ledger row is in the table."""
    pruned_from: int = 0
    """The oldest of them: a job that was adopted began later than with batch 0."""
    rows_known: bool = True
    """False where an older Holdfast removed ledger rows and kept no total."""

    @property
    def text(self) -> str:
        """What has no column of its own in a ledger row."""
        told = {"pruned": [self.pruned_from, self.pruned_through], "rows_known": self.rows_known}
        return json.dumps(told)

    def was_pruned(self, batch_id: int) -> bool:
        """Tell whether a batch is in the table although it has no ledger row."""
        return self.pruned_from <= batch_id <= self.pruned_through

    def pruned(self, rows: int, oldest: int, newest: int) -> QueryState:
        """Give the state after the ledger rows of more batches were removed."""
        first = oldest if self.pruned_through == NOTHING_PRUNED else self.pruned_from
        total = self.pruned_rows + rows
        return replace(self, pruned_rows=total, pruned_from=first, pruned_through=newest)


def state_of(generation: int, text: str, rows: int) -> QueryState:
    """Read the row of a query; what can't be read is unknown, which no act takes for safe."""
    try:
        told = json.loads(text)
        first, last = map(int, told["pruned"])
        known = told["rows_known"] is True
    except (ValueError, TypeError, KeyError):
        return QueryState(int(generation), int(rows), rows_known=False)
    return QueryState(int(generation), int(rows), last, first, known)


def state_of_older_ledger(oldest: int | None, newest: int | None, kept: int) -> QueryState:
    """Give the state of a query whose batches an older Holdfast wrote.

    It removed every batch but the newest `kept`, and no others.
    """
    if oldest is None or newest is None or oldest == 0 or newest - oldest + 1 < kept:
        return QueryState()
    return QueryState(pruned_through=oldest - 1, rows_known=False)


def is_pruning_due(batch_id: int, kept: int) -> bool:
    """Tell whether old batches are to be removed with this one: at every hundredth part of `kept`.

    A batch more or less costs nothing; two statements for each batch do.
    """
    return batch_id >= kept and batch_id % max(1, kept // 100) == 0


@dataclass(frozen=True)
class TableState:
    """What is known of a table, whatever the query."""

    clears: int = 0
    """How often it was cleared: a driver that opened it before must not write it any more."""
    zone: str | None = None
    """The time zone of moments in columns that have none of their own."""

    @property
    def text(self) -> str:
        """What has no column of its own in a ledger row."""
        return self.zone or "-"


def table_state_of(generation: int, text: str) -> TableState:
    """Read the row of a table."""
    return TableState(int(generation), None if text == "-" else text)


@dataclass(frozen=True)
class Seen:
    """What a ledger tells of one batch, read at one moment."""

    state: QueryState
    table: TableState
    newest: HeldBatch | None
    same: HeldBatch | None
    """The batch itself."""

    @property
    def generation(self) -> int:
        """The greatest generation that committed a batch or took batches back."""
        return max(self.state.fence, 0 if self.newest is None else self.newest.generation)

    def delivered_rows(self, *, newest_only: bool) -> bool | None:
        """Return whether a batch brought rows; None where every batch has to be asked."""
        has_rows = self.newest is not None and bool(self.newest.rows)
        if newest_only or has_rows:
            return has_rows
        return True if self.state.pruned_rows else None


@dataclass(frozen=True)
class Judge:
    """Decides what the ledger of one table means for a batch or an act."""

    shown: str | None
    """The table, as shown to people."""

    def held(self, seen: Seen, identity: BatchIdentity) -> HeldBatch | None:
        """Give the batch where it is held; raise where it must not be written."""
        self.refuse_older(seen, identity.generation)
        if seen.newest is None or seen.newest.batch_id < identity.batch_id:
            return None
        if seen.same is None:
            if seen.state.was_pruned(identity.batch_id):
                return HeldBatch(identity.batch_id, identity.generation, None, None)
            message = (
                f"the ledger of {self.shown} has batch {seen.newest.batch_id}, but not batch "
                f"{identity.batch_id}"
            )
            raise SinkError("HF5046", message, at=self.shown)
        if not seen.same.is_of(identity):
            message = f"{self.shown} holds batch {identity.batch_id} with other offsets"
            raise SinkError("HF5003", message, at=self.shown)
        return seen.same

    def refuse_older(self, seen: Seen, generation: int) -> None:
        """Raise HF5042 where a newer generation committed a batch or took batches back."""
        newest, fence = seen.newest, seen.state.fence
        if newest is not None and newest.generation > generation:
            did = f"generation {newest.generation} wrote batch {newest.batch_id} to {self.shown}"
        elif fence > generation:
            did = f"generation {fence} took batches back from {self.shown}"
        else:
            return
        steps = (
            "stop this driver: another one runs the job now",
            "if no other driver is running, start the job again: it takes a lease with a newer "
            "generation than the ledger knows",
        )
        message = f"{did}; this driver is generation {generation}"
        raise SinkError("HF5042", message, at=self.shown, next_steps=steps)

    def refuse_cleared(self, opened: TableState, now: TableState) -> None:
        """Raise HF5047 where the table was cleared after this driver had opened it."""
        if now.clears != opened.clears:
            message = f"{self.shown} was cleared after this driver had opened it"
            raise SinkError("HF5047", message, at=self.shown)
