"""An old driver that comes late: whatever it does, no batch is there twice or in two versions."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from tests.spark.sinks.deliveries import QUERY, identity
from tests.spark.sinks.promises.delivering import (
    Tried,
    at_point,
    outcome,
    refused,
    subjects_with,
)

pytestmark = pytest.mark.spark

OLDER_DRIVER = {"HF5042", "HF5090"}
"""With these a sink refuses a driver of an older generation."""
REFUSED = {*OLDER_DRIVER, "HF5003", "HF5004", "HF5010", "HF5025", "HF5047"}
"""With these a sink refuses a commit that comes after batches were taken back."""

with_rivals = subjects_with(lambda one: one.beaten_at is not None and not one.is_sibling)
# A function of the user's replaces what it wrote: its ledger can refuse only afterwards.
with_refused_rivals = subjects_with(
    lambda one: one.beaten_at is not None and not one.is_sibling and one.family != "custom"
)


@with_rivals
def test_an_old_driver_after_the_take_over(tried: Tried) -> None:
    """Its batch is skipped or refused; one that it brings first is not brought again."""
    old, new = tried.opened(), tried.opened()
    assert outcome(lambda: old.write(tried.batch(0), identity(0))) == "written"
    assert outcome(lambda: new.write(tried.batch(0), identity(0, generation=2))) == "skipped"
    assert outcome(lambda: new.write(tried.batch(1), identity(1, generation=2))) == "written"
    late = outcome(lambda: old.write(tried.batch(1), identity(1)))
    assert late in {"skipped", *OLDER_DRIVER}
    first = outcome(lambda: old.write(tried.batch(2), identity(2)))
    second = outcome(lambda: new.write(tried.batch(2), identity(2, generation=2)))
    assert (first, second) == ("written", "skipped") or (
        first in OLDER_DRIVER and second == "written"
    )
    assert tried.rows() == tried.state(0, 1, 2)
    assert sorted(tried.subject.ledger(tried.place)) == [0, 1, 2]


@with_rivals
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(1, 2), pytest.param(2, 1, marks=pytest.mark.whole)],
    ids=["old-last", "new-last"],
)
def test_both_deliver_the_same_batch(
    tried: Tried, monkeypatch: pytest.MonkeyPatch, ours: int, theirs: int
) -> None:
    """The other one commits between our question and our commit."""
    us, them = tried.opened(), tried.opened()
    us.write(tried.batch(0), identity(0))
    told: list[str] = []

    def between() -> None:
        other = identity(1, generation=theirs)
        told.append(outcome(lambda: them.write(tried.batch(1), other)))

    at_point(monkeypatch, str(tried.subject.beaten_at), between)
    told.append(outcome(lambda: us.write(tried.batch(1), identity(1, generation=ours))))
    assert told[0] == "written"
    may = {"skipped", *OLDER_DRIVER} | ({"written"} if tried.subject.family == "custom" else set())
    assert told[1] in may
    assert tried.rows() == tried.state(0, 1)
    assert sorted(tried.subject.ledger(tried.place)) == [0, 1]


@with_refused_rivals
def test_two_versions_of_a_batch_never_meet(tried: Tried, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other one planned the id anew and is first: ours is refused, its rows stay."""
    us, them = tried.opened(), tried.opened()
    us.write(tried.batch(0), identity(0))

    def between() -> None:
        them.write(tried.batch(2), identity(1, "other", generation=1))

    at_point(monkeypatch, str(tried.subject.beaten_at), between)
    told = outcome(lambda: us.write(tried.batch(1), identity(1, generation=2)))
    assert told in {"HF5003", *OLDER_DRIVER}
    assert tried.rows() == tried.state(0, 2)
    assert sorted(tried.subject.ledger(tried.place)) == [0, 1]


fenced = subjects_with(
    lambda one: one.beaten_at is not None and one.takes_back and not one.is_sibling
)
BEFORE_COMMIT = {
    "postgres": ("postgres.staging-made", "postgres.staged"),
    "jdbc": ("jdbc.staging-made", "jdbc.staged"),
}
"""Where a driver of a database can sleep while others act; a transaction is waited for instead."""


def late_points(tried: Tried) -> tuple[str, ...]:
    """Name the moments before its commit at which a driver of this sink falls asleep."""
    subject = tried.subject
    return BEFORE_COMMIT.get(subject.family, (str(subject.beaten_at),))


def take_back(tried: Tried, sink: Any, act: str) -> None:
    """Take back all batches but the first, or all of them, under generation 3."""
    if act == "rewind":
        sink.rewind(QUERY, 0, generation=3)
    else:
        sink.clear(generation=3)


def check_ledger(tried: Tried, batches: list[int]) -> None:
    """Compare the batches that the sink holds; files and Delta keep what is void beside them."""
    newest = tried.opened().last_committed(QUERY).value
    assert newest == (batches[-1] if batches else None)
    if tried.subject.needs_database:
        assert sorted(tried.subject.ledger(tried.place)) == batches


@fenced
@pytest.mark.parametrize("act", ["rewind", "clear"])
@pytest.mark.parametrize(
    "replanned",
    [True, pytest.param(False, marks=pytest.mark.whole)],
    ids=["planned-anew", "same-offsets"],
)
def test_an_old_driver_commits_nothing_after_batches_were_taken_back(
    tried: Tried, monkeypatch: pytest.MonkeyPatch, act: str, replanned: bool
) -> None:
    """It sleeps before its commit of batch 2, and is refused; the batches are delivered again."""
    if act not in tried.subject.takes_back:
        assert refused(lambda: take_back(tried, tried.filled(2), act)) == "HF5011"
        return
    old, new = tried.opened(), tried.opened()
    for number in range(2):
        assert outcome(partial(old.write, tried.batch(number), identity(number))) == "written"
    at_point(monkeypatch, late_points(tried)[0], partial(take_back, tried, new, act))
    assert outcome(lambda: old.write(tried.batch(2), identity(2))) in REFUSED
    kept = [0] if act == "rewind" else []
    assert tried.rows() == tried.state(*kept)
    check_ledger(tried, kept)
    digest = "new" if replanned else "d"
    for number in range(len(kept), 3):
        known = identity(number, digest, generation=4)
        assert outcome(partial(new.write, tried.batch(number), known)) == "written"
        late = outcome(partial(old.write, tried.batch(number), identity(number)))
        assert late in {"skipped", *REFUSED}
    assert tried.rows() == tried.state(0, 1, 2)
    check_ledger(tried, [0, 1, 2])


@subjects_with(lambda one: one.needs_database)
@pytest.mark.parametrize("act", ["rewind", pytest.param("clear", marks=pytest.mark.whole)])
def test_an_old_driver_of_a_database_sleeps_after_staging(
    tried: Tried, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    """The first batch of a query that the ledger does not know yet; there is nothing to lock."""
    if act not in tried.subject.takes_back:
        assert refused(lambda: take_back(tried, tried.filled(2), act)) == "HF5011"
        return
    old, new = tried.opened(), tried.opened()
    at_point(monkeypatch, late_points(tried)[-1], partial(take_back, tried, new, act))
    assert outcome(lambda: old.write(tried.batch(0), identity(0))) in REFUSED
    assert (tried.rows().total(), tried.subject.ledger(tried.place)) == (0, [])
    known = identity(0, generation=4)
    assert outcome(lambda: new.write(tried.batch(0), known)) == "written"
    assert tried.rows() == tried.state(0)


@subjects_with(lambda one: one.needs_database)
@pytest.mark.parametrize("act", ["rewind", pytest.param("clear", marks=pytest.mark.whole)])
def test_whoever_takes_back_late_changes_nothing(tried: Tried, act: str) -> None:
    """A newer driver has committed since."""
    if act not in tried.subject.takes_back:
        assert refused(lambda: take_back(tried, tried.filled(2), act)) == "HF5011"
        return
    late, new = tried.opened(), tried.opened()
    late.write(tried.batch(0), identity(0, generation=3))
    new.write(tried.batch(1), identity(1, generation=4))
    seen = tried.seen()
    assert refused(lambda: take_back(tried, late, act)) == "HF5042"
    assert tried.seen() == seen


@fenced
def test_an_old_driver_commits_nothing_after_a_fence_and_no_row_goes(
    tried: Tried, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = tried.opened(), tried.opened()
    for number in range(2):
        assert outcome(partial(old.write, tried.batch(number), identity(number))) == "written"
    fence = partial(new.fence, QUERY, generation=3)
    at_point(monkeypatch, late_points(tried)[0], fence)
    assert outcome(lambda: old.write(tried.batch(2), identity(2))) in REFUSED
    assert tried.rows() == tried.state(0, 1)
    check_ledger(tried, [0, 1])
    assert refused(lambda: new.fence(QUERY, generation=2)) in {"HF5026", "HF5042", "HF5062"}
    known = identity(2, generation=4)
    assert outcome(lambda: tried.opened().write(tried.batch(2), known)) == "written"
    assert tried.rows() == tried.state(0, 1, 2)
    check_ledger(tried, [0, 1, 2])


@subjects_with(lambda one: one.takes_back and one.family != "delta")
def test_the_first_batch_of_an_old_driver_after_a_fence_of_an_empty_sink(
    tried: Tried, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there is no Delta table, nothing can hold a fence."""
    old, new = tried.opened(), tried.opened()
    fence = partial(new.fence, QUERY, generation=3)
    at_point(monkeypatch, late_points(tried)[0], fence)
    assert outcome(lambda: old.write(tried.batch(0), identity(0))) in REFUSED
    assert tried.rows().total() == 0
    check_ledger(tried, [])
    known = identity(0, "new", generation=4)
    assert outcome(lambda: tried.opened().write(tried.batch(0), known)) == "written"
    assert tried.rows() == tried.state(0)
