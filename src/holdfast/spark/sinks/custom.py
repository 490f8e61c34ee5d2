"""Hands batches to a function of the user's, with the identity that makes one the same batch."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from pyspark import cloudpickle

from holdfast.crashpoints import reach
from holdfast.jobs.ready import Function
from holdfast.ledgers import identity as identities
from holdfast.ledgers.custom import BatchLedger
from holdfast.ledgers.identity import BatchId, BatchIdentity
from holdfast.ledgers.sinkstate import (
    NO_QUERY_YET,
    UNKNOWN,
    CommittedOffsets,
    Contents,
    LastCommitted,
    SinkAnswer,
    SinkState,
)
from holdfast.records.moments import moment_now
from holdfast.spark.sinks.sink import Delivery, cannot_rewind, skip

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType


_UNREMEMBERED = (
    "at least once per batch. The function gets the identity of each batch, with which "
    "it can recognize a batch that it has already written"
)
_REMEMBERED = (
    "exactly once if the function replaces what it wrote under identity.key. A batch "
    "already in its ledger is skipped; a batch interrupted before its ledger entry is passed to "
    "the function again"
)


# A function for foreachBatch may use its batch id on executors, where Holdfast is not installed.
cloudpickle.register_pickle_by_value(identities)  # type: ignore[no-untyped-call]


class CustomSink:
    """Calls `function(batch, batch_id)`; what it raises stops the job as it is.

    The batch id is an int, as `foreachBatch` gives it, and has the attributes of the identity.
    """

    kind = "custom"

    def __init__(
        self, function: Function, identity: str, ledger: BatchLedger | None = None
    ) -> None:
        self._function = function
        self._ledger = ledger
        self.identity: str | None = identity
        self.promise = _UNREMEMBERED if ledger is None else _REMEMBERED

    def prepare(self, schema: StructType, *, begun: bool) -> None:  # noqa: ARG002 - any rows
        """Accept any rows: only the function knows what it takes. The ledger has to be usable."""
        if self._ledger is not None:
            self._ledger.refuse_unusable()

    def write(self, batch: DataFrame, identity: BatchIdentity) -> Delivery:
        """Call the function, unless its ledger holds the batch."""
        if self._ledger is not None and self._ledger.holds(identity):
            return skip(batch)
        reach("sink.before-commit")
        self._function(batch, BatchId(identity))
        if self._ledger is not None:
            reach("custom.written")
            self._ledger.record(identity, moment_now())
        reach("sink.after-commit")
        return Delivery(skipped=False)

    def last_committed(self, query_id: str) -> LastCommitted:
        """Ask the ledger; without one, only the function can tell what it has written."""
        if self._ledger is not None:
            return self._ledger.last_committed(query_id)
        return LastCommitted.unknown("a function of your own keeps no ledger that can be asked")

    def sight(self, query_id: str | None) -> SinkState:
        """Return what the ledger tells; what the function wrote can't be looked at."""
        if self._ledger is None:
            return SinkState(self.last_committed(query_id or ""), shows_rows=False)
        held = LastCommitted.nothing(NO_QUERY_YET)
        if query_id is not None:
            held = self._ledger.last_committed(query_id)
        is_empty = held.answer is SinkAnswer.NOTHING
        return SinkState(
            held,
            self._ledger.location,
            contents=Contents.EMPTY if is_empty else Contents.UNKNOWN,
            generation=self._generation(held, query_id),
            shows_rows=False,
        )

    def _generation(self, held: LastCommitted, query_id: str | None) -> int:
        if self._ledger is None or query_id is None or held.answer is not SinkAnswer.BATCH:
            return 0
        return self._ledger.generation(query_id)

    def offsets_of(self, query_id: str, batch_id: int) -> CommittedOffsets:
        """Return what the ledger has of one batch; never raises."""
        return UNKNOWN if self._ledger is None else self._ledger.offsets_of(query_id, batch_id)

    def queries(self) -> frozenset[str]:
        """Name the queries that the ledger knows."""
        return frozenset() if self._ledger is None else self._ledger.queries()

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
