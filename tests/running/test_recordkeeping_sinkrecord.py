"""The record of a run keeps what it delivered, and which table it created."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from holdfast.errors import SinkError
from holdfast.ledgers.sinkstate import LastCommitted, SinkState
from holdfast.records.run import Run, SinkFacts
from holdfast.running.recordkeeping import SinkTracker
from tests.records.runs import some_run

FACTS = SinkFacts("postgres", "gold raw", "append", "once", "gold public.raw", since=3)


class Looked:
    """A sink that counts how often it is looked at."""

    def __init__(self, fails: bool = False) -> None:
        self.times, self.fails = 0, fails

    def sight(self, query_id: str | None) -> SinkState:
        """Show a table."""
        self.times += 1
        if self.fails:
            raise SinkError("HF5041", f"gone while {query_id} was asked for")
        return SinkState(LastCommitted.batch(3, "read"), "gold public.raw", "oid 7")


def record(sink: SinkFacts | None = FACTS) -> Run:
    """Give the record at the start."""
    return replace(some_run(), sink=sink)


def test_the_newest_batch_and_the_new_table_are_recorded() -> None:
    """The table is looked at once, after the first batch."""
    sink: Any = Looked()
    keeping = SinkTracker()
    assert keeping.now(record(), sink, None) == FACTS
    assert sink.times == 0
    for batch_id in (3, 4):
        found = keeping.now(record(), sink, batch_id)
        assert found == replace(FACTS, held=batch_id, incarnation="oid 7")
    assert sink.times == 1


def test_what_is_known_already_is_not_looked_at() -> None:
    """A table of before; a sink without a ledger; a batch that was stated to be delivered."""
    sink: Any = Looked()
    known = replace(FACTS, incarnation="oid 5", held=2)
    assert SinkTracker().now(record(known), sink, 3) == replace(known, held=3)
    without = replace(FACTS, place=None, since=None)
    assert SinkTracker().now(record(without), sink, 3) == without
    assert SinkTracker().now(record(None), sink, 3) is None
    assert SinkTracker().now(record(), sink, 2) == FACTS
    assert sink.times == 0


def test_a_look_that_fails_does_not_stop_the_job() -> None:
    """The batch is recorded all the same."""
    sink: Any = Looked(fails=True)
    keeping = SinkTracker()
    for batch_id in (3, 4):
        assert keeping.now(record(), sink, batch_id) == replace(FACTS, held=batch_id)
    assert sink.times == 1
