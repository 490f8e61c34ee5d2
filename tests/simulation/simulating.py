"""Runs one schedule of a scenario and judges it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache, partial

from holdfast.errors import HoldfastError
from tests.simulation import acts, judging
from tests.simulation.driving import Setting, drive, setting_of, without_spark
from tests.simulation.patches import enter, simulated
from tests.simulation.scenarios import Scenario
from tests.simulation.schedule import Decision, Schedule
from tests.simulation.semantics import SEMANTICS
from tests.simulation.spark import Source, offsets_entry
from tests.simulation.tree import Tree
from tests.simulation.world import Actor, Decider, World

_MACHINES = ("1" * 32, "2" * 32, "3" * 32)
"""As real marks of machines are: temporary files are known by them."""
_EARLIER_STARTS = 5
"""How often a job was started before its records were lost: more often than afterwards."""


class Fixed:
    """Decides what a schedule says."""

    def __init__(self, schedule: Schedule) -> None:
        self._at: dict[tuple[int, int], tuple[Decision, ...]] = {}
        for one in schedule:
            key = (one.actor, one.call)
            self._at[key] = (*self._at.get(key, ()), one)

    def decide(self, world: World, actor: Actor, kind: str, path: str) -> tuple[Decision, ...]:
        """Return the decisions for this call."""
        return self._at.get((actor.index, actor.calls), ())


@dataclass(frozen=True)
class Verdict:
    """What became of one schedule."""

    schedule: Schedule
    """The decisions that took effect."""
    violations: tuple[str, ...]
    digest: str
    points: list[tuple[int, int, str, str]] = field(repr=False, compare=False)
    outcomes: tuple[str, ...] = ()
    steps: int = 0


@contextmanager
def simulation() -> Iterator[None]:
    """Make everything ready for simulating, until the end of the block."""
    with simulated(), without_spark():
        yield
    _prepared.cache_clear()


def simulate(
    scenario: Scenario,
    storage: str,
    decider: Decider,
    *,
    idle: bool = True,
    examined: bool = False,
) -> Verdict:
    """Run a scenario under a decider, then start once more, and judge.

    `idle` starts a second time, which must do nothing; `examined` asks the doctor at the end.
    """
    setting = setting_of(SEMANTICS[storage], scenario.mode, stateful=scenario.stateful)
    tree, plans = _prepared(scenario, storage)
    world = World(tree.copy(), decider)
    world.notes["source"] = Source(scenario.total, plans)
    enter(world)
    try:
        for number, part in enumerate(scenario.parts):
            machine = _MACHINES[number % scenario.machines]
            main = scenario.main_of(part, setting)
            world.add(part.role, main, machine, restarts=part.restarts)
        world.now = 100.0
        world.watchers.append(partial(judging.judge_change, world, setting))
        world.run()
        _judge(world, setting, scenario, idle=idle, examined=examined)
    finally:
        world.close()
        enter(None)
    return Verdict(
        tuple(world.made),
        tuple(world.violations),
        world.digest,
        world.points,
        tuple(f"{one.name} {one.role}: {one.outcome}" for one in world.actors),
        len(world.points),
    )


def _judge(
    world: World, setting: Setting, scenario: Scenario, *, idle: bool, examined: bool
) -> None:
    for actor in world.actors:
        _judge_actor(world, actor, scenario)
    world.violate(*judging.judge_any_moment(world, setting))
    world.violate(*judging.backups_broken(world, setting))
    started = _last_start(world, setting, scenario)
    world.violate(*judging.judge_any_moment(world, setting))
    if not started or world.violations:
        return
    world.violate(*judging.judge_end(world, setting, scenario.total))
    if idle:
        _idle_start(world, setting)
    if examined and not scenario.stateful:
        # The simulated state has Spark's names and not its bytes.
        _examine(world, setting)


def _judge_actor(world: World, actor: Actor, scenario: Scenario) -> None:
    if actor.outcome.startswith("failed"):
        world.violate(f"{actor.role} ended in {actor.error!r}")
    for finding in (actor.result or ()) if actor.role == "doctor" else ():
        if not finding.code.startswith("HF70") and finding.code not in scenario.allowed:
            world.violate(f"the doctor reported {finding.code} while drivers worked")


def _last_start(world: World, setting: Setting, scenario: Scenario) -> bool:
    """Start when everybody is gone; return whether that ended well, or was refused as it may be."""
    allowed = scenario.allowed
    if not setting.semantics.replace_is_atomic:
        # A kill in the middle of a replacement costs a run's record: a person has to say.
        allowed |= {"HF3009"}
    if scenario.finisher is not None:
        _alone(world, "finisher", partial(scenario.finisher, setting), scenario.allowed)
    return _alone(world, "last start", partial(drive, setting), allowed).error is None


def _idle_start(world: World, setting: Setting) -> None:
    seen = len(world.trace)
    _alone(world, "idle start", partial(drive, setting))
    changed = judging.acts_of_idle_start(world.trace[seen:])
    if changed:
        world.violate(f"one more start did something: {changed[0]}")


def _examine(world: World, setting: Setting) -> None:
    actor = _alone(world, "doctor", partial(acts.doctor, setting))
    for finding in actor.result or ():
        world.violate(f"the doctor reports {finding.code}: {finding.message}")


def _alone(world: World, role: str, main: object, allowed: frozenset[str] = frozenset()) -> Actor:
    """Let one more actor do its work, without any fault."""
    world.decider = Fixed(())
    world.now += 3600.0
    actor = world.add(role, main, _MACHINES[0])  # type: ignore[arg-type]
    world.run()
    if actor.error is not None and actor.outcome.removeprefix("refused ") not in allowed:
        told = actor.error
        words = told.message if isinstance(told, HoldfastError) else repr(told)
        world.violate(f"the {role} was {actor.outcome}: {words}")
    return actor


@lru_cache(maxsize=64)
def _prepared(scenario: Scenario, storage: str) -> tuple[Tree, int]:
    """Return the tree before anybody interferes, and how many batches were planned for it."""
    setting = setting_of(SEMANTICS[storage], scenario.mode, stateful=scenario.stateful)
    world = World(Tree(setting.semantics), Fixed(()), life=0)
    source = Source(scenario.before)
    world.notes["source"] = source
    enter(world)
    try:
        if scenario.before:
            _alone(world, "before", partial(drive, setting))
        if scenario.pending:
            _uncommit(world.tree, setting)
        if scenario.planned:
            _plan(world.tree, setting, source)
        if scenario.records_lost:
            for _ in range(_EARLIER_STARTS):
                _alone(world, "before", partial(drive, setting))
            _alone(world, "rewind", partial(acts.take_back_last, setting))
            _lose_records(world.tree, setting)
        for _ in range(scenario.backups):
            _alone(world, "backup", partial(acts.back_up, setting))
        for path in scenario.lost:
            world.tree.remove(f"{setting.checkpoint.url}/{path}")
        if world.violations:
            raise AssertionError(world.violations)
        world.tree.settle()
    finally:
        world.close()
        enter(None)
    return world.tree, max(source.plans - 1, 0) + scenario.planned


def _uncommit(tree: Tree, setting: Setting) -> None:
    """Take the newest batch back from Spark's side: its commit and its state."""
    root = setting.checkpoint.url
    newest = max(int(name) for name in tree.children(f"{root}/commits"))
    tree.remove(f"{root}/commits/{newest}")
    tree.remove(f"{root}/state/0/0/{newest + 1}.delta")


def _lose_records(tree: Tree, setting: Setting) -> None:
    records = f"{setting.semantics.root}/.holdfast/checkpoint"
    for path in tree.below(records):
        tree.remove(f"{records}/{path}")


def _plan(tree: Tree, setting: Setting, source: Source) -> None:
    """Plan one batch more, as a driver did that was killed right afterwards."""
    root = setting.checkpoint.url
    newest = max(int(name) for name in tree.children(f"{root}/offsets"))
    tree.put_durably(f"{root}/offsets/{newest + 1}", offsets_entry(2 * source.plans), 0)
