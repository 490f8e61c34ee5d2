"""Stands between Spark and the sink: what a batch has to pass before it is delivered, once.

The order is the promise. Nobody asked to stop; the lease is still ours; the batch's offset range is
on disk, and a copy of both entries is kept; only then is the sink called, with the identity.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from holdfast.crashpoints import reach
from holdfast.errors import NotFoundError, RefusedError, RunError, SinkError, StorageError
from holdfast.jobs.ready import ReadySink
from holdfast.ledgers.identity import BatchIdentity, OffsetRange
from holdfast.records.offsetcopies import OffsetCopies
from holdfast.records.statements import Statement
from holdfast.running.stopping import Stopping
from holdfast.spark.failures import spark_message
from holdfast.spark.sinks.sink import BatchSink, Delivery, skip
from holdfast.storage.reading import Reader

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter


_LOOK_SECONDS = 0.05
_NO_SINK = ("DATA_SOURCE_NOT_FOUND", "does not support streamed writing")
"""What Spark says of a format that it has no streaming sink of."""


class SinkWriter(Protocol):
    """Starts a query so that its batches reach the sink, and knows how far they are."""

    raised: BaseException | None
    """What a delivery raised, as it was before it travelled through the JVM."""

    @property
    def delivered(self) -> int | None:
        """The newest batch that the sink is done with."""

    @property
    def in_sink(self) -> int | None:
        """The batch that is being written right now, as far as that can be seen."""

    @property
    def at_work(self) -> bool:
        """Whether rows may still be written."""

    def begin(self, writer: DataStreamWriter) -> StreamingQuery:
        """Start the query; raise what Spark raises."""

    def open_for(self, query_id: str) -> None:
        """Let the batches of this query through."""

    def close(self) -> None:
        """Let no further batch through."""

    def has_skipped(self, batch_id: int) -> bool:
        """Return whether the sink had the batch before this run."""

    def wait_until_left(self, wait: Callable[[float], bool], seconds: float) -> bool:
        """Wait for the running delivery, while `wait` lets us; tell whether none runs any more."""


class NativeWriter:
    """Lets Spark's own sink write: nothing stands between Spark and the sink.

    A stop waits for the commit of the batch that is planned. Spark may have begun the next one by
    then: it is interrupted, stays pending, and runs again at the next start.
    """

    raised: BaseException | None = None

    def __init__(
        self,
        sink: ReadySink,
        *,
        checkpoint: Reader,
        held: int | None,
        newest: Callable[[], int | None],
    ) -> None:
        self._sink = sink
        self._checkpoint = checkpoint
        self._held = held
        self._newest = newest
        self._query: StreamingQuery | None = None

    @property
    def delivered(self) -> int | None:
        """The newest batch that Spark reported as committed."""
        return self._newest()

    @property
    def in_sink(self) -> int | None:
        """The batch that is planned and not committed; None where the storage does not answer."""
        try:
            return self._running()
        except StorageError:
            return None

    @property
    def at_work(self) -> bool:
        """Whether the query is running; one whose JVM is gone writes nothing."""
        try:
            return self._query is not None and self._query.isActive
        except (Py4JError, OSError):
            return False

    def begin(self, writer: DataStreamWriter) -> StreamingQuery:
        """Start Spark's own sink; raise HF5012 where Spark does not find it."""
        sink = self._sink
        writer = writer.format(sink.format).options(**sink.options)
        if sink.partition_by:
            writer = writer.partitionBy(*sink.partition_by)
        try:
            if sink.table is not None:
                self._query = writer.toTable(sink.table)
            else:
                self._query = writer.start(sink.path)
        except (Py4JError, PySparkException) as error:
            words = spark_message(error).shown
            if any(one in words for one in _NO_SINK):
                raise SinkError("HF5012", words, at=sink.at) from error
            raise
        return self._query

    def open_for(self, query_id: str) -> None:
        """Do nothing: Spark writes as soon as it is started."""

    def close(self) -> None:
        """Do nothing: only stopping the query keeps the next batch from being written."""

    def has_skipped(self, batch_id: int) -> bool:
        """Return whether the sink's log had the batch when this run started."""
        return self._held is not None and batch_id <= self._held

    def wait_until_left(self, wait: Callable[[float], bool], seconds: float) -> bool:
        """Wait for the commit of the planned batch, while `wait` lets us."""
        batch, left = self._running(), seconds
        while batch is not None and self._running() == batch and left > 0:
            if wait(_LOOK_SECONDS):
                return False
            left -= _LOOK_SECONDS
        return batch is None or self._running() != batch

    def _running(self) -> int | None:
        """Return the batch that is planned and not committed; None where none is, or all ended."""
        if not self.at_work:
            return None
        planned, committed = (
            {int(name) for name in self._checkpoint.names(log) if name.isdecimal()}
            for log in ("offsets", "commits")
        )
        pending = max(planned, default=-1)
        return pending if pending >= 0 and pending not in committed else None


def read_range(
    checkpoint: Reader, copies: OffsetCopies, query_id: str, batch_id: int
) -> OffsetRange:
    """Return the range of a planned batch; raise StorageError, or HF2606 where it has no beginning.

    Both entries are read each time, side by side. Remembering the previous one would spare a small
    read, and hide that its file was changed under a running query, which plans from its memory.
    """
    entry_path, previous_path = f"offsets/{batch_id}", f"offsets/{batch_id - 1}"
    read = checkpoint.read_many([entry_path, *([previous_path] if batch_id else [])])
    entry = _bytes(read[entry_path])
    if batch_id == 0:
        return OffsetRange(0, b"", entry)
    previous = read[previous_path]
    if isinstance(previous, NotFoundError):
        # Spark never removes it: a start fails without it, and what is purged when batch N is
        # planned is older than N - minBatchesToRetain, which has to be positive. So the log does
        # not begin here, it has lost an entry; and what was kept of it is what N was planned from.
        kept = copies.copy_of(query_id, batch_id - 1)
        if kept is None:
            message = f"{previous_path} is missing, and no copy of it is kept: the start of batch "
            message += f"{batch_id} is unknown"
            raise RefusedError("HF2606", message, at=f"{checkpoint.location}/{previous_path}")
        previous = kept
    return OffsetRange(batch_id, _bytes(previous), entry)


def _bytes(read: bytes | StorageError) -> bytes:
    if isinstance(read, StorageError):
        raise read
    return read


_START_SECONDS = 120.0
"""How long the first batch waits for Spark to tell the id of the query that it belongs to."""


class StoppedBeforeSinkError(Exception):
    """Raised into Spark so that a planned batch is left pending: somebody asked to stop."""


class HeldLease(Protocol):
    """What keeps other drivers away while batches are delivered."""

    @property
    def generation(self) -> int:
        """Which holder this is."""

    def confirm(self) -> None:
        """Raise LeaseError once it is lost."""


class Gate:
    """Spark calls it for every batch of one query."""

    def __init__(
        self,
        sink: BatchSink,
        *,
        lease: HeldLease,
        stopping: Stopping,
        checkpoint: Reader,
        copies: OffsetCopies,
        statement: Statement | None = None,
        most_batches: int | None = None,
    ) -> None:
        self._sink = sink
        self._left = most_batches
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
        """Batches of this run that were in the sink already."""
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
        """Set the id of the query whose batches come; until then they wait."""
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
            if self._left is not None:
                self._left -= 1
        finally:
            self._in_sink = None
        return delivery

    def _enter(self, batch_id: int) -> None:
        with self._lock:
            if self._stopping.asked:
                message = f"stopped before batch {batch_id} reached the sink"
                raise StoppedBeforeSinkError(message)
            if self._left == 0:
                message = (
                    f"batch {batch_id} exceeds the requested number of batches and stays pending"
                )
                raise StoppedBeforeSinkError(message)
            self._in_sink = batch_id

    def _identity(self, batch_id: int) -> BatchIdentity:
        if not self._query_known.wait(_START_SECONDS) or self._query_id is None:
            message = "Spark called with a batch before it reported the query of the batch"
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
