"""Compares the sink that is there with the one that earlier batches went to."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from holdfast.diagnosis.inspection.sink.before import SinkBefore
from holdfast.findings import Finding, Place, Severity
from holdfast.ledgers.lastcommitted import Answer
from holdfast.ledgers.sinksight import Contents, SinkSight

_HERE = Place("")
_MOST_QUERIES = 10
_NOW = {
    Contents.ABSENT: "does not exist",
    Contents.EMPTY: "is empty",
    Contents.ROWS: "holds rows, and no batch of this query",
    Contents.UNKNOWN: "holds no batch of this query, and its rows could not be read",
}


@dataclass(frozen=True)
class SinkCompared:
    """The sink now and before, for a checkpoint that takes a batch for delivered."""

    sight: SinkSight
    before: SinkBefore | None
    passed: int | None
    """The newest batch that Spark will not run again."""
    is_complete: bool
    """Each batch replaces everything that is in the sink."""
    others: Collection[str]
    """Other queries whose batches the sink knows."""

    def findings(self) -> Iterator[Finding]:
        """Yield what keeps the job from starting, or what is worth a warning."""
        if self.sight.place is None or self.sight.held.closed:
            return
        if self.sight.held.answer is Answer.UNKNOWN:
            yield self._unknown()
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
        if self.sight.held.answer is Answer.NOTHING:
            return not self._may_have_forgotten
        if self.sight.contents is Contents.EMPTY:
            # The same table without rows may be a retention job's work, a new one is not.
            return self._other_table is not None
        return self.sight.contents is Contents.ABSENT

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
        is_empty = self.sight.held.answer is Answer.NOTHING and self.sight.contents.is_without_rows
        return self.before is None and is_empty and not self.is_complete

    def _late(self, passed: int) -> Finding:
        batches = "batch 0" if passed == 0 else f"batches 0 to {passed}"
        message = (
            f"{self.sight.place} {_NOW[self.sight.contents]} and will not hold {batches} of this "
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
            message = f"{self._told(newest)}; the next batch writes all of it again (mode complete)"
            return Finding("HF3019", Severity.WARNING, message, _HERE, evidence)
        message = self._told(newest)
        if self.passed is not None:
            message += f"; this start would begin with batch {self.passed + 1}"
        return Finding(code, Severity.ERROR, message, _HERE, evidence)

    def _told(self, newest: int) -> str:
        now, place = _NOW[self.sight.contents], self.sight.place or ""
        if self.before is None:
            return f"the ledger of {place} holds batch {newest} of this query; the output {now}"
        was = self.before.shown
        if self.before.place == self.sight.place or place.endswith(was):
            other = self._other_table
            table = f" and is another table ({other})" if other is not None else ""
            return f"{place} held batch {newest} of this query{self._known_as}; now it {now}{table}"
        return (
            f"batch {newest} of this query was delivered to {was}{self._known_as}; this start "
            f"would deliver to {place}, which {now}"
        )

    @property
    def _known_as(self) -> str:
        known = None if self.before is None else self.before.incarnation
        return "" if known is None else f" ({known})"

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
                f"{self.sight.place} is another table than at the last run ({other}, before "
                f"{self.before.incarnation}); its ledger holds batch {held} of this query"
            )
            evidence = {"before": self.before.incarnation, "now": other, "batch": held}
            yield Finding("HF3016", Severity.WARNING, message, _HERE, evidence)
        if self._lost is not None and held is None:
            message = (
                f"{self.sight.place} holds no batch of this query, which delivered batch "
                f"{self._lost}; it forgets a query after {self.sight.forgets_after}"
            )
            yield Finding("HF3018", Severity.WARNING, message, _HERE, {"batch": self._lost})
        if self.sight.unread is not None:
            message = f"the rows of {self.sight.place} could not be read: {self.sight.unread}"
            yield Finding("HF3020", Severity.WARNING, message, _HERE)
        if self.sight.doubt is not None:
            yield Finding("HF3017", Severity.WARNING, self.sight.doubt, _HERE)
