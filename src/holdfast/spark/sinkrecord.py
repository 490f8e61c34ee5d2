"""What the record of a run says of its sink: at the start, and while batches are delivered."""

from __future__ import annotations

from dataclasses import replace

from holdfast.errors import HoldfastError
from holdfast.records.run import Run, SinkFacts
from holdfast.spark.preparing import Prepared
from holdfast.spark.sinks.sink import Sink


def facts_of_sink(prepared: Prepared, mode: str) -> SinkFacts:
    """Return what the record says of the sink before the first batch."""
    sink, sight = prepared.sink, prepared.sight
    native = sight.native is not None
    facts = SinkFacts(sink.kind, sink.identity, mode, sink.promise, native=native)
    if sight.place is None:
        return facts
    return replace(
        facts,
        place=sight.place,
        incarnation=sight.incarnation,
        held=sight.newest_delivered,
        since=_first_batch(prepared),
    )


class SinkRecord:
    """Keeps what a run says of its sink up to date."""

    def __init__(self) -> None:
        self._incarnation: str | None = None
        self._looked = False

    def now(
        self, record: Run, sink: Sink, delivered: int | None, *, may_look: bool = True
    ) -> SinkFacts | None:
        """Return what is known of the sink now that this batch is delivered.

        Without Spark nobody may look at it.
        """
        facts = record.sink
        if facts is None or facts.place is None or delivered is None:
            return facts
        if facts.since is not None and delivered < facts.since:
            return facts
        incarnation = facts.incarnation or self._incarnation
        if incarnation is None and may_look:
            incarnation = self._made(sink, record.query_id)
        return replace(facts, held=delivered, incarnation=incarnation)

    def _made(self, sink: Sink, query_id: str | None) -> str | None:
        """Look once at a table that the run itself has created."""
        if not self._looked:
            self._looked = True
            try:
                self._incarnation = sink.sight(query_id).incarnation
            except HoldfastError:
                # The rows are delivered; only a later warning is lost with this.
                self._incarnation = None
        return self._incarnation


def _first_batch(prepared: Prepared) -> int:
    """Return the first batch that the run could deliver; one that was stated to be is not."""
    passed, statement = prepared.inspection.batches.passed_over, prepared.statement
    if statement is not None and statement.delivered:
        return statement.batch_id + 1
    return 0 if passed is None else passed + 1
