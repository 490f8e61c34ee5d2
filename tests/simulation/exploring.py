"""Chooses schedules: all of them up to a bound, or many from a seed, and counts distinct ones."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from tests.simulation.scenarios import Scenario
from tests.simulation.schedule import (
    CRASH,
    FAULTS,
    FREEZE,
    JUMP,
    LOST,
    POWER,
    SUSPEND,
    TO,
    TORN,
    Decision,
    Schedule,
    faults_of,
)
from tests.simulation.semantics import SEMANTICS
from tests.simulation.simulating import Fixed, Verdict, simulate
from tests.simulation.world import Actor, World

COMMIT_POINTS = ("create", "move", "remove", "copy", "spark-create", "replace", "move-folder")
"""Calls that decide something for others: switches next to them find the most."""
_READS = frozenset({"read", "names", "list"})


@dataclass(frozen=True)
class Bound:
    """How far a schedule may depart from letting everybody go on."""

    switches: int
    faults: int = 1


def every_schedule(scenario: Scenario, storage: str, bound: Bound) -> Iterator[Verdict]:
    """Run every schedule with at most so many switches and faults, fewest first.

    Each schedule extends one that was run before by one decision after its last one, so that none
    is run twice.
    """
    waiting: list[Schedule] = [()]
    while waiting:
        longer: list[Schedule] = []
        for schedule in waiting:
            idle = not schedule or schedule[-1].call % 4 == 0
            verdict = run_fixed(scenario, storage, schedule, idle=idle)
            yield verdict
            if verdict.schedule == schedule:
                longer.extend(_extensions(scenario, storage, verdict, bound))
        waiting = longer


def run_fixed(
    scenario: Scenario,
    storage: str,
    schedule: Schedule,
    *,
    idle: bool = True,
    examined: bool = False,
) -> Verdict:
    """Run one schedule."""
    return simulate(scenario, storage, Fixed(schedule), idle=idle, examined=examined)


def _extensions(
    scenario: Scenario, storage: str, verdict: Verdict, bound: Bound
) -> Iterator[Schedule]:
    schedule = verdict.schedule
    faults = sum(1 for one in schedule if one.act in FAULTS)
    switches = len(schedule) - faults
    last = (schedule[-1].actor, schedule[-1].call) if schedule else None
    passed = last is None
    for actor, call, kind, _ in verdict.points:
        if not passed:
            passed = (actor, call) == last
            continue
        if actor >= len(scenario.parts):
            return
        if switches < bound.switches:
            for decision in _switches(scenario, actor, call):
                yield (*schedule, decision)
        if faults < bound.faults:
            for decision in _faults(scenario, storage, actor, call, kind):
                yield (*schedule, decision)


def _switches(scenario: Scenario, actor: int, call: int) -> Iterator[Decision]:
    for other in range(len(scenario.parts)):
        if other != actor:
            yield Decision(actor, call, TO, other)
    if len(scenario.parts) > 1:
        yield Decision(actor, call, FREEZE)
        yield Decision(actor, call, SUSPEND)


def _faults(
    scenario: Scenario, storage: str, actor: int, call: int, kind: str
) -> Iterator[Decision]:
    for act in faults_of(SEMANTICS[storage]):
        if act in (POWER, TORN) and not scenario.power:
            continue
        if act == LOST and kind in _READS:
            continue
        if act == JUMP and call % 8 != 1:
            # The clock on the wall is looked at seldom: few moments stand for all.
            continue
        yield Decision(actor, call, act)


class Drawn:
    """Decides at a few moments that are drawn evenly over a run, most of them at commit points.

    Races are met on purpose: where somebody is about to touch what a stopped actor was about to
    change, that actor may go on first, and may then be stopped or killed right after its change.
    """

    def __init__(self, scenario: Scenario, storage: str, seed: int) -> None:
        self._random = random.Random(seed)
        self._scenario = scenario
        self._storage = storage
        length = _length(scenario, storage)
        number = self._random.choice((1, 2, 2, 2, 3, 3, 4, 5))
        self._moments = sorted(self._random.randrange(length) for _ in range(number))
        self._at_commits = self._random.random() < 0.7
        self._faults = self._random.choice((0, 0, 1, 1, 2))
        self._races = self._random.choice((0, 1, 1, 2))
        self._stopped: dict[str, int] = {}
        """What actors were about to change when they were stopped."""
        self._rushed: int | None = None
        """Who was let go on for one change."""

    def decide(self, world: World, actor: Actor, kind: str, path: str) -> tuple[Decision, ...]:
        """Return nothing most of the time."""
        decision = self._raced(world, actor, path) or self._drawn(world, actor, kind)
        if decision is None:
            return ()
        self._faults -= decision.act in FAULTS
        if decision.act not in FAULTS and kind not in _READS:
            self._stopped[path] = actor.index
        return (decision,)

    def _raced(self, world: World, actor: Actor, path: str) -> Decision | None:
        if self._rushed == actor.index:
            self._rushed = None
            acts = [FREEZE, SUSPEND, *([CRASH, CRASH] if self._faults > 0 else [])]
            if self._random.random() < 0.6:
                return Decision(actor.index, actor.calls, self._random.choice(acts))
        other = self._stopped.get(path)
        if not self._races or other is None or other == actor.index:
            return None
        if not world.can_go_on(other) or self._random.random() < 0.4:
            return None
        del self._stopped[path]
        self._races -= 1
        # Its next call is the change itself; the one after that is where it is stopped.
        self._rushed = other
        return Decision(actor.index, actor.calls, TO, other)

    def _drawn(self, world: World, actor: Actor, kind: str) -> Decision | None:
        if not self._moments or len(world.points) <= self._moments[0]:
            return None
        if self._at_commits and kind not in COMMIT_POINTS:
            return None
        self._moments.pop(0)
        choices = list(_switches(self._scenario, actor.index, actor.calls))
        choices = [one for one in choices if one.act != TO or world.can_go_on(one.other)]
        if self._faults > 0 and (not choices or self._random.random() < 0.35):
            choices = list(_faults(self._scenario, self._storage, actor.index, actor.calls, kind))
        return self._random.choice(choices) if choices else None


@cache
def _length(scenario: Scenario, storage: str) -> int:
    """Return how many calls the actors make when nobody disturbs them."""
    verdict = run_fixed(scenario, storage, (), idle=False)
    return sum(1 for actor, *_ in verdict.points if actor < len(scenario.parts))


def drawn_schedule(scenario: Scenario, storage: str, seed: int) -> Verdict:
    """Run the schedule that follows from a seed."""
    decider = Drawn(scenario, storage, seed)
    return simulate(scenario, storage, decider, idle=seed % 4 == 0, examined=seed % 64 == 0)


def first_failure(
    scenario: Scenario, storage: str, seeds: Iterator[int], most: int
) -> tuple[int, Verdict] | None:
    """Draw schedules until one fails; return how many it took, None where none did."""
    for count in range(1, most + 1):
        verdict = drawn_schedule(scenario, storage, next(seeds))
        if verdict.violations:
            return count, verdict
    return None


Run = Callable[[Schedule], Verdict]


def shrunk(run: Run, failing: Verdict) -> Verdict:
    """Take decisions out as long as the schedule still fails, and make the rest simpler."""
    best = failing
    changed = True
    while changed:
        changed = False
        for candidate in _simpler(best.schedule):
            verdict = run(candidate)
            if verdict.violations and _size(verdict.schedule) < _size(best.schedule):
                best, changed = verdict, True
                break
    return best


def _simpler(schedule: Schedule) -> Iterator[Schedule]:
    for place in range(len(schedule)):
        yield schedule[:place] + schedule[place + 1 :]
    for place, one in enumerate(schedule):
        if one.act == SUSPEND:
            simpler = Decision(one.actor, one.call, FREEZE)
            yield (*schedule[:place], simpler, *schedule[place + 1 :])


def _size(schedule: Schedule) -> tuple[int, int]:
    return len(schedule), sum(1 for one in schedule if one.act == SUSPEND)
