"""Draws the part of a matrix that every change has to pass; `pytest --whole` runs all of it.

A matrix runs one test over many values. For every test one of them is drawn, or one of each group,
in turn, so that over the tests of a run each value is met. What only repeats a promise at one more
place, at a price, is marked `whole`. What is drawn follows from the order of tests and values
alone: the same tests draw the same values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import count
from typing import Any, NamedTuple

import pytest

_MARK = "drawn"
_WHOLE = "whole"

Test = Callable[..., None]
DrawnMoments = Callable[..., Iterator[int]]
"""Counts the moments of an act, as `moments` does."""
Group = Callable[[object], str]


def draw(*names: str) -> pytest.MarkDecorator:
    """Of the values of these parameters together, run one; with `--whole` all of them."""
    return pytest.mark.drawn(names, None, False)


def draw_one_per_group(
    name: str,
    values: Sequence[object],
    *,
    ids: Callable[[object], str],
    group: Callable[..., str],
    staggered: bool = False,
) -> Callable[[Test], Test]:
    """Run a test over one value of each group, or with `--whole` over all of them.

    `staggered` groups differ in the place of the value that a test draws from them. Where each
    group has a value per release, every test then meets every group and every release.
    """

    def decorate(test: Test) -> Test:
        parametrized = pytest.mark.parametrize(name, values, ids=ids)(test)
        decorated: Test = pytest.mark.drawn((name,), group, staggered)(parametrized)
        return decorated

    return decorate


def seeds(count: int, *, drawn: int) -> list[Any]:
    """Number the rounds of a test that draws its own damage; only the first ones are drawn."""
    more = (pytest.param(seed, marks=pytest.mark.whole) for seed in range(drawn, count))
    return [*range(drawn), *more]


def moments(*traits: int, whole: bool, every: int = 3) -> Iterator[int]:
    """Count the moments of an act from 1: one in `every`, or with `--whole` all of them.

    `traits` number the values of the case. Cases that differ in one of them begin at another
    moment, so that the cases of a test meet every moment together.
    """
    return count(1) if whole else count(1 + sum(traits) % every, every)


def select(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what was not drawn; a test that is named by its id always runs."""
    if config.getoption("whole") or any("::" in argument for argument in config.args):
        return
    drawn = _drawn(items)
    left_out = [item for item in items if not _is_run(item, drawn)]
    items[:] = [item for item in items if _is_run(item, drawn)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)


def _is_run(item: pytest.Item, drawn: set[pytest.Item]) -> bool:
    if item.get_closest_marker(_WHOLE):
        return False
    return item.get_closest_marker(_MARK) is None or item in drawn


def _drawn(items: Sequence[pytest.Item]) -> set[pytest.Item]:
    cells: dict[_Cell, list[pytest.Item]] = {}
    for item in items:
        if (mark := item.get_closest_marker(_MARK)) and isinstance(item, pytest.Function):
            cells.setdefault(_cell(item, *mark.args), []).append(item)
    turns: Counter[Hashable] = Counter()
    places: Counter[Hashable] = Counter()
    drawn: set[pytest.Item] = set()
    for cell, members in cells.items():
        place = turns[cell.turn] + (places[cell.test] if cell.staggered else 0)
        drawn.add(members[place % len(members)])
        turns[cell.turn] += 1
        places[cell.test] += 1
    return drawn


class _Cell(NamedTuple):
    """What one value is drawn for: a test, its other parameters, and a group."""

    test: tuple[Hashable, ...]
    others: tuple[Hashable, ...]
    turn: Hashable
    staggered: bool


def _cell(
    item: pytest.Function, names: Sequence[str], group: Group | None, staggered: bool
) -> _Cell:
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    others = {key: str(value) for key, value in parameters.items() if key not in names}
    drawn_from = str(item.path) if group is None else group(parameters[names[0]])
    test = (item.path, item.originalname)
    return _Cell(test, (*others.items(),), (drawn_from, *names), staggered)
