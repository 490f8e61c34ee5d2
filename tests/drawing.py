"""Draws the part of a matrix that every change has to pass; `pytest --whole` runs all of it.

A matrix runs one test over many values. For every test one of them is drawn, or one of each group,
in turn, so that over the tests of a run each value is met. What only repeats a promise at one more
place, at a price, is marked `whole`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence

import pytest

_MARK = "drawn"
_WHOLE = "whole"

Test = Callable[..., None]
Group = Callable[[object], str]


def draw(*names: str) -> pytest.MarkDecorator:
    """Of the values of these parameters together, run one; with `--whole` all of them."""
    return pytest.mark.drawn(names, None)


def draw_one_per_group(
    name: str, values: Sequence[object], *, ids: Callable[[object], str], group: Callable[..., str]
) -> Callable[[Test], Test]:
    """Run a test over one value of each group, or with `--whole` over all of them."""

    def decorate(test: Test) -> Test:
        parametrized = pytest.mark.parametrize(name, values, ids=ids)(test)
        decorated: Test = pytest.mark.drawn((name,), group)(parametrized)
        return decorated

    return decorate


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
    cells: dict[tuple[Hashable, ...], list[pytest.Item]] = {}
    for item in items:
        if (mark := item.get_closest_marker(_MARK)) and isinstance(item, pytest.Function):
            cells.setdefault(_cell(item, *mark.args), []).append(item)
    turns: Counter[Hashable] = Counter()
    drawn: set[pytest.Item] = set()
    for cell, members in cells.items():
        drawn.add(members[turns[cell[-1]] % len(members)])
        turns[cell[-1]] += 1
    return drawn


def _cell(item: pytest.Function, names: Sequence[str], group: Group | None) -> tuple[Hashable, ...]:
    """Name the test, its other parameters, and the group that one value is drawn from."""
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    others = {key: str(value) for key, value in parameters.items() if key not in names}
    turn = (str(item.path), *names) if group is None else group(parameters[names[0]])
    return (item.path, item.originalname, *others.items(), turn)
