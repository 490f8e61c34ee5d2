"""Tells from the records what the sink of a job held before: where, which table, which batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from holdfast.records.run import Run, SinkFacts

_WITH_LEDGER = frozenset(("delta", "parquet", "csv", "json", "orc", "postgres", "jdbc"))
"""Kinds of sinks that had a ledger already when records did not say what it held."""
_EMPTIED = "empty-sink"
"""What a user accepts who emptied the sink on purpose."""


class Runs(Protocol):
    """The recorded runs of a checkpoint, or the newest of them."""

    def newest_where(self, wanted: Callable[[Run], bool]) -> Run | None:
        """Return the newest run that is wanted, None where there is none."""


@dataclass(frozen=True)
class SinkBefore:
    """The sink of the newest run that had one with a ledger."""

    shown: str
    """Where it was, as exactly as the record knows it."""
    place: str | None
    """None in a record of an older Holdfast."""
    incarnation: str | None
    newest: int | None
    """The newest batch that is known to have been there and will not run again; None where none
    was."""
    since: int | None = None
    """The first batch that the newest run could deliver."""


def sink_before(history: Runs, query_id: str | None, passed: int | None) -> SinkBefore | None:
    """Return the sink that earlier runs of this query wrote to, None where no record tells.

    `passed` is the newest batch that Spark will not run again: a later one is not missed in a sink
    that does not know it any more.
    """
    if query_id is None:
        return None
    run = history.newest_where(lambda one: one.query_id == query_id and _tells(one))
    if run is None or run.sink is None:
        return None
    sink = run.sink
    shown = sink.place or sink.identity or sink.kind
    newest = None if passed is None else _passed_over(history, run, passed)
    return SinkBefore(shown, sink.place, sink.incarnation, newest, sink.since)


def _passed_over(history: Runs, run: Run | None, passed: int) -> int | None:
    """Return the newest batch up to `passed` that was in the sink."""
    while run is not None and run.sink is not None:
        newest = _delivered(run, run.sink, passed)
        if newest is None or newest <= passed:
            return newest
        if run.sink.since is None or run.sink.since <= passed:
            return passed
        if _EMPTIED in run.accepted:
            return None
        # It delivered the pending batch alone; what was there before it, earlier runs know.
        run = history.newest_where(partial(_is_before, run))
    return None


def _is_before(run: Run, one: Run) -> bool:
    return one.query_id == run.query_id and one.generation < run.generation and _tells(one)


def _tells(run: Run) -> bool:
    """Whether a run had a sink with a ledger; an old record tells only by what it delivered."""
    if run.sink is None:
        return False
    if run.sink.place is not None:
        return True
    # A batch that was only skipped may be one that the user stated to be delivered elsewhere.
    return run.sink.kind in _WITH_LEDGER and run.batches > run.skipped_batches


def _delivered(run: Run, sink: SinkFacts, passed: int) -> int | None:
    """Return the newest batch that was in the sink; what was killed has not told its last ones."""
    if sink.place is None:
        return run.last_batch
    if run.ended is None and sink.since is not None and passed >= sink.since:
        return passed
    return sink.held
