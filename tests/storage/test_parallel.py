"""Work is done at once, in order, and its errors arrive."""

from __future__ import annotations

import threading

import pytest

from holdfast.storage.parallel import one_ahead, side_by_side


def test_results_come_in_the_order_of_the_items_without_repetition() -> None:
    worked: list[int] = []

    def double(number: int) -> int:
        worked.append(number)
        return number * 2

    results = side_by_side(double, [3, 1, 2, 1], workers=2)
    assert list(results.items()) == [(3, 6), (1, 2), (2, 4)]
    assert sorted(worked) == [1, 2, 3]


def test_items_are_worked_on_at_the_same_time() -> None:
    together = threading.Barrier(4)
    results = side_by_side(lambda _: together.wait(timeout=30) >= 0, range(4), workers=4)
    assert set(results.values()) == {True}


def test_no_more_workers_than_allowed() -> None:
    names: set[str] = set()
    side_by_side(lambda _: names.add(str(threading.get_ident())), range(50), workers=3)
    assert 1 <= len(names) <= 3


def test_an_exception_reaches_the_caller() -> None:
    def fails(number: int) -> int:
        if number == 3:
            raise KeyboardInterrupt
        return number

    with pytest.raises(KeyboardInterrupt):
        side_by_side(fails, range(10), workers=2)


def test_nothing_to_do_is_fine() -> None:
    assert side_by_side(str, [], workers=4) == {}


def test_the_next_item_is_worked_on_while_one_is_used_and_no_further_one() -> None:
    begun: list[int] = []
    second, third = threading.Event(), threading.Event()

    def square(number: int) -> int:
        begun.append(number)
        {2: second, 3: third}.get(number, threading.Event()).set()
        return number * number

    given = one_ahead(iter([1, 2, 3]), square)
    assert next(given) == (1, 1)
    assert second.wait(timeout=30)
    assert begun == [1, 2]
    assert next(given) == (2, 4)
    assert third.wait(timeout=30)
    assert list(given) == [(3, 9)]


def test_an_exception_of_the_item_ahead_comes_in_its_turn() -> None:
    def fails(number: int) -> int:
        if number == 2:
            raise KeyboardInterrupt
        return number

    given = one_ahead([1, 2, 3], fails)
    assert next(given) == (1, 1)
    with pytest.raises(KeyboardInterrupt):
        next(given)
