"""What a ledger in a database knows of a query, and what that means for a batch or a start.

What it keeps beside its batches lies in rows of the ledger itself, under a name and a batch id that
no written table has: whoever may write the ledger may write them, no ledger has to be altered, and
an older Holdfast does not see them. One row for each query is what its drivers lock: there is
always something to wait for.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.errors import SinkError
from holdfast.jobs.ready import ReadySink
from holdfast.ledgers.identity import BatchIdentity
from holdfast.ledgers.sinkstate import Contents, SinkAnswer, SinkState

if TYPE_CHECKING:
    from holdfast.spark.sinks.database.dialect import DatabaseConnection
    from holdfast.spark.sinks.database.ledger import DatabaseLedger


RESERVED_BATCH = -1
"""The batch id of every row that is no batch."""
WHOLE_TABLE = "*"
"""Stands for the query in the row that counts for all queries of a table."""
NOTHING_PRUNED = -1


def reserved_name(table: str) -> str:
    """Return what stands for the written table in rows that are no batches."""
    return f"holdfast:{table}"


@dataclass(frozen=True)
class CommittedBatch:
    """A batch that is in the table by the ledger's word."""

    batch_id: int
    generation: int
    offsets_digest: str | None
    """None where the batch is older than those that are remembered one by one."""
    rows: int | None

    def is_of(self, identity: BatchIdentity) -> bool:
        """Return whether the ledger's row is known to be of the same offsets."""
        return self.offsets_digest is not None and identity.has_offsets(self.offsets_digest)


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
        pruned = [self.pruned_from, self.pruned_through]
        return json.dumps({"pruned": pruned, "rows_known": self.rows_known})

    def was_pruned(self, batch_id: int) -> bool:
        """Return whether a batch is in the table although it has no ledger row."""
        return self.pruned_from <= batch_id <= self.pruned_through

    def pruned(self, rows: int, oldest: int, newest: int) -> QueryState:
        """Return the state after the ledger rows of more batches were removed."""
        first = oldest if self.pruned_through == NOTHING_PRUNED else self.pruned_from
        total = self.pruned_rows + rows
        return replace(self, pruned_rows=total, pruned_from=first, pruned_through=newest)


def state_of(generation: int, text: str, rows: int) -> QueryState:
    """Return what the row of a query says; what can't be read is unknown, so never safe."""
    try:
        kept = json.loads(text)
        first, last = map(int, kept["pruned"])
        known = kept["rows_known"] is True
    except (ValueError, TypeError, KeyError):
        return QueryState(int(generation), int(rows), rows_known=False)
    return QueryState(int(generation), int(rows), last, first, known)


def state_of_older_ledger(oldest: int | None, newest: int | None, kept: int) -> QueryState:
    """Return the state of a query whose batches an older Holdfast wrote.

    It removed every batch but the newest `kept`, and no others.
    """
    if oldest is None or newest is None or oldest == 0 or newest - oldest + 1 < kept:
        return QueryState()
    return QueryState(pruned_through=oldest - 1, rows_known=False)


def is_pruning_due(batch_id: int, kept: int) -> bool:
    """Return whether old batches are removed with this one: at every hundredth part of `kept`.

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
    """Return what the row of a table says."""
    return TableState(int(generation), None if text == "-" else text)


@dataclass(frozen=True)
class LedgerView:
    """What a ledger says of one batch, read at one moment."""

    state: QueryState
    table: TableState
    newest: CommittedBatch | None
    same: CommittedBatch | None
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
class LedgerJudge:
    """Decides what the ledger of one table means for a batch or an act."""

    shown: str | None
    """The table, as shown to people."""

    def committed(self, view: LedgerView, identity: BatchIdentity) -> CommittedBatch | None:
        """Return the batch where it is in the table; raise where it must not be written."""
        self.refuse_older(view, identity.generation)
        if view.newest is None or view.newest.batch_id < identity.batch_id:
            return None
        if view.same is None:
            if view.state.was_pruned(identity.batch_id):
                return CommittedBatch(identity.batch_id, identity.generation, None, None)
            message = (
                f"the ledger of {self.shown} has batch {view.newest.batch_id}, but not batch "
                f"{identity.batch_id}"
            )
            raise SinkError("HF5046", message, at=self.shown)
        if not view.same.is_of(identity):
            message = f"{self.shown} has batch {identity.batch_id} with different offsets"
            raise SinkError("HF5003", message, at=self.shown)
        return view.same

    def refuse_lost(self, view: LedgerView, delivered: int | None) -> None:
        """Raise HF5027 where the newest batch of this run is not in the ledger any more.

        A standby that was promoted lacks what the former server committed last; Spark has committed
        these batches and does not run them again.
        """
        newest = -1 if view.newest is None else view.newest.batch_id
        if delivered is None or delivered <= newest or view.state.was_pruned(delivered):
            return
        has = "no batch" if newest < 0 else f"only the batches up to {newest}"
        lost = f"batch {delivered} is" if delivered == newest + 1 else (
            f"batches {newest + 1} to {delivered} are")  # fmt: skip
        message = (
            f"this run delivered batch {delivered} to {self.shown}, whose ledger now has {has}: "
            f"{lost} missing"
        )
        why = (
            "the database lost committed batches, as after a failover to a standby that was "
            "behind, or rows of the ledger were deleted. Spark does not deliver these batches "
            "again. Nothing of this batch was written"
        )
        steps = (
            "put the output back as it was, from a backup, then start the job again",
            "or start the job as it is: the start compares the ledger with the checkpoint, and "
            "refuses it (HF3006) unless you accept that the rows are missing",
        )
        raise SinkError("HF5027", message, at=self.shown, why=why, next_steps=steps)

    def refuse_older(self, view: LedgerView, generation: int) -> None:
        """Raise HF5042 where a newer generation committed a batch or took batches back."""
        newest, fence = view.newest, view.state.fence
        if newest is not None and newest.generation > generation:
            did = f"generation {newest.generation} wrote batch {newest.batch_id} to {self.shown}"
        elif fence > generation:
            did = f"generation {fence} rewound {self.shown}"
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


def complete_sight(
    sight: SinkState,
    ledger: DatabaseLedger,
    connection: DatabaseConnection,
    query_id: str,
    *,
    mode: str,
) -> SinkState:
    """Return the sight with the newest generation, and a doubt about a table that lost its rows.

    A table without rows may be a retention job's work, or one that was created again: the ledger
    alone does not say which.
    """
    known = replace(sight, generation=ledger.generation(connection, query_id))
    if sight.held.answer is not SinkAnswer.BATCH or sight.contents is not Contents.EMPTY:
        return known
    if not ledger.delivered_rows(connection, query_id, newest_only=mode == "complete"):
        return known
    doubt = f"{sight.place} has no rows, but according to its ledger batches wrote rows"
    return replace(known, doubt=doubt)


class TableWatch:
    """The table that a driver writes to since its start: created by it once, then never again."""

    def __init__(self, sink: ReadySink, shown: str) -> None:
        self._sink = sink
        self._shown = shown
        self._known: str | None = None

    def note(self, table: str | None) -> None:
        """Remember what identifies the table now; None where there is none yet."""
        self._known = table

    def refuse_other(self, table: str | None, why: str | None = None) -> None:
        """Raise where the table of before is gone, or another one is there: earlier rows are too.

        Without `why` nothing of the batch was written. In mode complete the next batch writes all
        of it again.
        """
        if self._known in (None, table) or self._sink.mode == "complete":
            return
        message = f"{self._shown} was removed while the job ran"
        if table is not None:
            message += f", and another table is there ({table}, before {self._known})"
        raise SinkError("HF5027", message, at=self._sink.at, why=why)
