"""Stands between Spark and the sink: what a batch has to pass before it is delivered, once.

The order is the promise. Nobody asked to stop; the lease is still ours; the batch's offsets are on
disk, and a copy of them is kept; only then is the sink called, with the batch's identity.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from holdfast.crashpoints import reach
from holdfast.errors import RunError
from holdfast.ledgers.identity import BatchIdentity, digest_of_offsets
from holdfast.records.lease import Lease
from holdfast.records.offsetcopies import OffsetCopies
from holdfast.records.statements import Statement
from holdfast.spark.sinks.sink import BatchSink, Delivery
from holdfast.spark.sinks.skipping import skip
from holdfast.spark.stopping import Stopping
from holdfast.storage.reading import Reader

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

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
        self.in_sink: int | None = None
        """The batch that is being delivered right now."""
        self.delivered: int | None = None
        """The newest batch that the sink is done with."""
        self.skipped: set[int] = set()
        """Batches of this run that the sink held already."""
        self.raised: BaseException | None = None
        """What a delivery raised, as it was before it travelled through the JVM."""

    def open_for(self, query_id: str) -> None:
        """Tell the id of the query whose batches come; until then they wait."""
        self._query_id = query_id
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
            self.in_sink = None
        return delivery

    def _enter(self, batch_id: int) -> None:
        with self._lock:
            if self._stopping.asked:
                message = f"asked to stop before batch {batch_id} reached the sink"
                raise StoppedBeforeSinkError(message)
            self.in_sink = batch_id

    def _identity(self, batch_id: int) -> BatchIdentity:
        if not self._query_known.wait(_START_SECONDS) or self._query_id is None:
            message = "Spark called with a batch before it told which query it belongs to"
            raise RunError("HF5310", message, at=self._checkpoint.location)
        entry = self._checkpoint.read(f"offsets/{batch_id}")
        self._copies.keep(self._query_id, batch_id, entry)
        digest = digest_of_offsets(entry)
        return BatchIdentity(self._query_id, batch_id, self._lease.generation, digest)

    def _stated_as_delivered(self, identity: BatchIdentity) -> bool:
        stated = self._statement
        return (
            stated is not None
            and stated.delivered
            and stated.query_id == identity.query_id
            and stated.batch_id == identity.batch_id
            and stated.offsets_digest == identity.offsets_digest
        )
