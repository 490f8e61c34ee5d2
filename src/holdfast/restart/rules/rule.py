"""What a rule is: a function of a start, with the code, the facts and the releases it is about."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum

from holdfast.checkpoint.releases import RELEASES, at_least
from holdfast.findings import Finding
from holdfast.restart.start import QueryPair, StartFacts
from holdfast.restart.verdict import Change


class Needs(str, Enum):
    """What must be known for a rule to say anything."""

    CHECKPOINT = "checkpoint"
    """The checkpoint, its sink and the plan's names."""
    PLAN = "plan"
    """The facts of the query that would start."""
    HISTORY = "history"
    """Also those of the query that last ran."""


Looked = Iterator[Finding | Change]


@dataclass(frozen=True)
class Rule:
    """One rule."""

    codes: tuple[str, ...]
    """The codes that it may report."""
    needs: Needs
    look: Callable[[StartFacts], Looked]
    since: str = RELEASES[0]
    """The first release of Spark that it holds for."""
    until: str = RELEASES[-1]
    """The last one that is known."""
    is_of_data: bool = False
    """It is about data that changes without a deployment, such as the rows of a joined table:
    `check` asks about a change, and a start only notes it, for a job must not stay down for it."""
    is_of_gaps: bool = False
    """It names what no record knows: `check` asks about it, and a start is not refused for it."""

    @property
    def name(self) -> str:
        """The name of its function."""
        return self.look.__name__

    def applies(self, start: StartFacts) -> bool:
        """Tell whether what it needs is known, and it holds for the Spark that would start."""
        release = start.release
        if release is not None and not (
            at_least(release, self.since) and at_least(self.until, release)
        ):
            return False
        if self.needs is Needs.PLAN:
            return start.current is not None
        return self.needs is Needs.CHECKPOINT or start.pair is not None


Compare = Callable[[QueryPair], Iterator[Change]]


def on_checkpoint(
    *codes: str,
) -> Callable[[Callable[[StartFacts], Looked]], Rule]:
    """Make a rule of a function that compares a start with its checkpoint and its sink."""

    def made(look: Callable[[StartFacts], Looked]) -> Rule:
        return Rule(codes, Needs.CHECKPOINT, look)

    return made


def on_plan(
    *codes: str, is_of_gaps: bool = False
) -> Callable[[Callable[[StartFacts], Iterator[Change]]], Rule]:
    """Make a rule of a function that compares the planned query with the checkpoint."""

    def made(look: Callable[[StartFacts], Iterator[Change]]) -> Rule:
        return Rule(codes, Needs.PLAN, look, is_of_gaps=is_of_gaps)

    return made


def on_history(
    *codes: str, since: str = RELEASES[0], until: str = RELEASES[-1], is_of_data: bool = False
) -> Callable[[Compare], Rule]:
    """Make a rule of a function that compares the query with the one that ran last."""

    def made(compare: Compare) -> Rule:
        def look(start: StartFacts) -> Iterator[Change]:
            if start.pair is not None:
                yield from compare(start.pair)

        look.__name__ = compare.__name__
        look.__doc__ = compare.__doc__
        return Rule(codes, Needs.HISTORY, look, since, until, is_of_data)

    return made
