"""What a code is: a stable number, and everything that is always true of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Code:
    """One kind of trouble. Its number never changes meaning and is never used again."""

    number: str
    title: str
    """What is wrong, in one sentence without a full stop."""
    why: str
    """Why it matters: what Spark, or the user's data, would suffer."""
    next_steps: tuple[str, ...]
    """What to do next, the safest first. Never a step that makes Spark plan a known batch anew."""
    exit_status: int = 20
    """The status of a command that this stops."""
