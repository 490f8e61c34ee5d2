"""How far a table can be taken back: what is somebody else's is never among it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from holdfast.ledgers.delta.batches import CLOSED, Application
from holdfast.ledgers.delta.rewind import (
    Beginning,
    Ending,
    Goal,
    LateStep,
    TableVersion,
    find_late_step,
    versions_newest_first,
)
from holdfast.ledgers.delta.rewind import find_beginning as find_beginning_in
from holdfast.ledgers.delta.rewind import find_ending as find_ending_in
from holdfast.ledgers.delta.rewind import find_goal as find_goal_in
from holdfast.storage.memory import MemoryReader
from tests.ledgers.delta.deltaversions import (
    ACT,
    QUERY,
    batch,
    closing,
    fencing,
    files,
    opening,
    taken_back,
    version,
)

FOREIGN = version(rows=True)
OPTIMIZED = version(rows=False, operation="OPTIMIZE")
ALTERED = version(table=True, operation="ADD COLUMNS")
FIRST = Application(QUERY, 0)
OURS = frozenset((QUERY,))


def log(*versions: bytes, gone: int = 0) -> Iterator[TableVersion]:
    """Give the versions newest first; the oldest may be gone."""
    held = files(*versions)
    for number in range(gone):
        del held[f"{number:020}.json"]
    return versions_newest_first(MemoryReader(held), len(versions) - 1)


@pytest.mark.parametrize(
    ("after", "foreign"),
    [((), None), ((OPTIMIZED,), None), ((FOREIGN,), 3), ((ALTERED, OPTIMIZED), 3)],
)
def test_the_version_of_a_batch_and_who_came_after(
    after: tuple[bytes, ...], foreign: int | None
) -> None:
    """A change of columns would be undone as well; what was there before is left alone."""
    versions = (FOREIGN, batch(0), batch(1), *after, batch(2))
    assert find_goal_in(log(*versions), QUERY, 0) == Goal(1, foreign)
    assert find_goal_in(log(*versions), QUERY, 9).version is None
    assert find_goal_in(log(*versions, gone=2), QUERY, 0).version is None
    assert find_goal_in(log(batch(0, query_id="other"), batch(0)), QUERY, 0) == Goal(1, None)
    assert find_goal_in(log(batch(0), batch(0, query_id="other")), QUERY, 0) == Goal(0, 1)


def test_a_batch_that_was_taken_back_is_no_goal() -> None:
    """The one written anew is; earlier names count up to where they were rewound to."""
    rewound = (batch(0), batch(1), closing(0, 0, 1, 1), taken_back(0), opening(1, 0))
    assert find_goal_in(log(*rewound), QUERY, 1) == Goal(None, None)
    assert find_goal_in(log(*rewound), QUERY, 0) == Goal(0, None)
    again = (*rewound, batch(1, 1), batch(2, 1))
    assert find_goal_in(log(*again), QUERY, 1) == Goal(5, None)


def test_an_undone_rewind_takes_no_batch_from_the_goals() -> None:
    """The table is again what it was at the version that was brought back."""
    rewound = (batch(0), batch(1), batch(2), closing(0, 0, 2, 2), taken_back(0), opening(1, 0))
    undone = (closing(1, 2, 0, 5), taken_back(2, brought_back=2), opening(2, 2))
    for number in range(3):
        assert find_goal_in(log(*rewound, *undone), QUERY, number) == Goal(number, None)
    again = (*rewound, *undone, closing(2, 1, 2, 8), taken_back(1), opening(3, 1))
    assert find_goal_in(log(*again), QUERY, 2) == Goal(None, None)
    assert find_goal_in(log(*again), QUERY, 1) == Goal(1, None)
    foreign = (*rewound, FOREIGN, *undone)
    assert find_goal_in(log(*foreign), QUERY, 1) == Goal(1, None), "its rows went with the undoing"


def test_all_rows_are_ours_or_not() -> None:
    """Back to the first version, or to where nothing of anybody was left."""
    assert find_beginning_in(log(batch(0), OPTIMIZED, batch(1))) == Beginning(OURS, None, True)
    assert find_beginning_in(log(batch(0), FOREIGN, batch(1))).foreign == 1
    assert find_beginning_in(log(batch(0), batch(0, query_id="other")), OURS).foreign == 1
    assert not find_beginning_in(log(batch(0), batch(1), gone=1)).seen_whole
    replaced = (FOREIGN, batch(0, mode="Overwrite"))
    assert find_beginning_in(log(*replaced)) == Beginning(OURS, None, True)
    emptied = taken_back(-1, operation="DELETE")
    assert find_beginning_in(log(FOREIGN, emptied, batch(0))) == Beginning(OURS, None, True)
    given_back = (FOREIGN, batch(0), emptied, taken_back(-1, "given-back"))
    assert find_beginning_in(log(*given_back)).foreign == 0


CLOSING = (batch(0), batch(1), batch(2), closing(0, 0, 1, 1))
"""Batch 2 came in while the name was being closed."""


@pytest.mark.parametrize(
    ("after", "ending"),
    [
        ((), Ending(ACT, 2)),
        ((FOREIGN,), Ending(ACT, 2)),
        ((taken_back(0),), Ending(ACT, 0)),
        ((OPTIMIZED, taken_back(0), FOREIGN), Ending(ACT, 0)),
        ((FOREIGN, taken_back(0)), Ending(ACT, 2, give_back=4, foreign=4)),
        ((opening(1, 2).replace(b"act_id", b"other"), taken_back(0)),
         Ending(ACT, 2, give_back=4, foreign=4)),
        ((FOREIGN, taken_back(0), FOREIGN), Ending(ACT, 0, foreign=4)),
        ((FOREIGN, taken_back(0), taken_back(0, "given-back")), Ending(ACT, 2)),
    ],
)  # fmt: skip
def test_an_act_that_was_broken_off(after: tuple[bytes, ...], ending: Ending) -> None:
    """Forwards where the rows went, backwards where not; what came in between is given back."""
    assert find_ending_in(log(*CLOSING, *after), FIRST) == ending


def test_a_name_that_no_act_closed_has_no_ending() -> None:
    """Closed for good by another remedy, or not in the log any more."""
    closed = version(txn=(QUERY, CLOSED))
    assert find_ending_in(log(batch(0), closed), FIRST) is None
    assert find_ending_in(log(batch(0)), FIRST) is None


def test_a_generation_is_no_batch() -> None:
    """The commit that fences a name is passed over, whatever its number."""
    steps = (closing(0, 1, 2, 2), taken_back(1), fencing(0, 2), opening(1, 1))
    held = (batch(0), batch(1), batch(2), *steps)
    assert find_goal_in(log(*held), QUERY, 2) == Goal(None, None)
    assert find_goal_in(log(*held), QUERY, 1) == Goal(1, None)
    assert find_ending_in(log(*held[:-1]), FIRST) == Ending(ACT, 1)
    assert find_ending_in(log(*held[:4], fencing(0, 2)), FIRST) == Ending(ACT, 2)


def test_a_step_after_the_next_name_was_open_is_late() -> None:
    """Whoever opened it had ended the act; in order, it is none."""
    following = {FIRST.following}
    ordered = (closing(0, 1, 2, 2), taken_back(1), fencing(0, 2), opening(1, 1))
    late = (closing(0, 1, 2, 2), fencing(0, 2), opening(1, 2), taken_back(1))
    held = (batch(0), batch(1), batch(2))
    assert find_late_step(log(*held, *ordered), ACT, following) is None
    assert find_late_step(log(*held, *ordered[:2]), ACT, following) is None
    assert find_late_step(log(*held, *late), ACT, following) == LateStep(6, False)
    assert find_late_step(log(*held, *late), "another", following) is None
    since = (*held, *late, batch(3, 1))
    assert find_late_step(log(*since), ACT, following) == LateStep(6, True)
