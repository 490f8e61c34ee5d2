"""Sinks for development: the console, and a view in the driver's memory."""

from __future__ import annotations

import sys
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, TextIO

from holdfast.crashpoints import reach
from holdfast.errors import SinkError
from holdfast.jobs.ready import ReadySink
from holdfast.ledgers.identity import BatchIdentity
from holdfast.ledgers.sinkstate import LastCommitted, SinkState
from holdfast.spark.sinks.rowchecks import check_columns, one_row_a_key
from holdfast.spark.sinks.sink import Delivery, cannot_rewind, skip
from holdfast.wording import counted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


SHOWN_ROWS = 20
_SHOWN_CHARACTERS = 40


class ConsoleSink:
    """Prints to a stream, standard output unless told."""

    kind = "console"
    promise = "for development: a batch that runs again is printed again"

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream
        self.identity: str | None = None

    def prepare(self, schema: StructType, *, begun: bool) -> None:
        """Accept any rows."""

    def write(self, batch: DataFrame, identity: BatchIdentity) -> Delivery:
        """Print a heading and the first rows. All are computed, or state would stay uncommitted."""
        batch.persist()
        try:
            rows = batch.count()
            frame: Any = batch._jdf
            table = frame.showString(SHOWN_ROWS, _SHOWN_CHARACTERS, False)
        finally:
            batch.unpersist()
        reach("sink.before-commit")
        stream = self._stream if self._stream is not None else sys.stdout
        stream.write(f"batch {identity.batch_id}: {counted(rows, 'row')}\n{table}")
        stream.flush()
        reach("sink.after-commit")
        return Delivery(skipped=False, rows=rows)

    def last_committed(self, query_id: str) -> LastCommitted:  # noqa: ARG002 - of any query
        """Know nothing: what was printed is gone."""
        return LastCommitted.unknown("the console keeps nothing")

    def sight(self, query_id: str | None) -> SinkState:
        """Return nothing to compare."""
        return SinkState(self.last_committed(query_id or ""), is_for_development=True)

    def queries(self) -> frozenset[str]:
        """Know none."""
        return frozenset()

    def rewind(self, query_id: str, batch_id: int, *, generation: int) -> None:  # noqa: ARG002 - of any batch
        """Refuse: nothing is taken back."""
        raise cannot_rewind(self.kind, self.identity)

    def clear(
        self,
        *,
        generation: int,  # noqa: ARG002 - of any batch
        queries: Collection[str] | None = None,  # noqa: ARG002 - of any query
    ) -> None:
        """Refuse: nothing is taken back."""
        raise cannot_rewind(self.kind, self.identity)


def view_name(job: str) -> str:
    """Return the name of the view that holds a job's rows."""
    return job.replace("-", "_")


class MemorySink:
    """A temporary view that grows with every batch, and is gone with the session."""

    kind = "memory"
    promise = "for development: exactly once while the session lives, no guarantee afterwards"

    def __init__(self, session: SparkSession, sink: ReadySink, job: str) -> None:
        self._session = session
        self._sink = sink
        self._view = view_name(job)
        self._held: dict[str, BatchIdentity] = {}
        self._rows: DataFrame | None = None
        self.identity: str | None = self._view

    def prepare(self, schema: StructType, *, begun: bool) -> None:  # noqa: ARG002 - no files
        """Refuse rows without the columns that the sink names; begin with an empty view."""
        check_columns(schema, self._sink)
        self._session.createDataFrame([], schema).createOrReplaceTempView(self._view)

    def write(self, batch: DataFrame, identity: BatchIdentity) -> Delivery:
        """Take the batch into the view, or skip it."""
        held = self._held.get(identity.query_id)
        if held is not None and held.batch_id >= identity.batch_id:
            same = identity.has_offsets(held.offsets_digest)
            if held.batch_id == identity.batch_id and same:
                return skip(batch)
            message = f"the view {self._view} has batch {identity.batch_id} with different offsets"
            raise SinkError("HF5003", message, at=self._view)
        rows = self._collected(batch)
        reach("sink.before-commit")
        self._rows = self._with(rows)
        self._rows.createOrReplaceTempView(self._view)
        self._held[identity.query_id] = identity
        reach("sink.after-commit")
        return Delivery(skipped=False, rows=rows.count())

    def last_committed(self, query_id: str) -> LastCommitted:
        """Return the newest batch of this session."""
        held = self._held.get(query_id)
        if held is None:
            return LastCommitted.unknown("the view is new in this session")
        return LastCommitted.batch(held.batch_id, "the view of this session")

    def sight(self, query_id: str | None) -> SinkState:
        """Return what this session holds; nothing of it outlives the session."""
        return SinkState(self.last_committed(query_id or ""), is_for_development=True)

    def queries(self) -> frozenset[str]:
        """Name the queries of this session."""
        return frozenset(self._held)

    def rewind(self, query_id: str, batch_id: int, *, generation: int) -> None:  # noqa: ARG002 - of any batch
        """Refuse: nothing is taken back."""
        raise cannot_rewind(self.kind, self.identity)

    def clear(
        self,
        *,
        generation: int,  # noqa: ARG002 - of any batch
        queries: Collection[str] | None = None,  # noqa: ARG002 - of any query
    ) -> None:
        """Refuse: nothing is taken back."""
        raise cannot_rewind(self.kind, self.identity)

    def _collected(self, batch: DataFrame) -> DataFrame:
        """Bring the rows to the driver: Arrow keeps every value as it is."""
        batch.persist()
        try:
            rows = batch
            if self._sink.mode == "upsert":
                rows = one_row_a_key(batch, self._sink.key, self._sink.order_by, self._sink.at)
            return self._session.createDataFrame(rows.toArrow(), batch.schema)
        finally:
            batch.unpersist()

    def _with(self, rows: DataFrame) -> DataFrame:
        if self._rows is None or self._sink.mode == "complete":
            return rows
        kept = self._rows
        if self._sink.mode == "upsert":
            kept = kept.join(rows, list(self._sink.key), "left_anti")
        return kept.unionByName(rows)
