"""Hands batches to a function of the user's, with the identity that makes one the same batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.crashpoints import reach
from holdfast.jobs.ready import Function
from holdfast.ledgers.batchledger import BatchLedger
from holdfast.ledgers.identity import BatchIdentity
from holdfast.ledgers.lastcommitted import LastCommitted
from holdfast.records.moments import moment_now
from holdfast.spark.sinks.sink import Delivery, cannot_take_back
from holdfast.spark.sinks.skipping import skip

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType


_UNREMEMBERED = (
    "the function decides: it is called at least once a batch, and is given the identity by "
    "which it can tell a batch that it has written already"
)
_REMEMBERED = (
    "a batch that its ledger holds is not handed to the function again; one that is cut off before "
    "the ledger's entry is: exactly once if the function replaces what it wrote under identity.key"
)


class CustomSink:
    """Calls `function(batch, identity)`; what it raises stops the job as it is."""

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
        self._function(batch, identity)
        if self._ledger is not None:
            reach("custom.written")
            self._ledger.record(identity, moment_now())
        reach("sink.after-commit")
        return Delivery(skipped=False)

    def last_committed(self, query_id: str) -> LastCommitted:
        """Ask the ledger; without one, only the function can tell what it has written."""
        if self._ledger is not None:
            return self._ledger.last_committed(query_id)
        return LastCommitted(None, "a function of your own keeps no ledger that can be asked")

    def queries(self) -> frozenset[str]:
        """Name the queries that the ledger knows."""
        return frozenset() if self._ledger is None else self._ledger.queries()

    def rewind(self, query_id: str, batch_id: int) -> None:  # noqa: ARG002 - of any batch
        """Refuse: nothing is taken back."""
        raise cannot_take_back(self.kind, self.identity)

    def clear(self) -> None:
        """Refuse: nothing is taken back."""
        raise cannot_take_back(self.kind, self.identity)
