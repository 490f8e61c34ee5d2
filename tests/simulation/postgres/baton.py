"""Hands a baton to actors: one of them runs at a time, from one switch point to the next.

An actor is a thread. It stops before every statement and says which it is about to send; the
controller picks who goes on. A statement that waits for a lock hands the baton back as well: the
server is asked who waits for whom.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from tests.simulation.postgres import choices
from tests.simulation.postgres.choices import Chooser, Option, Schedule

MOST_STEPS = 3000
_ANSWER_SECONDS = 0.002
_HUNG_SECONDS = 120.0

COMMIT = "commit"
BEGIN = "begin"


class CrashedError(BaseException):
    """Unwinds an actor whose process is gone; no code of the product may catch it."""


class HungError(AssertionError):
    """Raised where the simulation itself does not go on."""


@dataclass(frozen=True)
class Point:
    """Where an actor stops: what it is about to send."""

    kind: str
    text: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.text}".strip()


@dataclass(frozen=True)
class Step:
    """One decision, as it is shown and compared."""

    option: Option
    point: str
    options: int


class Waiting(Protocol):
    """Asks the server who waits for a lock."""

    def blocked(self, pid: int) -> list[int]:
        """Return the backends that this one waits for."""

    def cancel(self, pid: int) -> None:
        """End the statement that a backend carries out."""


class Actor:
    """One process of the simulated world, in a thread of its own."""

    def __init__(self, name: str, work: Callable[[], Any]) -> None:
        self.name = name
        self._work = work
        self._resume = threading.Semaphore(0)
        self._stopped = threading.Semaphore(0)
        self.point: Point | None = Point(BEGIN)
        self.pid: int | None = None
        """The backend that carries out its statement."""
        self.verdict: str | None = None
        """Why its statement was ended: TIMEOUT or VICTIM."""
        self.action = choices.GO
        self.faults: list[str] = []
        self.is_blocked = False
        self.is_crashed = False
        self.is_done = False
        self.error: BaseException | None = None
        self.result: Any = None
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._is_started = False

    def _run(self) -> None:
        _here.actor = self
        try:
            self._resume.acquire()
            if self.action == choices.CRASH:
                self.is_crashed = True
                return
            self.result = self._work()
        except CrashedError:
            self.is_crashed = True
        except BaseException as error:  # noqa: BLE001 - the judge decides what it is worth
            self.error = error
        finally:
            self.is_done = True
            self.point = None
            self._stopped.release()

    def stop_at(self, point: Point) -> str:
        """Hand the baton back before a statement; return what becomes of it."""
        if self.is_crashed:
            raise CrashedError
        self.point = point
        self._stopped.release()
        self._resume.acquire()
        if self.action == choices.CRASH:
            self.is_crashed = True
            raise CrashedError
        return self.action

    def go(self, action: str) -> None:
        """Let it run on with what becomes of its statement."""
        if not self._is_started:
            self._thread.start()
            self._is_started = True
        if action != choices.GO:
            self.faults.append(action)
        self.point = None
        self.action = action
        self._resume.release()

    def has_stopped(self, seconds: float) -> bool:
        """Tell whether it reached its next point, or its end, within this time."""
        return self._stopped.acquire(timeout=seconds)

    def end(self) -> None:
        """Wait for the thread of an actor that is done."""
        if self._is_started:
            self._thread.join()


class _Here(threading.local):
    actor: Actor | None = None


_here = _Here()


def actor_here() -> Actor | None:
    """Return the actor whose thread this is."""
    return _here.actor


@dataclass
class Ghost:
    """What the server still has to carry out for a client that is gone."""

    name: str
    finish: Callable[[], None]


@dataclass
class Controller:
    """Runs actors to their ends under one chooser; keeps what was decided."""

    actors: Sequence[Actor]
    waiting: Waiting
    choose: Chooser
    after_step: Callable[[], None] = lambda: None
    """Called while nobody runs: what others can see now can be judged."""
    with_faults: bool = True
    steps: list[Step] = field(default_factory=list)
    taken: list[tuple[int, int]] = field(default_factory=list)
    ghosts: list[Ghost] = field(default_factory=list)
    _current: Actor | None = None

    @property
    def schedule(self) -> Schedule:
        """Return the decisions that were not the ordinary ones."""
        return tuple(self.taken)

    def run(self) -> None:
        """Run until every actor is done; what raises leaves no thread behind."""
        try:
            while options := self._options():
                self._decide(options)
                self.after_step()
        finally:
            self._end()

    def _decide(self, options: list[Option]) -> None:
        step = len(self.steps)
        if step > MOST_STEPS:
            raise HungError(f"no end after {MOST_STEPS} steps")
        number = self.choose(step, options)
        option = options[number]
        if number:
            self.taken.append((step, number))
        actor = next((one for one in self.actors if one.name == option.actor), None)
        point = "" if actor is None else str(actor.point or "")
        self.steps.append(Step(option, point, len(options)))
        if actor is None:
            self._finish_ghost(option.actor)
        elif option.action in (choices.TIMEOUT, choices.VICTIM):
            self._end_statement(actor, option.action)
        else:
            self._current = actor
            actor.go(option.action)
            self._settle(actor)
        self._look_again()

    def _options(self) -> list[Option]:
        """List what can happen next; the first is the ordinary thing."""
        stopped = [one for one in self.actors if one.point is not None]
        blocked = [one for one in self.actors if one.is_blocked]
        if not stopped:
            if self.ghosts:
                return [Option(one.name) for one in self.ghosts]
            # They wait for each other: the server ends one of them, usually the last that came.
            return [Option(one.name, choices.VICTIM) for one in self._in_a_circle(blocked)]
        first = self._current if self._current in stopped else stopped[0]
        assert first is not None
        options = [Option(first.name)]
        options += [Option(one.name) for one in stopped if one is not first]
        options += [Option(one.name) for one in self.ghosts]
        if self.with_faults:
            options += [Option(first.name, fault) for fault in _faults_at(first.point)]
            options += [Option(one.name, choices.TIMEOUT) for one in blocked]
        return options

    def _in_a_circle(self, blocked: list[Actor]) -> list[Actor]:
        if not blocked:
            return []
        pids = {one.pid: one for one in blocked}
        waits = {one.pid: self.waiting.blocked(one.pid or 0) for one in blocked}

        def reaches_itself(start: int | None) -> bool:
            seen: set[int] = set()
            todo = list(waits[start])
            while todo:
                pid = todo.pop()
                if pid == start:
                    return True
                if pid not in seen:
                    seen.add(pid)
                    todo += waits.get(pid, [])
            return False

        circle = [pids[pid] for pid in waits if reaches_itself(pid)]
        if not circle:
            raise HungError(f"{[one.name for one in blocked]} wait for nobody that could go on")
        return sorted(circle, key=lambda one: one is not self._current)

    def _finish_ghost(self, name: str) -> None:
        ghost = next(one for one in self.ghosts if one.name == name)
        self.ghosts.remove(ghost)
        ghost.finish()

    def _end_statement(self, actor: Actor, verdict: str) -> None:
        actor.verdict = verdict
        actor.faults.append(verdict)
        assert actor.pid is not None
        self.waiting.cancel(actor.pid)
        if not actor.has_stopped(_HUNG_SECONDS):
            raise HungError(f"{actor.name}: its statement was cancelled and does not end")
        actor.is_blocked = False

    def _settle(self, actor: Actor) -> None:
        """Wait until an actor reaches its next point, or waits for a lock."""
        asked = 0.0
        while not actor.has_stopped(0 if actor.is_blocked and not asked else _ANSWER_SECONDS):
            if actor.pid is not None and self.waiting.blocked(actor.pid):
                # It may have been given the lock, and have stopped, between the two questions.
                actor.is_blocked = not actor.has_stopped(0)
                return
            asked += _ANSWER_SECONDS
            if asked > _HUNG_SECONDS:
                raise HungError(f"{actor.name} neither goes on nor waits for a lock")
        actor.is_blocked = False

    def _look_again(self) -> None:
        """See who was given the lock that it waited for."""
        for actor in self.actors:
            if actor.is_blocked:
                self._settle(actor)

    def _end(self) -> None:
        """End whoever is left: only where the run itself was given up."""
        for ghost in self.ghosts:
            ghost.finish()
        for actor in self.actors:
            if actor.is_blocked and actor.pid is not None:
                self.waiting.cancel(actor.pid)
                actor.has_stopped(_HUNG_SECONDS)
                actor.is_blocked = False
            while not actor.is_done:
                actor.go(choices.CRASH)
                if not actor.has_stopped(_HUNG_SECONDS):
                    raise HungError(f"{actor.name} does not end")
            actor.end()


def _faults_at(point: Point | None) -> tuple[str, ...]:
    if point is None or point.kind == "rollback":
        return ()
    if point.kind == BEGIN:
        return (choices.CRASH,)
    if point.kind == "sleep":
        return (choices.CRASH,)
    if point.kind == COMMIT:
        return (choices.CRASH, choices.BREAK, choices.LOSE, choices.LATE)
    return (choices.CRASH, choices.BREAK)
