"""What `apply`, `undo` and `journal` answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from holdfast.answers import OneLine


@dataclass(frozen=True)
class StepDone:
    """A step of a plan that was applied or undone."""

    number: int
    act: str
    """The kind of step, such as `backup-checkpoint`."""
    target: str
    """What it changed."""
    detail: str
    """What it did, in one sentence."""
    event: str
    """`not begun`, `begun`, `done`, `undoing` or `undone`."""


@dataclass(frozen=True, repr=False)
class Applied(OneLine):
    """What `apply` or `undo` did."""

    SHOWN: ClassVar = ("location", "remedy", "outcome", "steps")
    COMMAND: ClassVar = "apply"

    location: str
    """The checkpoint."""
    act: str | None
    """The id in the journal; null where nothing was done."""
    remedy: str | None
    """The remedy that was applied or undone."""
    plan: str | None
    """The id of its plan."""
    outcome: str
    """`applied`, `finished` after an interruption, `already-applied`, `undone`, or `nothing`."""
    steps: tuple[StepDone, ...]
    """The steps that are done, or undone."""
    backup: str | None
    """The backup of the checkpoint that was made first."""


@dataclass(frozen=True)
class JournalEntry:
    """One act of the journal."""

    id: str
    kind: str
    """The remedy, `restore` or `undo`."""
    state: str
    """`applied`, `undone`, `open` where it was interrupted or is under way, `void` where it changed
    nothing, or how a restore ended."""
    at: str | None
    """When it was begun; null in journals of older releases."""
    by: str | None
    """Who began it."""
    ended_at: str | None
    plan: str | None
    """The id of its plan."""
    undoes: str | None
    """The act that an `undo` takes back."""
    generation: int | None
    """The lease that it was done under."""
    steps: tuple[StepDone, ...]
    """Its steps, each with its newest event."""
    intact: bool
    """Whether each of its records names the digest of the one before it."""


@dataclass(frozen=True)
class JournalPlace:
    """The journal of one checkpoint."""

    location: str
    job: str | None
    acts: tuple[JournalEntry, ...]
    """The newest first."""


@dataclass(frozen=True, repr=False)
class JournalReport(OneLine):
    """What was done to checkpoints and their sinks."""

    SHOWN: ClassVar = ("places",)
    COMMAND: ClassVar = "journal"

    places: tuple[JournalPlace, ...]
