"""Hands batches to a function of the user's, with the identity that makes one the same batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.crashpoints import reach
from holdfast.jobs.ready import Function
from holdfast.ledgers.identity import BatchIdentity
from holdfast.ledgers.lastcommitted import LastCommitted
from holdfast.spark.sinks.sink import Delivery, cannot_take_back

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType


class CustomSink:
    """Calls `function(batch, identity)`; what it raises stops the job as it is."""

    kind = "custom"
    promise = (
        "the function decides: it is called at least once a batch, and is given the identity by "
        "which it can tell a batch that it has written already"
    )

    def __init__(self, function: Function, identity: str) -> None:
        self._function = function
        self.identity: str | None = identity

    def prepare(self, schema: StructType, *, begun: bool) -> None:
        """Accept any rows: only the function knows what it takes."""

    def write(self, batch: DataFrame, identity: BatchIdentity) -> Delivery:
        """Call the function."""
        reach("sink.before-commit")
        self._function(batch, identity)
        reach("sink.after-commit")
        return Delivery(skipped=False)

    def last_committed(self, query_id: str) -> LastCommitted:  # noqa: ARG002 - of any query
        """Know nothing: what a function has written, only it can tell."""
        return LastCommitted(None, "a function of your own keeps no ledger that can be asked")

    def queries(self) -> frozenset[str]:
        """Know none."""
        return frozenset()

    def rewind(self, query_id: str, batch_id: int) -> None:  # noqa: ARG002 - of any batch
        """Refuse: nothing is taken back."""
        raise cannot_take_back(self.kind, self.identity)

    def clear(self) -> None:
        """Refuse: nothing is taken back."""
        raise cannot_take_back(self.kind, self.identity)
