"""What every sink promises to the runner, and how a batch that it holds is skipped."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from holdfast.errors import SinkError
from holdfast.ledgers.identity import BatchIdentity
from holdfast.ledgers.sinkstate import UNKNOWN, CommittedOffsets, LastCommitted, SinkState

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType


@dataclass(frozen=True)
class Delivery:
    """What became of a batch."""

    skipped: bool
    """It was in the sink already, with the same offsets: nothing was written."""
    rows: int | None = None
    """How many rows were written, where the sink tells."""


class HeldSink(Protocol):
    """What is in a sink, and how it is taken back; some sinks are asked this without Spark."""

    kind: str
    identity: str | None
    """The path, table or function, as shown to people."""

    def last_committed(self, query_id: str) -> LastCommitted:
        """Return the newest batch that the sink holds of this query; never raises."""

    def queries(self) -> frozenset[str]:
        """Name every query whose batches the sink knows; empty where it can't tell."""

    def rewind(self, query_id: str, batch_id: int, *, generation: int) -> None:
        """Take back every batch of a query after this one, or raise HF5011 and change nothing.

        `generation` is that of the lease under which it happens: afterwards no commit of an older
        one is accepted, however late it comes.
        """

    def clear(self, *, generation: int, queries: Collection[str] | None = None) -> None:
        """Remove every row and the whole memory of batches, or raise HF5011 and change nothing.

        Refused where a query has batches that is not among `queries`; None: the only one that has
        any may be whichever. Fenced by `generation` like `rewind`.
        """


class JobSink(HeldSink, Protocol):
    """Where the rows of a query go: what is promised of it, and what it holds."""

    promise: str
    """What it promises of a batch that is delivered twice, in one sentence."""

    def prepare(self, schema: StructType, *, begun: bool) -> None:
        """Refuse rows that can't be written, before the query starts; nothing is written.

        `begun`: a batch was planned before, so that an attempt may have left files behind.
        """

    def sight(self, query_id: str | None) -> SinkState:
        """Return what is there before a start, for a query that may have no id yet; write nothing.

        Raise SinkError where the place can't be looked at.
        """


class BatchSink(JobSink, Protocol):
    """Takes batches. The same batch twice is one; the same id with other offsets is refused."""

    def write(self, batch: DataFrame, identity: BatchIdentity) -> Delivery:
        """Commit the batch's rows and its identity in one act, or skip it."""


@runtime_checkable
class TellsOffsets(Protocol):
    """A sink whose ledger can be asked cheaply for the offsets that it stored with one batch."""

    def offsets_of(self, query_id: str, batch_id: int) -> CommittedOffsets:
        """Return what the ledger has of the batch; never raises."""


@runtime_checkable
class Fences(Protocol):
    """A sink that can lock older drivers out and keep every row."""

    def fence(self, query_id: str | None, *, generation: int) -> None:
        """Accept no commit of an older generation of this query any more; change no row.

        Where no batch of anybody is there, of no query: nobody else's driver is kept out by that.

        Raise SinkError, and change nothing, where a newer generation has been here.
        """


@runtime_checkable
class GivesBack(Protocol):
    """A sink that can bring back what was cleared or rewound, as it was when it was marked."""

    def mark(self) -> Mapping[str, Any]:
        """Return what is needed to bring back the rows and batches of now: plain data."""

    def why_not_back(self, mark: Mapping[str, Any]) -> str | None:
        """Return why the marked rows cannot be brought back any more; None where they can."""

    def give_back(self, mark: Mapping[str, Any], *, generation: int) -> None:
        """Bring back the marked rows and batches, or raise SinkError and change nothing.

        Where they are there already nothing is done. Fenced by `generation` like `rewind`.
        """


def offsets_in_sink(sink: JobSink, query_id: str, batch_id: int) -> CommittedOffsets:
    """Return what a sink has of a batch, unknown where it keeps no such ledger; never raises."""
    return sink.offsets_of(query_id, batch_id) if isinstance(sink, TellsOffsets) else UNKNOWN


def cannot_rewind(kind: str, at: str | None) -> SinkError:
    """Return the error of a sink that cannot be rewound."""
    return SinkError("HF5011", f"the {kind} sink cannot be rewound", at=at)


def skip(batch: DataFrame) -> Delivery:
    """Compute every row and write none.

    A stateful query commits its state while its rows are computed. Left out, Spark 4.2 stops with
    STATE_STORE_COMMIT_VALIDATION_FAILED; a release without that check would miss the state.
    """
    batch.write.format("noop").mode("overwrite").save()
    return Delivery(skipped=True)
