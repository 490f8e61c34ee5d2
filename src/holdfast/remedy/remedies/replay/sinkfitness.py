"""Decides, without Spark, whether a sink can give back every batch after one.

What only the sink itself can tell, it tells when the plan is applied: it then refuses and changes
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from holdfast.errors import DecodeError, PlanError, StorageError
from holdfast.jobs.ready import ReadySink
from holdfast.ledgers.delta.rewind import find_beginning, find_goal, versions_newest_first
from holdfast.ledgers.delta.transactions import LOG_FOLDER, read_delta_ledger
from holdfast.ledgers.sinkstate import SinkAnswer
from holdfast.remedy.facts import Facts
from holdfast.storage.beside import part_of
from holdfast.storage.opening import open_reader
from holdfast.storage.reading import Reader

_INSTEAD = (
    "a batch that stays in the sink must not be planned again: its rows would be skipped or "
    "duplicated. Use reset, which empties the output or names a new one"
)
_ASKED_LATER = frozenset({"jdbc"})
"""Sinks that only Spark can ask; they refuse when the plan is applied, and change nothing then."""


@dataclass(frozen=True)
class SinkRewind:
    """What taking batches back means for the sink."""

    held: int | None
    """The newest batch that it holds; None where it holds none, or only Spark can ask it."""
    known: bool
    """Whether it was asked."""
    comes_back: bool
    """Whether undo brings the rows back."""

    def takes(self, through: int) -> bool:
        """Return whether batches go, as far as is known."""
        return not self.known or (self.held is not None and self.held > through)


def sink_rewind(facts: Facts, through: int) -> SinkRewind:
    """Return how the sink is rewound to a batch, -1 for none; raise PlanError where it is not."""
    sink = facts.require_job().sink
    held = facts.held
    if sink.native:
        raise _cannot(facts, f"Spark's own {sink.format} sink cannot be rewound")
    rule = _RULES.get(sink.format)
    if rule is None:
        raise _cannot(facts, f"a {sink.format} sink cannot be rewound")
    if held.closed:
        message = f"the sink is closed for this query: {held.basis}"
        raise PlanError("HF4603", message, at=sink.at)
    _refuse_newer(facts, sink)
    known = held.answer is not SinkAnswer.UNKNOWN
    if not known and sink.format not in _ASKED_LATER:
        message = f"what the sink holds of this query is unknown: {held.basis}"
        raise PlanError("HF4603", message, at=sink.at)
    if known and (held.value if held.value is not None else -1) < through:
        has = "no batch" if held.value is None else f"nothing after batch {held.value}"
        message = f"the sink holds {has} of this query, so that batches before would be missing"
        first = 0 if held.value is None else held.value + 1
        why = f"what the sink lacks has to be processed again too: replay from batch {first}"
        raise PlanError("HF4601", message, at=sink.at, why=why)
    rule(facts, sink, through)
    return SinkRewind(held.value, known, sink.format == "delta")


def _refuse_newer(facts: Facts, sink: ReadySink) -> None:
    """Raise where the sink knows a newer generation than the lease of the act would have."""
    lease, sight = facts.subject.recorded.lease, facts.subject.sight
    known = 0 if lease is None else lease.generation
    if sight is not None and sight.generation > known + 1:
        message = (
            f"generation {sight.generation} has written the sink; the records next to the "
            f"checkpoint know {known} generations, so that the sink would refuse to be rewound"
        )
        why = "run the job once: its start takes a generation that is newer than the sink's"
        raise PlanError("HF4601", message, at=sink.at, why=why)


def _delta(facts: Facts, sink: ReadySink, through: int) -> None:
    if sink.mode not in ("append", "complete"):
        raise _cannot(facts, "a Delta table that is upserted cannot be rewound")
    if sink.location is None:
        message = "the table's log cannot be read from here without Spark"
        raise PlanError("HF4603", message, at=sink.at)
    log = open_reader(part_of(sink.location, LOG_FOLDER), sink.settings)
    try:
        _refuse_delta(facts, log, through)
    except (StorageError, DecodeError) as error:
        raise PlanError("HF4603", f"the table's log: {error.message}", at=sink.at) from error


def _refuse_delta(facts: Facts, log: Reader, through: int) -> None:
    """Raise where the table cannot be what it was after the batch."""
    ledger, held = read_delta_ledger(log), facts.held.value
    if ledger is None or facts.query_id is None or held is None or held == through:
        return
    versions = versions_newest_first(log, ledger.newest_version)
    if through == -1:
        beginning = find_beginning(versions, (facts.query_id,))
        if beginning.foreign is not None:
            told = f"the table has rows of another writer, from version {beginning.foreign}"
            raise _cannot(facts, told)
        if not beginning.seen_whole:
            raise _cannot(facts, "the table's log no longer reaches back to its first row")
        return
    goal = find_goal(versions, facts.query_id, through)
    if goal.version is None:
        raise _cannot(facts, f"the table's log has no batch {through} of this query any more")
    if goal.foreign is not None:
        told = f"version {goal.foreign} of the table was written by another writer after batch"
        raise _cannot(facts, f"{told} {through}")


def _files(facts: Facts, sink: ReadySink, through: int) -> None:
    del through
    if sink.mode != "append":
        told = "in mode complete each batch replaced the one before it, which no longer exists"
        raise _cannot(facts, told)


def _database(facts: Facts, sink: ReadySink, through: int) -> None:
    del through
    if sink.mode != "append":
        raise _cannot(facts, f"a table in mode {sink.mode} cannot be rewound")
    if sink.batch_column is None:
        raise _cannot(facts, "a table without a `batch_column` cannot be rewound")
    own = facts.subject.sink.own if facts.subject.sink is not None else None
    others = set(own.newest if own is not None else ()) - {facts.query_id}
    if others:
        raise _cannot(facts, "the table also has batches of another query")


def _cannot(facts: Facts, message: str) -> PlanError:
    return PlanError("HF4602", message, at=facts.require_job().sink.at, why=_INSTEAD)


_Rule = Callable[[Facts, ReadySink, int], None]
_RULES: Mapping[str, _Rule] = {
    "delta": _delta,
    **dict.fromkeys(("parquet", "csv", "json", "orc"), _files),
    **dict.fromkeys(("postgres", "jdbc"), _database),
}
