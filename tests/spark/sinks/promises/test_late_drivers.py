"""An old driver that comes late: whatever it does, no batch is there twice or in two versions."""

from __future__ import annotations

import pytest

from tests.spark.sinks.deliveries import identity
from tests.spark.sinks.promises.delivering import (
    Tried,
    at_point,
    outcome,
    subjects_with,
)

pytestmark = pytest.mark.spark

OLDER_DRIVER = {"HF5042", "HF5090"}
"""With these a sink refuses a driver of an older generation."""

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
@pytest.mark.parametrize(("ours", "theirs"), [(1, 2), (2, 1)], ids=["old-last", "new-last"])
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
