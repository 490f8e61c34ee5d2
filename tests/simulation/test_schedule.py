"""Schedules are spelled so that they can be typed, and read back as they were."""

from __future__ import annotations

import pytest

from tests.simulation.schedule import CRASH, LOST, TO, Decision, faults_of, parse, spell
from tests.simulation.semantics import LOCAL, OBJECT


def test_a_schedule_is_read_back_as_it_was_spelled() -> None:
    schedule = (Decision(0, 17, TO, 1), Decision(1, 3, CRASH))
    assert spell(schedule) == "A17:toB,B3:crash"
    assert parse(spell(schedule)) == schedule
    assert parse(spell(())) == ()


@pytest.mark.parametrize("text", ["A17", "A17:to", "A:crash", "A3:dance", "A3:crashB"])
def test_what_is_no_schedule_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse(text)


def test_answers_get_lost_on_the_way_to_a_server_only() -> None:
    assert LOST in faults_of(OBJECT)
    assert LOST not in faults_of(LOCAL)
