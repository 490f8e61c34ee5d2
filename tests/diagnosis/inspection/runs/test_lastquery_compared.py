"""A start is compared with the run that made what is in the checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from holdfast.diagnosis.inspection.runs.lastquery import last_compared
from holdfast.records.run import Ended, PlanFacts, Run, SinkFacts, Versions
from tests.restart.queries import STATEFUL, operated

QUERY = "11111111-2222-3333-4444-555555555555"
SINK = SinkFacts("delta", "/lake/out", "append", "exactly once")
OLD = Run(
    "orders", "shop", "/cp/orders", 1, Versions("0", "4.2.1", "17", "3.12"), "2026-01-01T00:00:00Z",
    query_id=QUERY, sink=replace(SINK, since=0), plan=PlanFacts(query=STATEFUL), last_batch=4,
    ended=Ended.FINISHED,
)  # fmt: skip
NEW = replace(
    OLD, generation=2, sink=replace(SINK, since=5), plan=PlanFacts(query=operated(keys=("city",))),
    last_batch=None, ended=Ended.FAILED,
)  # fmt: skip


class Known:
    """Recorded runs, the newest first."""

    def __init__(self, *runs: Run) -> None:
        self.runs = runs

    def newest_where(self, wanted: Callable[[Run], bool]) -> Run | None:
        """Return the newest run that is wanted."""
        return next(filter(wanted, self.runs), None)


def compared(passed: int | None, *runs: Run) -> int | None:
    """Return the generation of the run that counts."""
    found = last_compared(Known(*runs), QUERY, passed)
    return None if found is None else found.generation


def test_a_run_that_committed_nothing_left_the_state_of_the_one_before() -> None:
    """Whether its end was recorded or not; with its first batch committed it counts."""
    assert compared(4, NEW, OLD) == 1
    assert compared(4, replace(NEW, ended=None), OLD) == 1
    assert compared(5, replace(NEW, ended=None), OLD) == 2


def test_a_sink_without_a_place_leaves_it_to_the_notes() -> None:
    """A killed run may have committed; one that ended would have said so."""
    unplaced = replace(NEW, sink=SINK)
    assert compared(4, unplaced, OLD) == 1
    assert compared(4, replace(unplaced, ended=None), OLD) == 2


def test_the_first_run_counts_before_its_first_commit() -> None:
    """It planned the batch that is pending."""
    assert compared(None, replace(OLD, last_batch=None)) == 1


def test_a_run_of_an_older_release_has_no_facts_to_compare() -> None:
    """Also where a newer one that did nothing has some; nor a run of another query."""
    older = replace(OLD, plan=PlanFacts())
    assert compared(4, older) is None
    assert compared(4, NEW, older) is None
    assert compared(4, replace(OLD, query_id="another")) is None
    assert last_compared(Known(OLD), None, 4) is None
