"""What the scheduler decides: who goes on, and what becomes of it; a schedule is a few of them.

At every step the first option is the ordinary one: whoever ran goes on. A schedule names only the
steps that differ, so it is short, it can be typed, and shrinking it is leaving some out.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

GO = "go"
CRASH = "crash"
"""The process is gone; the server rolls back."""
BREAK = "break"
"""The connection is lost before the statement arrives; the server rolls back."""
LOSE = "lose"
"""COMMIT happens; its answer is lost."""
LATE = "late"
"""COMMIT is on its way when the connection is lost: the server carries it out later."""
TIMEOUT = "timeout"
"""A wait for a lock takes too long for the statement."""
VICTIM = "victim"
"""Of those that wait for each other, the server ends this one's statement."""

FAULTS = frozenset((CRASH, BREAK, LOSE, LATE, TIMEOUT))


@dataclass(frozen=True)
class Option:
    """One thing that can happen next."""

    actor: str
    action: str = GO


Schedule = tuple[tuple[int, int], ...]
"""Steps at which another option than the first is taken, with the number of the option."""

Chooser = Callable[[int, Sequence[Option]], int]


def following(schedule: Schedule) -> Chooser:
    """Return a chooser that repeats a schedule; a number that is out of range is the first."""
    wanted = dict(schedule)

    def choose(step: int, options: Sequence[Option]) -> int:
        number = wanted.get(step, 0)
        return number if number < len(options) else 0

    return choose


def drawing(seed: int, *, commit_bias: Callable[[Option], bool]) -> Chooser:
    """Return a chooser that deviates at random: rarely as a rule, often at commit points."""
    chance = random.Random(seed)
    rate = chance.choice((0.02, 0.05, 0.1, 0.3))

    def choose(step: int, options: Sequence[Option]) -> int:
        near = commit_bias(options[0])
        if len(options) == 1 or chance.random() >= (max(rate, 0.3) if near else rate):
            return 0
        # A switch is drawn more often than a fault: most faults end an actor.
        weights = [0.2 if option.action in FAULTS else 1.0 for option in options[1:]]
        return chance.choices(range(1, len(options)), weights)[0]

    return choose


def spelled(schedule: Schedule) -> str:
    """Return a schedule as it is typed: `12:1,30:2`."""
    return ",".join(f"{step}:{number}" for step, number in schedule)


def parsed(text: str) -> Schedule:
    """Return the schedule that was typed."""
    pairs = (part.partition(":") for part in text.split(",") if part)
    return tuple((int(step), int(number)) for step, _, number in pairs)
