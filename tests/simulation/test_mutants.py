"""Every bug that was fixed is found again when it is put back."""

from __future__ import annotations

import pytest

from tests.simulation.auditing import command
from tests.simulation.exploring import run_fixed
from tests.simulation.hunting import hunt, shortest
from tests.simulation.mutants import MUTANTS, Mutant, mutant_named

pytestmark = pytest.mark.usefixtures("simulated_world")

SEED = 2


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda one: one.name)
def test_a_mutant_is_found(mutant: Mutant) -> None:
    kill = hunt(mutant, SEED)
    assert kill is not None, f"{mutant.name} escaped"


def test_a_failure_is_shrunk_and_can_be_repeated() -> None:
    mutant = mutant_named("publish-before-manifest")
    kill = hunt(mutant, SEED)
    assert kill is not None
    least = shortest(mutant, kill)
    assert "--schedule A" in command(kill.scenario, kill.storage, least, mutant.name)
    with mutant.at_work():
        assert run_fixed(kill.scenario, kill.storage, least.schedule).violations
        for place in range(len(least.schedule)):
            fewer = least.schedule[:place] + least.schedule[place + 1 :]
            assert not run_fixed(kill.scenario, kill.storage, fewer).violations
    assert not run_fixed(kill.scenario, kill.storage, least.schedule).violations
