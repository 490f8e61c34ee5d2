"""What a code is: a stable number, and everything that is always true of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, eq=False)
class Code:
    """One kind of trouble. Its number never changes meaning and is never used again.

    A code compares, hashes and prints as its number: `error.code == "HF2601"`.
    """

    number: str
    title: str
    """What is wrong, in one sentence without a full stop."""
    why: str
    """Why it matters: what Spark, or the user's data, would suffer."""
    next_steps: tuple[str, ...]
    """What to do next, the safest first. Never a step that makes Spark plan a known batch again."""
    exit_status: int = 20
    """The status of a command that this stops."""

    def __eq__(self, other: object) -> bool:
        """Whether the other is the same code, or its number."""
        if isinstance(other, Code):
            return self.number == other.number
        return self.number == other if isinstance(other, str) else NotImplemented

    def __hash__(self) -> int:
        """Hash as the number does."""
        return hash(self.number)

    def __str__(self) -> str:
        """Return the number."""
        return self.number

    def __format__(self, spec: str) -> str:
        """Format as the number is."""
        return format(self.number, spec)
