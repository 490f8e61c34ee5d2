"""The result of `explain`: the page of a code, of an error of Spark, or that there is none."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Kind(str, Enum):
    """What the page is about."""

    CODE = "code"
    """A code of Holdfast."""
    SPARK_ERROR = "spark-error"
    """An error of Spark."""
    NONE = "none"
    """Nothing: the text is not known here."""


@dataclass(frozen=True)
class CodeTitle:
    """A code of Holdfast and what it says."""

    code: str
    """Its number."""
    title: str
    """What is wrong."""


@dataclass(frozen=True)
class Explanation:
    """A page: what something means, what not to do and what to do."""

    code: str | None
    """The code's number; None where the page is about an error of Spark, or there is none."""
    title: str
    """What is wrong."""
    why: str
    """Why it matters: what it means for the checkpoint, the state and the sink."""
    next: tuple[str, ...]
    """What to do next, the safest first."""
    exit_status: int | None
    """The status of a command that the code stops; None where the page is not about a code."""
    kind: Kind = Kind.CODE
    """What the page is about."""
    page: str | None = None
    """The name of the page about an error of Spark."""
    matched: str | None = None
    """What it was found by: Spark's error class, or a part of Spark's message. Never the text that
    was given."""
    avoid: tuple[str, ...] = ()
    """Advice that is often given and is wrong here, each with its reason."""
    seen_by: tuple[CodeTitle, ...] = ()
    """The codes that tell of it before the start."""
    unseen: str | None = None
    """Why no code tells of it beforehand, where none does."""
    nearest: tuple[CodeTitle, ...] = ()
    """The codes whose words are nearest, where there is no page."""
