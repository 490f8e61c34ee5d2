"""How the batches of a query reach its sink: through the gate, or by Spark's own sink."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from holdfast.errors import SinkError, StorageError
from holdfast.jobs.ready import ReadySink
from holdfast.spark.sparkwords import spark_words
from holdfast.storage.reading import Reader

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

_LOOK_SECONDS = 0.05
_NO_SINK = ("DATA_SOURCE_NOT_FOUND", "does not support streamed writing")
"""What Spark says of a format that it has no streaming sink of."""


class Writing(Protocol):
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


class NativeWriting:
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
            words = spark_words(error).shown
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
