"""Prints the first rows of every batch, for development."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TextIO

from holdfast.crashpoints import reach
from holdfast.ledgers.identity import BatchIdentity
from holdfast.ledgers.lastcommitted import LastCommitted
from holdfast.ledgers.sinksight import SinkSight
from holdfast.plurals import counted
from holdfast.spark.sinks.sink import Delivery, cannot_take_back

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

SHOWN_ROWS = 20
_SHOWN_CHARACTERS = 40


class ConsoleSink:
    """Prints to a stream, standard output unless told."""

    kind = "console"
    promise = "for development: a batch that is run again is printed again"

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

    def sight(self, query_id: str | None) -> SinkSight:
        """Return nothing to compare."""
        return SinkSight(self.last_committed(query_id or ""), is_for_development=True)

    def queries(self) -> frozenset[str]:
        """Know none."""
        return frozenset()

    def rewind(self, query_id: str, batch_id: int, *, generation: int) -> None:  # noqa: ARG002 - of any batch
        """Refuse: nothing is taken back."""
        raise cannot_take_back(self.kind, self.identity)

    def clear(self, *, generation: int) -> None:  # noqa: ARG002 - of any batch
        """Refuse: nothing is taken back."""
        raise cannot_take_back(self.kind, self.identity)
