"""Every change that was executed on real Spark is judged by the facts of both queries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from holdfast.checkpoint.operators import Operator
from holdfast.records.documents import decode_document, encode_document
from holdfast.records.facts import QueryFacts
from holdfast.records.run import PlanFacts
from holdfast.restart.judging import Judgement, judge
from holdfast.restart.rules import RULES
from holdfast.restart.start import StartFacts
from holdfast.restart.verdict import Verdict
from tests.changes.loading import change_records, read_facts
from tests.restart.queries import start_of

BAD = frozenset({"fails", "corrupt"})
GOOD = frozenset({"correct", "ignored"})
NOT_OF_THE_QUERY = frozenset({"sinks"})
"""Groups whose change is no part of the query: the sink itself is asked about it."""
OF_THE_SOURCE = frozenset(
    {"table-created-again", "table-created-again-and-longer", "topic-created-again"}
)
"""Changes of the data behind the same query: the source itself is asked (`running.examining`)."""
MOST_UNSAFE, MOST_UNKNOWN = 0.05, 0.10


@dataclass(frozen=True)
class Executed:
    """One change, what came of it, and the facts of both queries."""

    name: str
    outcome: str
    before: QueryFacts
    now: QueryFacts

    @property
    def start(self) -> StartFacts:
        """The start of the changed query, on a checkpoint of the sources that it had."""
        start = start_of(self.before, self.now)
        first = start.inspection.sources[0]
        sources = tuple(
            replace(first, index=index, name=str(index), kind=one.kind, candidates=())
            for index, one in enumerate(self.before.sources)
        )
        kept = tuple(
            Operator(one.operator_id, one.name, (), None) for one in self.before.operators or ()
        )
        plan = PlanFacts(
            tuple(one.kind for one in self.now.sources), tuple(one.name or "" for one in kept)
        )
        found = replace(start.inspection, sources=sources, operators=kept)
        return replace(start, plan=plan, inspection=found)

    @property
    def judged(self) -> Judgement:
        """What the rules say."""
        return judge(self.start)


def facts(document: dict[str, Any]) -> QueryFacts:
    """Read facts as a record holds them."""
    return decode_document(QueryFacts, encode_document(document))


def executed(*, held_out: bool = False) -> Iterator[Executed]:
    """Yield every change that has facts."""
    for record in change_records(held_out=held_out):
        found = read_facts(record["group"]).get(record["pair"])
        if found is None or record["pair"] in OF_THE_SOURCE:
            continue
        if record["group"] not in NOT_OF_THE_QUERY:
            yield Executed(
                record["pair"], record["outcome"], facts(found["before"]), facts(found["after"])
            )


CHANGES = [*executed()]


def test_there_is_something_to_judge() -> None:
    """Of both kinds."""
    assert {one.outcome for one in CHANGES} >= BAD | {"correct"}
    assert len(CHANGES) > 100


@pytest.mark.parametrize(
    "change", [one for one in CHANGES if one.outcome in BAD], ids=lambda one: one.name
)
def test_what_fails_or_corrupts_is_never_safe(change: Executed) -> None:
    """Not once."""
    assert change.judged.verdict is not Verdict.SAFE


def test_what_comes_out_right_is_hardly_ever_called_unsafe() -> None:
    """Who is refused without need switches the rules off."""
    right = [one for one in CHANGES if one.outcome in GOOD]
    unsafe = [one.name for one in right if one.judged.verdict is Verdict.UNSAFE]
    assert len(unsafe) <= MOST_UNSAFE * len(right), unsafe


def test_hardly_anything_is_unknown() -> None:
    """The facts decide."""
    unknown = [one.name for one in CHANGES if one.judged.verdict is Verdict.UNKNOWN]
    assert len(unknown) <= MOST_UNKNOWN * len(CHANGES), unknown


def test_most_rules_are_needed_by_what_was_executed() -> None:
    """Without any rule nothing is noticed."""
    assert all(judge(one.start, ()).verdict is Verdict.SAFE for one in CHANGES)
    assert len({change.rule for one in CHANGES for change in one.judged.changes}) > len(RULES) // 3
