"""The scheduler: it lets one actor go on at a time, and decides at every storage call which.

Actors are greenlets. A storage call of an actor enters `World.step`; there, and nowhere else, the
actor may be stopped, killed or lied to. Everything that differs between two processes (clock,
process number, random names) is asked of the world, so that a run follows from its schedule.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from greenlet import GreenletExit, getcurrent, greenlet

from holdfast.errors import HoldfastError
from tests.simulation.schedule import (
    ANSWERS,
    CRASH,
    FREEZE,
    JUMP,
    POWER,
    SUSPEND,
    TO,
    TORN,
    Decision,
    letter,
)
from tests.simulation.tree import Tree

EPOCH = 1_800_000_000.0
TICK = 0.01
"""How long a storage call takes."""
JUMP_SECONDS = 3600.0
MOST_STEPS = 6000
"""Nobody needs more calls: an actor that does never ends."""

Main = Callable[["World", "Actor"], Any]


class Decider(Protocol):
    """Decides what happens at a call."""

    def decide(self, world: World, actor: Actor, kind: str, path: str) -> tuple[Decision, ...]:
        """Return what departs from going on; nothing where nothing does."""


@dataclass
class Timer:
    """Something that a process does every few seconds, beside its work."""

    every: float
    due: float
    act: Callable[[], None]
    ready: Callable[[], bool]


@dataclass
class Actor:
    """One process at a time: a driver, a restore, a backup."""

    index: int
    role: str
    main: Main
    machine: str
    restarts: int = 0
    incarnation: int = 0
    first_pid: int = 100
    calls: int = 0
    names: int = 0
    paused: float = 0.0
    """How much time its clock did not count."""
    skew: float = 0.0
    wakes_at: float | None = None
    frozen: str | None = None
    frozen_at: float = 0.0
    ended: bool = False
    dead: bool = False
    outcome: str = "running"
    error: BaseException | None = None
    result: Any = None
    timers: list[Timer] = field(default_factory=list)
    in_timer: bool = False
    greenlet: Any = None
    notes: dict[str, Any] = field(default_factory=dict)

    @property
    def pid(self) -> int:
        """Its process number: of each incarnation another one."""
        return self.first_pid + self.incarnation

    @property
    def name(self) -> str:
        """Name it in traces and reports."""
        return letter(self.index)


class World:
    """One run: a tree, actors, a clock, and what happened."""

    def __init__(self, tree: Tree, decider: Decider, *, life: int = 1) -> None:
        """Begin on a tree; `life` tells the processes of one world from those of one before it."""
        self._life = life
        self.tree = tree
        self.decider = decider
        self.actors: list[Actor] = []
        self.now = 0.0
        self.trace: list[tuple[int, str, str]] = []
        self.points: list[tuple[int, int, str, str]] = []
        """Every call: actor, its number, kind and path, for whoever explores further."""
        self.made: list[Decision] = []
        """The decisions that took effect."""
        self.violations: list[str] = []
        self.mutations = 0
        self.notes: dict[str, Any] = {}
        self.watchers: list[Callable[[Actor, str, str], None]] = []
        """Called for every call just before its effect."""
        self._hub: Any = None
        self._current: Actor | None = None
        self._preferred: Actor | None = None
        self._steps = 0

    def add(self, role: str, main: Main, machine: str, *, restarts: int = 0) -> Actor:
        """Add an actor; the first one begins."""
        number = self._life * 1000 + len(self.actors) * 10
        actor = Actor(len(self.actors), role, main, machine, restarts, first_pid=number)
        self.actors.append(actor)
        return actor

    @property
    def current(self) -> Actor:
        """Who goes on now."""
        assert self._current is not None
        return self._current

    @property
    def digest(self) -> str:
        """Return a digest of everything that happened, in order."""
        told = "\n".join(f"{index} {kind} {path}" for index, kind, path in self.trace)
        return hashlib.sha256(told.encode()).hexdigest()

    def run(self) -> None:
        """Let everybody go on until all are done, dead or refused."""
        self._hub = getcurrent()
        for actor in self.actors:
            if actor.greenlet is None:
                self._begin(actor)
        while (following := self._next()) is not None:
            self._current = following
            following.greenlet.switch()
        self._current = None

    def close(self) -> None:
        """Unwind what was killed; none of it reaches the storage any more."""
        for actor in self.actors:
            for one in (actor.greenlet, *actor.notes.pop("killed", ())):
                if one is not None and not one.dead:
                    actor.dead = True
                    self._current = actor
                    one.throw(GreenletExit)
            actor.greenlet = None
        self._current = None

    def step(self, kind: str, path: str, *, mutates: bool = False) -> str | None:
        """Enter a storage call; return what becomes of its answer, None where it is given."""
        actor = self.current
        if actor.dead:
            raise GreenletExit
        if actor.timers and not actor.in_timer:
            self._fire(actor)
        self._steps += 1
        if self._steps > MOST_STEPS:
            self.violate("nobody comes to an end")
            self._die(actor, "endless")
        actor.calls += 1
        self.now += TICK
        self.points.append((actor.index, actor.calls, kind, path))
        answer = None
        for decision in self.decider.decide(self, actor, kind, path):
            answer = self._obey(decision, actor) or answer
        self.trace.append((actor.index, kind if answer is None else f"{kind}!{answer}", path))
        if mutates:
            self.mutations += 1
        for watch in self.watchers:
            watch(actor, kind, path)
        return answer

    def sleep(self, seconds: float) -> None:
        """Let time pass for the current actor, with its beats."""
        actor = self.current
        if actor.dead:
            raise GreenletExit
        until = self.now + seconds
        while True:
            due = min([one.due for one in actor.timers if one.ready()], default=until)
            actor.wakes_at = min(due, until)
            self._hub.switch()
            self._fire(actor)
            if self.now >= until:
                return

    def every(self, seconds: float, act: Callable[[], None], ready: Callable[[], bool]) -> None:
        """Do something every few seconds in the current process, as a thread of it would."""
        self.current.timers.append(Timer(seconds, self.now + seconds, act, ready))

    def violate(self, *broken: str) -> None:
        """Note promises that were broken."""
        self.violations += [words for words in broken if words not in self.violations]

    def clock(self, actor: Actor) -> float:
        """Return the seconds that a process counts, from anywhere on."""
        return self.now - actor.paused

    def wall(self, actor: Actor) -> float:
        """Return the time on the wall of an actor's machine."""
        return EPOCH + self.now + actor.skew

    def lives(self, machine: str, pid: int) -> bool:
        """Return whether a process lives; a frozen one does."""
        return any(
            one.machine == machine and one.pid == pid and not one.ended and not one.dead
            for one in self.actors
        )

    def can_go_on(self, index: int) -> bool:
        """Return whether an actor could be switched to."""
        if index >= len(self.actors):
            return False
        actor = self.actors[index]
        return not (actor.ended or actor.dead or actor.wakes_at is not None)

    def fresh_name(self) -> str:
        """Return 32 hexadecimal digits that nobody else has."""
        actor = self._current
        if actor is None:
            self.notes["names"] = self.notes.get("names", 0) + 1
            return f"ffff{self.notes['names']:08x}".ljust(32, "0")
        actor.names += 1
        who = f"{self._life:x}{actor.index:x}{actor.incarnation:02x}"
        return f"{who}{actor.names:08x}".ljust(32, "0")

    def _begin(self, actor: Actor) -> None:
        def body() -> None:
            try:
                actor.result = actor.main(self, actor)
                actor.outcome = "done"
            except HoldfastError as error:
                actor.outcome, actor.error = f"refused {error.code.number}", error
            except GreenletExit:
                raise
            except BaseException as error:  # noqa: BLE001 - judged as a broken promise
                actor.outcome, actor.error = f"failed {type(error).__name__}", error
            actor.ended = True
            actor.timers.clear()

        actor.greenlet = greenlet(body, self._hub)

    def _next(self) -> Actor | None:
        preferred, self._preferred = self._preferred, None
        if preferred is not None and self.can_go_on(preferred.index):
            return self._thawed(preferred)
        waiting = [one for one in self.actors if not one.ended and not one.dead]
        for actor in waiting:
            if actor.frozen is None and actor.wakes_at is None:
                return actor
        sleeping = [one for one in waiting if one.wakes_at is not None and one.frozen is None]
        if sleeping:
            actor = min(sleeping, key=lambda one: (one.wakes_at, one.index))
            assert actor.wakes_at is not None
            self.now = max(self.now, actor.wakes_at)
            actor.wakes_at = None
            return actor
        return self._thawed(waiting[0]) if waiting else None

    def _thawed(self, actor: Actor) -> Actor:
        if actor.frozen == SUSPEND:
            actor.paused += self.now - actor.frozen_at
        actor.frozen = None
        return actor

    def _obey(self, decision: Decision, actor: Actor) -> str | None:
        if decision.act in ANSWERS:
            self.made.append(decision)
            return decision.act
        if decision.act == TO:
            if not self.can_go_on(decision.other) or decision.other == actor.index:
                return None
            self.made.append(decision)
            self._preferred = self.actors[decision.other]
            self._hub.switch()
        elif decision.act in (FREEZE, SUSPEND):
            self.made.append(decision)
            actor.frozen, actor.frozen_at = decision.act, self.now
            self._hub.switch()
        elif decision.act == JUMP:
            self.made.append(decision)
            actor.skew += JUMP_SECONDS
        else:
            self._kill(decision, actor)
        if actor.dead:
            raise GreenletExit
        return None

    def _kill(self, decision: Decision, actor: Actor) -> None:
        self.made.append(decision)
        self.trace.append((actor.index, decision.act, ""))
        if decision.act in (POWER, TORN):
            self.tree.lose_power(torn=decision.act == TORN)
            for other in self.actors:
                if other is not actor and not other.ended and not other.dead:
                    self._bury(other)
        self._die(actor, CRASH)

    def _die(self, actor: Actor, why: str) -> None:
        """End the current actor; it never comes back from here."""
        self._bury(actor, restart=why == CRASH)
        self._preferred = next(
            (one for one in self.actors if one is not actor and self.can_go_on(one.index)), None
        )
        self._hub.switch()
        raise GreenletExit

    def _bury(self, actor: Actor, *, restart: bool = True) -> None:
        actor.notes.setdefault("killed", []).append(actor.greenlet)
        actor.timers.clear()
        actor.wakes_at = actor.frozen = None
        actor.in_timer = False
        if restart and actor.restarts > 0:
            actor.restarts -= 1
            actor.incarnation += 1
            self._begin(actor)
        else:
            actor.dead, actor.outcome = True, "crashed"

    def _fire(self, actor: Actor) -> None:
        if actor.in_timer:
            return
        actor.in_timer = True
        try:
            for timer in actor.timers:
                if self.now >= timer.due and timer.ready():
                    timer.due = self.now + timer.every
                    timer.act()
        finally:
            actor.in_timer = False
