"""One way to make Spark fail, and the list that each subject adds its own to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Provoke = Callable[[Any, Path], None]


@dataclass(frozen=True)
class Provocation:
    """One way to make Spark fail."""

    page: str
    provoke: Provoke
    since: str = "3.5"
    until: str = "4.9"
    needs_jars: bool = False

    @property
    def name(self) -> str:
        """The function's name, with dashes."""
        return self.provoke.__name__.replace("_", "-")

    def fits(self, version: str, jars: bool) -> bool:
        """Tell whether this Spark can be provoked so; with jars only what needs them is run."""
        return self.since <= version[:3] <= self.until and self.needs_jars == jars


PROVOCATIONS: list[Provocation] = []


def provokes(
    page: str, *, since: str = "3.5", until: str = "4.9", needs_jars: bool = False
) -> Callable[[Provoke], Provoke]:
    """Register a provocation of the error that this page explains."""

    def register(function: Provoke) -> Provoke:
        PROVOCATIONS.append(Provocation(page, function, since, until, needs_jars))
        return function

    return register
