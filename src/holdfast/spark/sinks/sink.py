"""What every sink promises to the runner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from holdfast.errors import SinkError
from holdfast.ledgers.identity import BatchIdentity
from holdfast.ledgers.lastcommitted import LastCommitted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType


@dataclass(frozen=True)
class Delivery:
    """What became of a batch."""

    skipped: bool
    """The sink held it already, with the same offsets: nothing was written."""
    rows: int | None = None
    """How many rows were written, where the sink tells."""


class BatchSink(Protocol):
    """Takes batches. The same batch twice is one; the same id with other offsets is refused."""

    kind: str
    identity: str | None
    """The path, table or function, as shown to people."""
    promise: str
    """What it promises of a batch that is delivered twice, in one sentence."""

    def prepare(self, schema: StructType, *, begun: bool) -> None:
        """Refuse rows that can't be written, before the query starts; nothing is written.

        `begun`: a batch was planned before, so that an attempt may have left files behind.
        """

    def write(self, batch: DataFrame, identity: BatchIdentity) -> Delivery:
        """Commit the batch's rows and its identity in one act, or skip it."""

    def last_committed(self, query_id: str) -> LastCommitted:
        """Give the newest batch that the sink holds of this query; never raises."""

    def queries(self) -> frozenset[str]:
        """Name every query whose batches the sink knows; empty where it can't tell."""

    def rewind(self, query_id: str, batch_id: int) -> None:
        """Take back every batch of a query after this one, or raise HF5011 and change nothing."""

    def clear(self) -> None:
        """Remove every row and the whole memory of batches, or raise HF5011 and change nothing."""


def cannot_take_back(kind: str, at: str | None) -> SinkError:
    """Give the error of a sink that can't take anything back."""
    return SinkError("HF5011", f"the {kind} sink can't take anything back", at=at)
