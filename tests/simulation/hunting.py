"""Hunts mutants: how many schedules it takes until the judge convicts each of them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from statistics import median

from tests.simulation.exploring import drawn_schedule, run_fixed, shrunk
from tests.simulation.mutants import Mutant
from tests.simulation.scenarios import Scenario, scenario_named
from tests.simulation.simulating import Verdict

MOST = 4000
"""Schedules after which a mutant counts as not found."""


@dataclass(frozen=True)
class Kill:
    """A mutant that was convicted."""

    schedules: int
    scenario: Scenario
    storage: str
    verdict: Verdict


def hunt(mutant: Mutant, seed: int, most: int = MOST, *, first: int = 1) -> Kill | None:
    """Draw schedules of the mutant's scenarios in turn, from the `first` on, until it is convicted.

    Numbers count up to `most`; a hunt that begins where one ended is over at once.
    """
    places = [
        (scenario, storage)
        for scenario in map(scenario_named, mutant.scenarios)
        for storage in mutant.storages
        if storage in scenario.storages or storage == "naive"
    ]
    with mutant.at_work():
        for number in count(first):
            if number > most:
                return None
            scenario, storage = places[number % len(places)]
            verdict = drawn_schedule(scenario, storage, seed * 1_000_003 + number)
            if verdict.violations:
                return Kill(number, scenario, storage, verdict)
    return None


def shortest(mutant: Mutant, kill: Kill) -> Verdict:
    """Shrink the schedule that convicted a mutant."""
    with mutant.at_work():
        return shrunk(lambda one: run_fixed(kill.scenario, kill.storage, one), kill.verdict)


@dataclass(frozen=True)
class Hunted:
    """A mutant, and how many schedules each hunt took; None where it escaped."""

    mutant: Mutant
    took: tuple[int | None, ...]

    @property
    def found(self) -> tuple[int, ...]:
        """The hunts that ended well."""
        return tuple(one for one in self.took if one is not None)

    @property
    def words(self) -> str:
        """Say how many schedules it took, in the middle and at most."""
        if len(self.found) < len(self.took):
            return f"escaped in {len(self.took) - len(self.found)} of {len(self.took)} hunts"
        return f"{int(median(self.found)):,} ({min(self.found):,} to {max(self.found):,})"


def hunt_often(mutant: Mutant, hunts: int, seed: int, most: int = MOST) -> Hunted:
    """Hunt a mutant with several seeds."""
    kills = [hunt(mutant, seed + number, most) for number in range(hunts)]
    return Hunted(mutant, tuple(None if one is None else one.schedules for one in kills))
