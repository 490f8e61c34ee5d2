"""Runs one schedule of a scenario from the same beginning, and judges it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from holdfast.errors import SinkError
from tests.simulation.postgres.baton import Actor, Controller, HungError, Step
from tests.simulation.postgres.choices import Chooser, Schedule, following
from tests.simulation.postgres.connections import Pool
from tests.simulation.postgres.judging import (
    EndedError,
    errors_of,
    faults_now,
    final_faults,
    seen_in,
)
from tests.simulation.postgres.scenarios import Part, Scenario
from tests.simulation.postgres.server import LEDGER, TABLE, Server
from tests.simulation.postgres.world import World, without_spark


@dataclass(frozen=True)
class Ran:
    """What became of one schedule."""

    scenario: str
    schedule: Schedule
    steps: tuple[Step, ...]
    faults: tuple[str, ...]
    ends: tuple[str, ...]

    @property
    def trace(self) -> str:
        """Return a digest of everything that happened, in its order."""
        told = "\n".join(f"{one.option} {one.point}" for one in self.steps)
        return hashlib.sha256((told + repr(self.ends)).encode()).hexdigest()[:16]


class _JudgedError(Exception):
    """Ends a run at the first thing that is wrong."""


@dataclass
class Stage:
    """A scenario on a server: made once, then run from its beginning again and again."""

    scenario: Scenario
    server: Server
    every_statement: bool = False
    with_faults: bool = True
    _pool: Pool = field(init=False)
    _tables: list[str] = field(default_factory=list)
    _actors: list[Actor] = field(default_factory=list)

    def __post_init__(self) -> None:
        there = self.scenario.there > 0
        self._pool = Pool(self.server.uri, every_statement=self.every_statement, tables_there=there)

    def begin(self) -> None:
        """Deliver the batches that are there before anything happens, and remember them."""
        self.server.ask("drop schema if exists template cascade; create schema template")
        self.server.ask("drop schema public cascade; create schema public")
        if self.scenario.there:
            newest = self.scenario.there - 1
            error = self._alone(self._world(), lambda world: world.drive(1, newest))
            assert error is None, error
        if (gap := self.scenario.gap) is not None:
            self.server.ask(f"delete from {TABLE} where batch = {gap}")
            self.server.ask(f"delete from {LEDGER} where batch_id = {gap}")
        self._tables = self.server.tables()
        for name in self._tables:
            self.server.ask(f"create table template.{name} as select * from public.{name}")

    def run(self, choose: Chooser) -> Ran:
        """Run the scenario once."""
        self._reset()
        world = self._world()
        gap = self.scenario.gap
        world.committed = self.scenario.there - 1 if gap is None else gap - 1
        world.generation = 1
        actors = [Actor(part.name, partial(_work, part, world)) for part in self.scenario.parts]
        self._actors = actors
        with self._replaced():
            controller = Controller(
                actors, self.server, choose, lambda: self._judge_now(world),
                with_faults=self.with_faults, ghosts=self._pool.ghosts,
            )  # fmt: skip
            try:
                controller.run()
                found = errors_of(actors, self.scenario)
                if not found and not self.scenario.stuck:
                    found = self._final(world)
            except _JudgedError as wrong:
                found = list(wrong.args)
            except HungError as hung:
                found = [f"the simulation hangs: {hung}"]
        ends = tuple(f"{one.name}: {_end_of(one)}" for one in actors)
        return Ran(
            self.scenario.name, controller.schedule, tuple(controller.steps), tuple(found), ends
        )

    def repeat(self, schedule: Schedule) -> Ran:
        """Run a schedule that is known."""
        return self.run(following(schedule))

    def point_of(self, name: str) -> str:
        """Return where an actor stops right now."""
        return next((str(one.point) for one in self._actors if one.name == name), "")

    def close(self) -> None:
        """Close what the actors connected with."""
        self._pool.close()

    def _world(self) -> World:
        one = self.scenario
        return World(self.server.uri, one.mode, one.batch_column, one.replans, one.new_query)

    def _reset(self) -> None:
        gone = [f'drop table "{one}"' for one in self.server.tables() if one not in self._tables]
        again = [
            f"delete from public.{name}; insert into public.{name} select * from template.{name}"
            for name in self._tables
        ]
        self.server.reset([*gone, *again])

    @contextmanager
    def _replaced(self) -> Iterator[None]:
        with without_spark(self.scenario.kept_batches), self._pool.instead_of_psycopg():
            yield

    def _judge_now(self, world: World) -> None:
        if not self._pool.ended_transactions and not world.claimed:
            return
        self._pool.ended_transactions = 0
        seen = seen_in(self.server)
        if seen is not None and (found := faults_now(seen, world, self.scenario)):
            raise _JudgedError(*found)

    def _final(self, world: World) -> list[str]:
        """Start once more with nobody else: everything arrives, once, and nothing is left."""
        newest = self.scenario.last + 1
        generation = self.scenario.final_generation
        error = self._alone(world, lambda one: one.drive(generation, newest))
        if error is not None:
            return [f"a clean start ended with {error!r}"]
        found = final_faults(seen_in(self.server), world, self.scenario, newest)
        left = [one for one in self.server.tables() if one.startswith("holdfast_staging")]
        if left:
            found.append(f"staging tables are left: {left}")
        return found or self._once_more(world, generation + 1, newest)

    def _once_more(self, world: World, generation: int, newest: int) -> list[str]:
        before = seen_in(self.server)
        told: list[Any] = []
        error = self._alone(
            world, lambda one: told.append(one.deliver(one.sink(), generation, newest))
        )
        if error is not None or not told[0].skipped or seen_in(self.server) != before:
            return [f"one more start changed something: {error!r} {told}"]
        return []

    def _alone(self, world: World, work: Any) -> BaseException | None:
        """Run one actor to its end; where it is used to begin, nothing may fail."""
        actor = Actor("alone", lambda: work(world))
        with self._replaced():
            Controller([actor], self.server, following(()), with_faults=False).run()
        return actor.error


def _work(part: Part, world: World) -> None:
    try:
        part.work(world)
    except SinkError as error:
        raise EndedError(error, overtaken=part.generation < world.generation) from error


def _end_of(actor: Actor) -> str:
    if actor.is_crashed:
        return "crashed"
    return "done" if actor.error is None else str(actor.error)
