"""Every bug that was fixed is found again when it is put back."""

from __future__ import annotations

import ast
import inspect
from types import ModuleType
from typing import Any

import pytest

from tests.simulation.auditing import command
from tests.simulation.driving import REPLACED
from tests.simulation.exploring import run_fixed
from tests.simulation.hunting import hunt, shortest
from tests.simulation.mutants import MUTANTS, Mutant, mutant_named

pytestmark = pytest.mark.usefixtures("simulated_world")

SEED = 2
LONG_HUNTS = {
    "late-leftovers": 128,
    "held-unpublished": 128,
    "roll-forward-gap": 128,
    "rewind-unfenced": 179,
    "journal-looked-at-once": 84,
    "host-name-alone": 249,
    "lease-given-back": 152,
    "check-then-write": 268,
}
"""The schedules of this seed that find mutants which few schedules find: hunts begin there."""


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda one: one.name)
def test_a_mutant_is_found(mutant: Mutant, whole: bool) -> None:
    """Where the code makes other calls now, the hunt goes on from there; whole, from the first."""
    kill = hunt(mutant, SEED, first=1 if whole else LONG_HUNTS.get(mutant.name, 1))
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


def test_what_is_replaced_in_a_module_is_called_there() -> None:
    """A name that is replaced where it is defined, and called where it is imported, still counts.

    Then a mutant is no bug at all, and a simulation runs what it means to replace.
    """
    patches = [*REPLACED, *(patch for mutant in MUTANTS for patch in mutant.patches())]
    unused = {
        f"{owner.__name__}.{name}"
        for owner, name, _ in patches
        if isinstance(owner, ModuleType) and name not in _names_read(owner)
    }
    assert unused == _CALLED_BY_WAY_OF_THEIR_MODULE


_CALLED_BY_WAY_OF_THEIR_MODULE = {
    "holdfast.ledgers.files.rewinding.rewind",
    "holdfast.ledgers.files.rewinding.clear",
}


def _names_read(module: Any) -> set[str]:
    tree = ast.walk(ast.parse(inspect.getsource(module)))
    return {one.id for one in tree if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}
