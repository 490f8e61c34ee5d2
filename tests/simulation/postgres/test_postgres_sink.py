"""Schedules of the PostgreSQL sink: none loses or doubles a row; each broken sink is found."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from tests.simulation.postgres.choices import parsed, spelled
from tests.simulation.postgres.exploring import children, drawn, shrunk, told
from tests.simulation.postgres.mutants import MUTANTS, hunt, repeat_known
from tests.simulation.postgres.running import Ran, Stage
from tests.simulation.postgres.scenarios import SCENARIOS
from tests.simulation.postgres.server import Server, quick_server

SEED = 20261116
LISTED = 3
DRAWN = 1


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """Start a server for every schedule here."""
    with quick_server() as one:
        yield one


def staged(server: Server, name: str) -> Stage:
    """Give a scenario at its beginning."""
    stage = Stage(SCENARIOS[name], server)
    stage.begin()
    return stage


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_part_of_every_scenario(server: Server, name: str) -> None:
    """The ordinary course, a few with one deviation, and a drawn one; `--minutes` runs the rest."""
    stage = staged(server, name)
    ordinary = stage.repeat(())
    chosen = random.Random(f"{SEED} {name}").sample(children((), ordinary), LISTED)
    runs: list[Ran] = [ordinary, *map(stage.repeat, chosen)]
    runs += drawn(stage, iter(range(SEED, SEED + DRAWN)))
    stage.close()
    wrong = [told(ran) for ran in runs if ran.faults]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", MUTANTS)
def test_every_mutant_is_found(server: Server, name: str) -> None:
    """By the schedule that is known; where the sink sends other statements now, by a new one."""
    mutant = MUTANTS[name]
    if repeat_known(mutant, server).faults:
        return
    found = hunt(mutant, server).failure
    assert found is not None
    # A hunt takes minutes: whoever changed the sink writes the new schedule down.
    pytest.fail(f"found, but no longer by {mutant.known!r}: known is {spelled(found.schedule)!r}")


def test_a_failure_is_shrunk_and_says_how_to_repeat_it(server: Server) -> None:
    """Decisions that do not matter are left out."""
    mutant = MUTANTS["commit-error-swallowed"]
    ((step, number),) = known = parsed(mutant.known)
    with mutant.broken():
        stage = staged(server, mutant.scenario)
        noisy = stage.repeat((*known, (step + 1, 1)))
        small = shrunk(stage, noisy)
        stage.close()
    assert (len(noisy.schedule), small.schedule, bool(small.faults)) == (2, known, True)
    command = "python -m tests.simulation.postgres --scenario append --mutant x --schedule"
    assert told(small, "--mutant x").endswith(f"{command} '{step}:{number}'")


def test_the_same_schedule_gives_the_same_course(server: Server) -> None:
    """Statement by statement, with a crash and a switch in it."""
    stage = staged(server, "three")
    chosen = random.Random(SEED).sample(children((), stage.repeat(())), 2)
    traces = [[stage.repeat(one).trace for one in chosen] for _ in range(2)]
    stage.close()
    assert traces[0] == traces[1]
