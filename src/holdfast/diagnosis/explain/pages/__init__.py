"""Pages about errors of Spark, and the way from a pasted error to its page."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Page:
    """One error of Spark as people meet it: what it means, what not to do, what to do."""

    name: str
    """Short and stable, for links and scripts."""
    title: str
    """What happened, in one sentence without a full stop."""
    means: str
    """What it means for the checkpoint, the state and the sink."""
    avoid: tuple[str, ...]
    """Advice that is often given and is wrong here, each with its reason."""
    steps: tuple[str, ...]
    """What to do, the safest first. Never a step that makes Spark plan a known batch again."""
    conditions: tuple[str, ...] = ()
    """Spark's error classes that lead here; one without its sub-class stands for all of them."""
    fragments: tuple[str, ...] = ()
    """Parts of messages, as `catalogue.py` leaves them; `…` stands for anything between.

    One with a digit in it is compared with a text whose numbers were kept.
    """
    codes: tuple[str, ...] = ()
    """Codes of Holdfast that tell of it before the start."""
    unseen: str = ""
    """Why no code tells of it beforehand, where none does."""
    general: bool = False
    """It is about processes and machines: a page about the query says more wherever one fits."""
    wraps: bool = False
    """It is wrapped around another error, which says more wherever it has a page."""
