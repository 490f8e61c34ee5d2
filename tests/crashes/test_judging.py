"""The judge tells lost, doubled, invented and torn apart, and acquits what is right."""

from __future__ import annotations

from collections import Counter

from tests.crashes.judging import Seen, judge_between, judge_end, judge_no_op

FIRST = Counter({(0,): 1, (1,): 1})
BOTH = FIRST + Counter({(2,): 1, (3,): 1})
STATES = [Counter(), FIRST, BOTH]


def test_what_has_to_be_there_at_the_end() -> None:
    """Each crime has its name."""
    assert judge_end(Seen(BOTH, [0, 1], [0, 1]), BOTH, 2) == []
    assert judge_end(Seen(FIRST, [0, 1], [0, 1]), BOTH, 2)[0].startswith("lost")
    assert judge_end(Seen(BOTH + FIRST, [0, 1], [0, 1]), BOTH, 2)[0].startswith("doubled")
    strange = Seen(BOTH + Counter({(9,): 1}), [0, 1], [0, 1])
    assert judge_end(strange, BOTH, 2)[0].startswith("invented")
    for ledger in ([0], [0, 0, 1], [1], [0, 2]):
        assert "not contiguous" in judge_end(Seen(BOTH, ledger, [0, 1]), BOTH, 2)[0]
    assert "Spark committed [0]" in judge_end(Seen(BOTH, [0, 1], [0]), BOTH, 2)[0]


def test_what_may_be_seen_in_between() -> None:
    """Whole batches, or parts of the newest where that is all that is promised."""
    part = FIRST + Counter({(2,): 1})
    for whole_batches in (True, False):
        for rows in STATES:
            assert judge_between(Seen(rows, [0], [0]), STATES, whole_batches=whole_batches) == []
        doubled = Seen(FIRST + FIRST, [0], [0])
        assert judge_between(doubled, STATES, whole_batches=whole_batches)
        ahead = Seen(BOTH, [0, 1], [])
        assert (
            "ledger is at batch 1" in judge_between(ahead, STATES, whole_batches=whole_batches)[0]
        )
    assert judge_between(Seen(part, [0], [0]), STATES, whole_batches=False) == []
    assert judge_between(Seen(part, [0], [0]), STATES, whole_batches=True)[0].startswith("torn")


def test_one_more_run_does_nothing() -> None:
    """Not a batch, not a row, not an entry."""
    seen = Seen(BOTH, [0, 1], [0, 1])
    assert judge_no_op(seen, Seen(BOTH, [0, 1], [0, 1]), 0) == []
    assert judge_no_op(seen, seen, 1) == ["one more run delivered 1 batches"]
    assert judge_no_op(seen, Seen(BOTH, [0, 1, 2], [0, 1]), 0)
