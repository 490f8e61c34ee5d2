"""What a restart is judged to be, and the changes that the judgement rests on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Protocol


class Verdict(str, Enum):
    """Whether the code may continue from the checkpoint."""

    SAFE = "safe"
    """It continues as it would have without the change."""
    CONDITIONAL = "conditional"
    """Right if the conditions hold that a person or another system knows about."""
    UNKNOWN = "unknown"
    """Nothing forbids it, but not everything that decides it is known."""
    UNSAFE = "unsafe"
    """Spark fails, or rows or state become wrong."""

    @property
    def rank(self) -> int:
        """Order from safe (0) to unsafe (3)."""
        return list(Verdict).index(self)


@dataclass(frozen=True)
class Change:
    """One difference between what ran before and what would start now, as a rule judges it."""

    rule: str
    """The code of the rule, whose page `explain` shows."""
    verdict: Verdict
    subject: str
    """What changed, in the user's own terms: a source, a column, an operator, a setting."""
    before: str | None
    after: str | None
    why: str
    condition: str | None = None
    """What must hold for a conditional change to be right."""
    error: str | None = None
    """With which error condition Spark itself would fail."""
    place: str | None = None
    """File and line of the user's code, where known."""


class Judged(Protocol):
    """Anything that has a verdict."""

    @property
    def verdict(self) -> Verdict:
        """What is judged of it."""


def worst_verdict(changes: Iterable[Judged]) -> Verdict:
    """Return the verdict that all changes allow together; safe where there is none."""
    return max((one.verdict for one in changes), key=lambda one: one.rank, default=Verdict.SAFE)
