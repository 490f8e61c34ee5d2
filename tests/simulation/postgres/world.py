"""What happens around the database: a checkpoint, a lease, drivers, and people who take back.

The sink is the product's own, with its connections; only what needs a JVM is replaced: rows come
from a list, and the code of an executor runs in the driver's thread.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any
from unittest import mock

from holdfast.errors import SinkError
from holdfast.jobs.ready import ReadySink
from holdfast.ledgers.database.connection import postgres_address
from holdfast.ledgers.identity import BatchIdentity
from holdfast.spark.sinks.database import ledger as databaseledger
from holdfast.spark.sinks.database import sink as databasesink
from holdfast.spark.sinks.database import staging as databasestaging
from holdfast.spark.sinks.database.dialect import StagedRows
from holdfast.spark.sinks.database.dialects.postgres.copytask import StagingError, TaskCopy
from holdfast.spark.sinks.database.dialects.postgres.dialect import PostgresDialect
from holdfast.spark.sinks.database.sink import DatabaseSink
from holdfast.spark.sinks.database.table import WrittenTable
from holdfast.spark.sinks.sink import Delivery
from tests.simulation.postgres.batches import PlannedBatch, StandInBatch
from tests.simulation.postgres.baton import Point, actor_here
from tests.simulation.postgres.server import TABLE

QUERY = "5a2c7f10-0000-4000-8000-000000000000"


@dataclass
class World:
    """One job: its checkpoint, its lease, and the table that its batches go to."""

    uri: str
    mode: str
    batch_column: str | None
    replans: bool = True
    """A batch that was taken back is planned again with different offsets."""
    new_query: bool = False
    """Clearing removes the checkpoint as well: the query gets another id."""
    query_id: str = QUERY
    committed: int = -1
    """The newest batch in Spark's own log of commits."""
    generation: int = 0
    """Of whoever took the lease last."""
    intent: int | None = None
    """A take-back that was begun and is not finished: the newest batch that stays."""
    fence: tuple[int, int] | None = None
    """After a take-back: the generation, and the newest batch that stayed."""
    versions: dict[int, str] = field(default_factory=dict)
    take_backs: int = 0
    claimed: list[PlannedBatch] = field(default_factory=list)
    """What the sink said of batches since this was asked last: each is in the table."""

    def planned(self, batch_id: int) -> PlannedBatch:
        """Return a batch as the checkpoint has it now."""
        return PlannedBatch(batch_id, self.versions.get(batch_id, "a"), self.mode)

    def sink(self) -> DatabaseSink:
        """Open the sink, as every start does."""
        key = ("k",) if self.mode == "upsert" else ()
        sink = ReadySink(
            "postgres", self.mode, "job", key=key, batch_column=self.batch_column, url=self.uri,
            table=TABLE,
        )  # fmt: skip
        address = postgres_address(self.uri, TABLE, {}, "job")
        return DatabaseSink(sink, PostgresDialect(sink, address))

    def takes_lease(self, generation: int) -> bool:
        """Let a new holder take the lease over; nobody gets an older generation than there is."""
        if generation < self.generation:
            return False
        self.generation = generation
        return True

    def drive(self, generation: int, last: int) -> None:
        """Deliver what the checkpoint has pending, until the lease is seen to be lost."""
        if not self.takes_lease(generation):
            return
        sink = self.sink()
        sink.prepare(StandInBatch(self.planned(0)).schema, begun=True)
        if self.intent is not None and self.generation == generation:
            self._finish_taking_back(sink, generation)
        for batch_id in range(self.committed + 1, last + 1):
            if self.generation != generation:
                return
            self.deliver(sink, generation, batch_id)
            if self.generation == generation:
                self.committed = max(self.committed, batch_id)

    def deliver(self, sink: DatabaseSink, generation: int, batch_id: int) -> Delivery:
        """Call the sink as the gate does."""
        planned = self.planned(batch_id)
        identity = BatchIdentity(self.query_id, batch_id, generation, planned.digest)
        batch: Any = StandInBatch(planned)
        delivery = sink.write(batch, identity)
        if self.generation == generation:
            self.claimed.append(planned)
        return delivery

    def take_back(self, generation: int, newest_kept: int) -> None:
        """Rewind to a batch, or clear (-1), under a lease."""
        if not self.takes_lease(generation):
            return
        self.intent = newest_kept
        self._finish_taking_back(self.sink(), generation)

    def _finish_taking_back(self, sink: DatabaseSink, generation: int) -> None:
        newest_kept = self.intent
        assert newest_kept is not None
        if newest_kept >= 0:
            sink.rewind(self.query_id, newest_kept, generation=generation)
        else:
            sink.clear(generation=generation)
        if self.generation == generation:
            self._take_back_in_checkpoint(generation, newest_kept)

    def _take_back_in_checkpoint(self, generation: int, newest_kept: int) -> None:
        self.fence = (generation, newest_kept)
        self.committed = min(self.committed, newest_kept)
        self.take_backs += 1
        version = "abcdefgh"[self.take_backs]
        if self.replans:
            self.versions = {
                **{one: kept for one, kept in self.versions.items() if one <= newest_kept},
                **dict.fromkeys(range(newest_kept + 1, newest_kept + 20), version),
            }
        if self.new_query and newest_kept < 0:
            self.query_id = f"{QUERY[:-1]}{self.take_backs}"
        self.intent = None


@contextmanager
def without_spark(kept_batches: int | None) -> Iterator[None]:
    """Replace what needs a JVM, what draws at random, and what waits."""
    numbers = itertools.count()
    secrets = SimpleNamespace(token_hex=lambda length: f"{next(numbers):0{2 * length}x}")
    with ExitStack() as stack:
        for module, name, stand_in in (
            (PostgresDialect, "load", _load),
            (databasesink, "rows_to_write", lambda batch, sink: nullcontext(batch)),
            (databasesink, "skip", lambda batch: Delivery(skipped=True)),
            (databasesink, "time", SimpleNamespace(sleep=_sleep)),
            (databasestaging, "secrets", secrets),
        ):
            stack.enter_context(mock.patch.object(module, name, stand_in))
        if kept_batches is not None:
            stack.enter_context(mock.patch.object(databaseledger, "KEPT_BATCHES", kept_batches))
        yield


def _sleep(seconds: float) -> None:
    actor = actor_here()
    if actor is not None:
        actor.stop_at(Point("sleep"))


def _load(
    self: PostgresDialect, rows: StandInBatch, table: WrittenTable, staging: str, columns: Any
) -> StagedRows:
    """Run an executor's own code in this thread."""
    task = TaskCopy(
        attempt=7,
        conninfo=self._address.conninfo,
        table=(table.schema or "", staging),
        names=[databasestaging.ATTEMPT, *(one.staged_name for one in columns)],
        kinds=[one.staged for one in columns],
    )
    try:
        results = task.loaded(iter([rows.arrow()]))
    except StagingError as error:
        message = f"an executor could not load its rows: {error}"
        raise SinkError("HF5041", message, at=self._sink.at) from error
    return StagedRows(tuple(one["attempt"] for one in results), sum(one["rows"] for one in results))
