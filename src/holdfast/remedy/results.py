"""What `apply`, `undo` and `journal` answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from holdfast.answers import OneLine
from holdfast.remedy.plan import Plan, Step


@dataclass(frozen=True)
class StepDone:
    """A step of a plan that was applied or undone."""

    number: int
    """Its place in the plan, from 1."""
    act: str
    """The kind of step, such as `backup-checkpoint`."""
    target: str
    """What it changed."""
    detail: str
    """What it did, in one sentence."""
    event: str
    """`not begun`, `begun`, `done`, `undoing`, `undone`, or `given up after batch N`."""


@dataclass(frozen=True)
class StepProgress(StepDone):
    """A step as it is reported while a plan is applied or undone."""

    job: str | None
    """The job of the plan: in a cascade plans of several jobs are applied; None for a path."""
    steps: int
    """How many steps the plan has."""

    @classmethod
    def of(cls, plan: Plan, step: Step, event: str) -> StepProgress:
        """Return what became of a step of a plan."""
        told = (step.number, step.act, step.target, step.detail, event)
        return cls(*told, job=plan.job, steps=len(plan.steps))


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
    """`applied`, `finished` after an interruption, `already-applied`, `undone`, `given-up`, or
    `nothing`."""
    steps: tuple[StepDone, ...]
    """The steps that are done, or undone."""
    backup: str | None
    """The backup of the checkpoint that was made first."""


@dataclass(frozen=True)
class ActEvidence:
    """What a checkpoint and its sink showed at one moment."""

    at: str
    """When it was looked at."""
    unreadable: str | None
    """Why the checkpoint could not be read; null where it could, and then the rest is known."""
    query_id: str | None
    """The id in `metadata`."""
    last_planned: int | None
    """The newest batch in offsets/."""
    last_committed: int | None
    """The newest batch in commits/."""
    pending: int | None
    """The batch that was planned and not committed."""
    next_start: str | None
    """What the next start would have done."""
    sink: str | None
    """The newest batch in the declared sink, or why it was unknown; null where none was asked."""
    files: int | None
    """How many files the checkpoint had."""
    size_bytes: int | None
    """Their size in bytes."""
    digest: str | None
    """The digest of names, sizes and log entries: equal where nothing that matters differs."""


@dataclass(frozen=True)
class JournalEntry:
    """One act of the journal."""

    id: str
    """Its time and its number in the journal."""
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
    """When it ended; null where it did not, or in journals of older releases."""
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
    backup: str | None = None
    """The backup that was made before anything was changed."""
    notes: tuple[str, ...] = ()
    """What its plan said before it was applied."""
    before: ActEvidence | None = None
    """What was there before the first step; null in journals of older releases."""
    after: ActEvidence | None = None
    """What was there after the last step; null for an act that did not end."""


@dataclass(frozen=True)
class JournalPlace:
    """The journal of one checkpoint."""

    location: str
    """The checkpoint."""
    job: str | None
    """The job in the project; null for a checkpoint that no job is known of."""
    acts: tuple[JournalEntry, ...]
    """The newest first."""


@dataclass(frozen=True, repr=False)
class JournalReport(OneLine):
    """What was done to checkpoints and their sinks."""

    SHOWN: ClassVar = ("places",)
    COMMAND: ClassVar = "journal"

    places: tuple[JournalPlace, ...]
    """One entry per checkpoint."""
