"""The same schedule is the same run, and the real code keeps its promises under drawn ones."""

from __future__ import annotations

import pytest

from tests.simulation.auditing import command, every_place
from tests.simulation.exploring import Bound, drawn_schedule, every_schedule, run_fixed, shrunk
from tests.simulation.scenarios import Scenario, scenario_named
from tests.simulation.schedule import parse

pytestmark = pytest.mark.usefixtures("simulated_world")

SEED = 20261116
DRAWN, WHOLE = 8, 20
"""Schedules per scenario and storage; `make audit` also explores them by the hundred thousand."""


@pytest.mark.parametrize("schedule", ["-", "A40:freeze,B60:toA", "A30:crash,B20:suspend"])
def test_the_same_schedule_is_the_same_run(schedule: str) -> None:
    scenario = scenario_named("takeover")
    first, second = (run_fixed(scenario, "object", parse(schedule)) for _ in range(2))
    assert first.digest == second.digest
    assert first.outcomes == second.outcomes


def test_a_drawn_schedule_can_be_repeated_by_its_decisions() -> None:
    scenario = scenario_named("three")
    drawn = drawn_schedule(scenario, "local", 3)
    repeated = run_fixed(scenario, "local", drawn.schedule, idle=False)
    assert drawn.schedule and repeated.digest == drawn.digest


@pytest.mark.parametrize(
    ("scenario", "storage"), every_place(), ids=lambda one: getattr(one, "name", one)
)
def test_promises_are_kept(scenario: Scenario, storage: str, whole: bool) -> None:
    """Undisturbed with the doctor at the end, and under a part of what `make audit` explores."""
    verdicts = [run_fixed(scenario, storage, (), examined=True)]
    seeds = range(SEED, SEED + (WHOLE if whole else DRAWN))
    verdicts += [drawn_schedule(scenario, storage, seed) for seed in seeds]
    for verdict in verdicts:
        if verdict.violations:
            least = shrunk(lambda one: run_fixed(scenario, storage, one, examined=True), verdict)
            pytest.fail(f"{least.violations}\nagain: {command(scenario, storage, least)}")


def test_no_schedule_is_explored_twice() -> None:
    verdicts = []
    for verdict in every_schedule(scenario_named("kills"), "object", Bound(0, 1)):
        verdicts.append(verdict)
        if len(verdicts) == 40:
            break
    assert len({verdict.schedule for verdict in verdicts}) == 40
    assert not any(verdict.violations for verdict in verdicts)
