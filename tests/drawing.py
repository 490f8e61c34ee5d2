"""Draws the part of a matrix that every change has to pass; `pytest --whole` runs all of it.

A matrix runs one promise over many subjects. Of each group of subjects one is drawn for every test,
in turn, so that over the tests of a run each subject is met.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence

import pytest

_MARK = "drawn"


def draw_one_per_group(
    name: str, values: Sequence[object], *, ids: Callable[[object], str], group: Callable[..., str]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test over one value of each group, or with `--whole` over all of them."""

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        parametrized = pytest.mark.parametrize(name, values, ids=ids)(test)
        decorated: Callable[..., None] = pytest.mark.drawn(name, group)(parametrized)
        return decorated

    return decorate


def select(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what was not drawn; a test that is named by its id always runs."""
    if config.getoption("whole") or any("::" in argument for argument in config.args):
        return
    drawn = _drawn(items)
    left_out = [item for item in items if item.get_closest_marker(_MARK) and item not in drawn]
    items[:] = [item for item in items if not item.get_closest_marker(_MARK) or item in drawn]
    if left_out:
        config.hook.pytest_deselected(items=left_out)


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


def _cell(item: pytest.Function, name: str, group: Callable[[object], str]) -> tuple[Hashable, ...]:
    """Name the test, its other parameters, and the group that one value is drawn from."""
    others = {key: str(value) for key, value in item.callspec.params.items() if key != name}
    return (item.path, item.originalname, *others.items(), group(item.callspec.params[name]))
