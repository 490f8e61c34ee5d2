"""A schedule: where it departs from letting everybody go on, spelled so that it can be typed.

`A17:toB` stops actor A before its 17th call and lets B go on; `B3:crash`, `A20:lost` and so on say
what happens to a call. The same schedule of the same scenario is always the same run.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.simulation.semantics import Semantics

TO = "to"
"""Another actor goes on; this one can go on as soon as the other has to wait."""
FREEZE = "freeze"
"""The process stops, with its beats, until it is switched to or everybody else is done."""
SUSPEND = "suspend"
"""Like freeze, and its clock does not count the time (a paused virtual machine)."""
CRASH = "crash"
"""The process is killed."""
POWER = "power"
"""The machine with the storage loses its power: everybody dies, what was not flushed is lost."""
TORN = "torn"
"""The same, and what was not flushed is there in part."""
LOST = "lost"
"""The call takes effect, and its caller gets an error."""
FAIL = "fail"
"""The call does nothing, and its caller gets an error."""
JUMP = "jump"
"""The clock on the wall jumps an hour forward."""

FAULTS = frozenset({CRASH, POWER, TORN, LOST, FAIL, JUMP})
ANSWERS = frozenset({LOST, FAIL})
_DECISION = re.compile(r"(?P<actor>[A-Z])(?P<call>\d+):(?P<act>[a-z]+)(?P<other>[A-Z])?")


@dataclass(frozen=True, order=True)
class Decision:
    """What happens to one actor before, or at, its call of this number."""

    actor: int
    call: int
    act: str
    other: int = -1

    def __str__(self) -> str:
        """Spell it."""
        other = letter(self.other) if self.act == TO else ""
        return f"{letter(self.actor)}{self.call}:{self.act}{other}"


Schedule = tuple[Decision, ...]


def letter(actor: int) -> str:
    """Name an actor."""
    return chr(ord("A") + actor)


def spell(schedule: Schedule) -> str:
    """Spell a schedule; the empty one is `-`."""
    return ",".join(map(str, schedule)) or "-"


def parse(text: str) -> Schedule:
    """Understand a spelled schedule; raise ValueError where it is none."""
    if text in ("", "-"):
        return ()
    return tuple(map(_decision, text.split(",")))


def faults_of(semantics: Semantics) -> tuple[str, ...]:
    """Name the faults that can happen on a storage."""
    answers = (LOST, FAIL) if semantics.answers_get_lost else (FAIL,)
    power = (POWER, TORN) if semantics.power_cuts else ()
    return (CRASH, *answers, *power, JUMP)


def _decision(text: str) -> Decision:
    found = _DECISION.fullmatch(text.strip())
    if found is None or (found["act"] == TO) != (found["other"] is not None):
        raise ValueError(f"{text} is not a decision such as A17:toB or B3:crash")
    if found["act"] not in FAULTS | {TO, FREEZE, SUSPEND}:
        raise ValueError(f"{found['act']} is not something that can happen")
    other = -1 if found["other"] is None else ord(found["other"]) - ord("A")
    return Decision(ord(found["actor"]) - ord("A"), int(found["call"]), found["act"], other)
