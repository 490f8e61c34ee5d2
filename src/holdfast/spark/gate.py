"""Stands between Spark and the sink: what a batch has to pass before it is delivered, once.

The order is the promise. Nobody asked to stop; the lease is still ours; the batch's offset range is
on disk, and a copy of both entries is kept; only then is the sink called, with the identity.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from holdfast.crashpoints import reach
from holdfast.errors import RunError
from holdfast.ledgers.identity import BatchIdentity
from holdfast.records.lease import Lease
from holdfast.records.offsetcopies import OffsetCopies
from holdfast.records.statements import Statement
from holdfast.spark.offsetrange import read_range
from holdfast.spark.sinks.sink import BatchSink, Delivery
from holdfast.spark.sinks.skipping import skip
from holdfast.spark.stopping import Stopping
from holdfast.storage.reading import Reader

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

_START_SECONDS = 120.0
"""How long the first batch waits for Spark to tell the id of the query that it belongs to."""


class StoppedBeforeSinkError(Exception):
    """Raised into Spark so that a planned batch is left pending: somebody asked to stop."""


class Gate:
    """Spark calls it for every batch of one query."""

    def __init__(
        self,
        sink: BatchSink,
        *,
        lease: Lease,
        stopping: Stopping,
        checkpoint: Reader,
        copies: OffsetCopies,
        statement: Statement | None = None,
    ) -> None:
        self._sink = sink
        self._lease = lease
        self._stopping = stopping
        self._checkpoint = checkpoint
        self._copies = copies
        self._statement = statement
        self._query_id: str | None = None
        self._query_known = threading.Event()
        self._lock = threading.Lock()
        self._in_sink: int | None = None
        self.delivered: int | None = None
        """The newest batch that the sink is done with."""
        self.skipped: set[int] = set()
        """Batches of this run that the sink held already."""
        self.raised: BaseException | None = None
        """What a delivery raised, as it was before it travelled through the JVM."""

    @property
    def in_sink(self) -> int | None:
        """The batch that is being delivered right now."""
        return self._in_sink

    @property
    def at_work(self) -> bool:
        """Whether a delivery is going on."""
        return self._in_sink is not None

    def begin(self, writer: DataStreamWriter) -> StreamingQuery:
        """Start a query whose batches come through here; raise what Spark raises."""
        return writer.foreachBatch(self).start()

    def has_skipped(self, batch_id: int) -> bool:
        """Return whether the sink had the batch before it was delivered."""
        return batch_id in self.skipped

    def open_for(self, query_id: str) -> None:
        """Tell the id of the query whose batches come; until then they wait."""
        self._query_id = query_id
        self._query_known.set()

    def close(self) -> None:
        """Let no batch pass any more: those that wait for the query's id fail, and stay pending."""
        self._query_id = None
        self._query_known.set()

    def __call__(self, batch: DataFrame, batch_id: int) -> None:
        """Deliver one batch, or raise and leave it pending."""
        try:
            delivery = self._deliver(batch, batch_id)
        except BaseException as error:
            self.raised = error
            raise
        if delivery.skipped:
            self.skipped.add(batch_id)
        reach("batch.left")

    def wait_until_left(self, wait: Callable[[float], bool], seconds: float) -> bool:
        """Wait for the running delivery, while `wait` lets us; tell whether none runs any more."""
        left = seconds
        while self.in_sink is not None and left > 0:
            if wait(min(0.05, left)):
                return False
            left -= 0.05
        return self.in_sink is None

    def _deliver(self, batch: DataFrame, batch_id: int) -> Delivery:
        reach("batch.entered")
        self._enter(batch_id)
        try:
            self._lease.confirm()
            identity = self._identity(batch_id)
            reach("batch.offsets-kept")
            if self._stated_as_delivered(identity):
                delivery = skip(batch)
            else:
                delivery = self._sink.write(batch, identity)
            self.delivered = batch_id
        finally:
            self._in_sink = None
        return delivery

    def _enter(self, batch_id: int) -> None:
        with self._lock:
            if self._stopping.asked:
                message = f"asked to stop before batch {batch_id} reached the sink"
                raise StoppedBeforeSinkError(message)
            self._in_sink = batch_id

    def _identity(self, batch_id: int) -> BatchIdentity:
        if not self._query_known.wait(_START_SECONDS) or self._query_id is None:
            message = "Spark called with a batch before it told which query it belongs to"
            raise RunError("HF5310", message, at=self._checkpoint.location)
        query_id = self._query_id
        offsets = read_range(self._checkpoint, self._copies, query_id, batch_id)
        if batch_id > 0:
            self._copies.keep_previous(query_id, batch_id - 1, offsets.previous)
        self._copies.keep(query_id, batch_id, offsets.entry)
        return offsets.identity(query_id, self._lease.generation)

    def _stated_as_delivered(self, identity: BatchIdentity) -> bool:
        stated = self._statement
        return (
            stated is not None
            and stated.delivered
            and stated.query_id == identity.query_id
            and stated.batch_id == identity.batch_id
            and identity.has_offsets(stated.offsets_digest)
        )
