"""An exploration that is stopped goes on where it ended, and counts nothing twice."""

from __future__ import annotations

from pathlib import Path

from tests.simulation.auditing import Tally, _loaded, _save, tallied


def test_what_was_explored_is_kept(tmp_path: Path) -> None:
    tally = Tally(schedules=3, seconds=1.5, exhausted=["takeover/local"], next_seed=2)
    _save(tmp_path, 0, tally, b"one-----two-----")
    _save(tmp_path, 0, tally, b"three---")
    again = _loaded(tmp_path, 0)
    assert (again.schedules, again.next_seed, again.distinct) == (3, 2, 3)
    assert again.exhausted == ["takeover/local"]


def test_processes_are_added_up_without_doubles(tmp_path: Path) -> None:
    _save(tmp_path, 0, Tally(schedules=2, failures={"a": "broken"}), b"one-----two-----")
    _save(tmp_path, 1, Tally(schedules=1), b"two-----")
    total = tallied(tmp_path)
    assert (total.schedules, total.distinct, total.failures) == (3, 2, {"a": "broken"})
