"""Compares the sink that is there with the one that earlier batches went to, as the records tell
it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from holdfast.findings import Finding, Place, Severity
from holdfast.ledgers.sinkstate import Contents, SinkAnswer, SinkState
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


_HERE = Place("")
_MOST_QUERIES = 10
_NOW = {
    Contents.ABSENT: "does not exist",
    Contents.EMPTY: "is empty",
    Contents.ROWS: "has rows, but no batch of this query",
    Contents.UNKNOWN: "has no batch of this query, and its rows could not be read",
}


_OWN_ROWS = (
    "the manifests, which say which batches are in the output, were removed, or the output was "
    "moved without them. A start that does not know its batches would deliver a pending one twice"
)


_KEPT_NOWHERE = (
    "the checkpoint never delivers a committed batch again: batches that go to a sink for "
    "development are missing from the output for good"
)
_INSTEAD = (
    "declare the former sink again",
    "or, to look at the rows, give the query a name and a checkpoint of its own: another job",
    "or, if these batches may be missing from the former sink: holdfast run JOB --accept "
    "empty-sink",
)


_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def _of_table(incarnation: str) -> str:
    """Return what identifies a table; a bare id, as Delta's, could be taken for the query's."""
    return f"table id {incarnation}" if _ID.fullmatch(incarnation) else incarnation


@dataclass(frozen=True)
class SinkCompared:
    """The sink now and before, for a checkpoint that takes a batch for delivered."""

    sight: SinkState
    before: SinkBefore | None
    passed: int | None
    """The newest batch that Spark will not run again."""
    is_complete: bool
    """Each batch replaces everything that is in the sink."""
    others: Collection[str]
    """Other queries whose batches the sink knows."""

    def findings(self) -> Iterator[Finding]:
        """Yield what keeps the job from starting, or what is worth a warning."""
        if self.sight.is_for_development and self.before is not None:
            yield from self._kept_nowhere(self.before)
        if self.sight.place is None or self.sight.held.closed:
            return
        if self.sight.held.answer is SinkAnswer.UNKNOWN:
            yield self._unknown()
        elif self._begins_again is not None:
            yield self._made_again(*self._begins_again)
        elif self._lost is not None and self._is_gone:
            yield self._gone(self._lost)
        else:
            yield from self._doubts()

    @property
    def _lost(self) -> int | None:
        """The newest batch that must have been in the sink; None where none has to be there."""
        held, before = self.sight.held.value, self.before
        if before is None:
            return held
        # The ledger knows a batch that a killed run could not record any more.
        is_later = held is not None and before.since is not None and held >= before.since
        return held if is_later else before.newest

    @property
    def _is_gone(self) -> bool:
        """Whether its rows are not there: a ledger alone may outlive them."""
        if self.sight.held.answer is SinkAnswer.NOTHING:
            return not self._may_have_forgotten
        if self.sight.contents is Contents.EMPTY:
            # The same table without rows may be a retention job's work, a new one is not.
            return self._other_table is not None
        return self.sight.contents is Contents.ABSENT

    @property
    def _begins_again(self) -> tuple[int, int] | None:
        """The newest batch that is missing and the first one that is there, in another table.

        A copy of the table would have the batches of before; this one was made by a later batch.
        """
        newest = None if self.before is None else self.before.newest
        first = self.sight.begins_with
        if newest is None or first is None or first <= newest or self.is_complete:
            return None
        return None if self._other_table is None else (newest, first)

    def _made_again(self, newest: int, first: int) -> Finding:
        """Return that the table was removed while a batch was computed, which then made another."""
        message = (
            f"{self.sight.place}{self._known_as} had batch {newest} of this query; now it is "
            f"another table ({_of_table(self.sight.incarnation or '')}), "
            f"which begins with batch {first}"
        )
        evidence = {
            "committed": self.passed,
            "before": {"incarnation": self.before.incarnation if self.before else None,
                       "batch": newest},
            "now": {"place": self.sight.place, "incarnation": self.sight.incarnation,
                    "begins_with": first},
        }  # fmt: skip
        return Finding("HF3013", Severity.ERROR, message, _HERE, evidence)

    @property
    def _may_have_forgotten(self) -> bool:
        """Whether it is the table of before, with rows, and forgets queries that pause."""
        if self.before is None or self.sight.forgets_after is None:
            return False
        # A record of an older release does not say where its table was.
        is_there = self.before.place in (None, self.sight.place) and self._other_table is None
        return is_there and self.sight.contents is Contents.ROWS

    @property
    def _begins_late(self) -> bool:
        """Whether nobody knows where the committed batches went, and they are not in here."""
        is_empty = (
            self.sight.held.answer is SinkAnswer.NOTHING and self.sight.contents.is_without_rows
        )
        return self.before is None and is_empty and not self.is_complete

    def _late(self, passed: int) -> Finding:
        batches = "batch 0" if passed == 0 else f"batches 0 to {passed}"
        message = (
            f"{self.sight.place} {_NOW[self.sight.contents]} and will not have {batches} of this "
            f"query, which {'is' if passed == 0 else 'are'} committed: it begins with batch "
            f"{passed + 1}"
        )
        evidence = {"committed": passed, "begins_with": passed + 1, "place": self.sight.place}
        return Finding("HF3023", Severity.WARNING, message, _HERE, evidence)

    def _gone(self, newest: int) -> Finding:
        code = "HF3013" if self.sight.contents.is_without_rows else "HF3014"
        evidence: dict[str, object] = {
            "committed": self.passed,
            "before": {
                "place": self.before.shown if self.before is not None else self.sight.place,
                "incarnation": self.before.incarnation if self.before is not None else None,
                "batch": newest,
            },
            "now": {
                "place": self.sight.place,
                "incarnation": self.sight.incarnation,
                "contents": self.sight.contents.value,
                "basis": self.sight.held.basis,
            },
        }
        if self.others:
            evidence["query_ids"] = sorted(self.others)[:_MOST_QUERIES]
        if self.is_complete and code == "HF3013":
            message = (
                f"{self._message(newest)}; the next batch writes all of it again (mode complete)"
            )
            return Finding("HF3019", Severity.WARNING, message, _HERE, evidence)
        message = self._message(newest)
        if self.passed is not None:
            message += f"; this start would begin with batch {self.passed + 1}"
        if self.sight.is_own:
            return self._without_manifests(message, evidence)
        return Finding(code, Severity.ERROR, message, _HERE, evidence)

    def _kept_nowhere(self, before: SinkBefore) -> Iterator[Finding]:
        """Refuse to commit batches of an output that no output will have."""
        if before.newest is None or self.is_complete:
            return
        message = (
            f"batch {before.newest} of this query was delivered to {before.shown}; this start "
            "would deliver the next ones to a sink that keeps nothing"
        )
        evidence = {"committed": self.passed, "before": {"place": before.shown}}
        yield Finding("HF3013", Severity.ERROR, message, _HERE, evidence, _KEPT_NOWHERE, _INSTEAD)

    def _without_manifests(self, message: str, evidence: Mapping[str, object]) -> Finding:
        """Return that the files of the query are there, and what knows them is not."""
        parent, _, name = (self.sight.place or "").rstrip("/").rpartition("/")
        steps = (
            f"put the directory {parent}/.holdfast/{name} back, which was beside the output, from "
            "a backup",
        )
        return Finding("HF3014", Severity.ERROR, message, _HERE, evidence, _OWN_ROWS, steps)

    def _message(self, newest: int) -> str:
        now, place = _NOW[self.sight.contents], self.sight.place or ""
        if self.sight.is_own:
            now = "has files of this query, but no manifest of them"
        if self.before is None:
            return f"the ledger of {place} has batch {newest} of this query; the output {now}"
        was = self.before.shown
        if self.before.place == self.sight.place or place.endswith(was):
            other = self._other_table
            table = f" and is another table ({_of_table(other)})" if other is not None else ""
            return f"{place}{self._known_as} had batch {newest} of this query; now it {now}{table}"
        return (
            f"batch {newest} of this query was delivered to {was}{self._known_as}; this start "
            f"would deliver to {place}, which {now}"
        )

    @property
    def _known_as(self) -> str:
        known = None if self.before is None else self.before.incarnation
        return "" if known is None else f" ({_of_table(known)})"

    @property
    def _other_table(self) -> str | None:
        """What identifies the table, where it is not the one of before."""
        known = None if self.before is None else self.before.incarnation
        now = self.sight.incarnation
        return now if None not in (known, now) and known != now else None

    def _unknown(self) -> Finding:
        message = f"{self.sight.place} does not report its batches: {self.sight.held.basis}"
        return Finding("HF3015", Severity.ERROR, message, _HERE, {"committed": self.passed})

    def _doubts(self) -> Iterator[Finding]:
        held, other = self.sight.held.value, self._other_table
        if self._begins_late and self.passed is not None:
            yield self._late(self.passed)
        if other is not None and held is not None and self.before is not None:
            message = (
                f"{self.sight.place} is not the same table as in the last run "
                f"({_of_table(other)}, before {self.before.incarnation}); its ledger has batch "
                f"{held} of this query"
            )
            evidence = {"before": self.before.incarnation, "now": other, "batch": held}
            yield Finding("HF3016", Severity.WARNING, message, _HERE, evidence)
        if self._lost is not None and held is None:
            message = (
                f"{self.sight.place} has no batch of this query, which delivered batch "
                f"{self._lost}; it forgets a query after {self.sight.forgets_after}"
            )
            yield Finding("HF3018", Severity.WARNING, message, _HERE, {"batch": self._lost})
        if self.sight.unread is not None:
            message = f"the rows of {self.sight.place} could not be read: {self.sight.unread}"
            yield Finding("HF3020", Severity.WARNING, message, _HERE)
        if self.sight.doubt is not None:
            yield Finding("HF3017", Severity.WARNING, self.sight.doubt, _HERE)
