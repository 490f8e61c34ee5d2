"""What a plan is: the steps, what they are for, and the digest of everything that it was made from.

A plan is pure: the same facts and the same options give the same bytes. Its id is the digest of its
content, so that a plan is stale where planning again gives another id.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, ClassVar

from holdfast.answers import OneLine, plain
from holdfast.errors import PlanError
from holdfast.records.documents import UnreadableError, decode_document, encode_document


class Remedy(str, Enum):
    """The four remedies, and the helpers around them."""

    RESUME = "resume"
    """Continue from where the checkpoint is."""
    REPLAY = "replay"
    """Process batches again, from one on."""
    BACKFILL = "backfill"
    """Compute a bounded range again, next to the running stream."""
    RESET = "reset"
    """Start over: output cleared or new, checkpoint archived."""
    MOVE = "move"
    """Bring the checkpoint to another place."""
    REPAIR = "repair"
    """Repair what the doctor finds."""
    RETIRE = "retire"
    """Archive a job that is over."""
    CLEAN = "clean"
    """Remove leftovers that nothing reads."""


@dataclass(frozen=True)
class Request:
    """What was asked for: enough to make the plan again."""

    remedy: Remedy
    """The remedy."""
    target: str
    """The job's name, or the path or URL of the checkpoint."""
    options: Mapping[str, str] = field(default_factory=dict)
    """The remedy's own options, as text; those that were not given are left out."""


@dataclass(frozen=True)
class Step:
    """One step; what it needs to be done, also by another process after a kill, is in it."""

    number: int
    """Its place in the plan, from 1."""
    act: str
    """The kind of step, such as `backup-checkpoint`."""
    target: str
    """What it changes: a checkpoint, a sink, the records."""
    detail: str
    """What it does, in one sentence."""
    reversible: bool
    """Whether undo brings back what was there."""
    arguments: Mapping[str, str] = field(default_factory=dict)
    """What the step is done with; longer values are JSON."""


@dataclass(frozen=True)
class BatchRange:
    """Batches that are processed again, both included."""

    first: int
    """The first batch."""
    last: int
    """The last one."""


@dataclass(frozen=True)
class Downstream:
    """What a plan means for a job that reads the output."""

    job: str
    """The job that reads the output."""
    effect: str
    """What the plan means for it."""


@dataclass(frozen=True)
class Effects:
    """What is different once the plan is applied."""

    batches: BatchRange | None = None
    """The batches that are processed again; null where none is."""
    rows_estimate: int | None = None
    """About how many rows these are, by the records of runs; null where unknown."""
    sink: str = "unchanged"
    """What the sink loses and gains."""
    source: str = "unchanged"
    """What is read again."""
    downstream: tuple[Downstream, ...] = ()
    """Jobs of the project that read the output."""
    next_start: str = ""
    """What the next start of the job does afterwards."""


@dataclass(frozen=True)
class Draft:
    """What a planner returns: a plan without the facts that it was made from."""

    steps: tuple[Step, ...]
    effects: Effects
    notes: tuple[str, ...] = ()
    """What is worth knowing before it is applied, such as what cannot be undone."""
    looked_at: Mapping[str, str] | None = None
    """What it depends on, where that is not all that there is to see."""
    options: Mapping[str, str] | None = None
    """What was asked for, where that was resolved: the plan is made again from this."""


@dataclass(frozen=True, repr=False)
class Plan(OneLine):
    """A remedy that can be read, applied and undone."""

    SHOWN: ClassVar = ("id", "remedy", "target", "steps")
    COMMAND: ClassVar = "plan"

    id: str
    """Remedy and digest of everything below."""
    remedy: Remedy
    """The remedy that it applies."""
    target: str
    """The checkpoint."""
    job: str | None
    """The job in the project; null for a checkpoint that no job is known of."""
    request: Request
    """What was asked for."""
    made_from: str
    """The digest of everything that was looked at."""
    looked_at: Mapping[str, str]
    """What was looked at, each with what was seen or its digest."""
    steps: tuple[Step, ...]
    """What is done, in this order; empty where nothing has to be changed."""
    effects: Effects
    """What is different afterwards."""
    notes: tuple[str, ...] = ()
    """What is worth knowing before it is applied."""
    refusals: tuple[str, ...] = ()
    """Always empty: a plan that is refused is an error."""

    @property
    def irreversible(self) -> tuple[Step, ...]:
        """The steps that undo cannot take back."""
        return tuple(step for step in self.steps if not step.reversible)


def plan_of(
    draft: Draft, request: Request, target: str, job: str | None, looked_at: Mapping[str, str]
) -> Plan:
    """Return the plan of a draft, named by the digest of its content."""
    made_from = _digest(dict(looked_at))
    if draft.options is not None:
        request = replace(request, options=draft.options)
    plan = Plan(
        id="",
        remedy=request.remedy,
        target=target,
        job=job,
        request=request,
        made_from=made_from,
        looked_at=looked_at,
        steps=tuple(replace(step, number=at) for at, step in enumerate(draft.steps, 1)),
        effects=draft.effects,
        notes=draft.notes,
    )
    return replace(plan, id=_id_of(plan))


def encode_plan(plan: Plan) -> dict[str, Any]:
    """Return a plan as plain data."""
    document = plain(plan)
    assert isinstance(document, dict)
    return document


def decode_plan(document: object, at: str) -> Plan:
    """Return the plan that a document holds, or the one in a command's JSON answer.

    Raise PlanError (HF4607) where it holds none, or one that was changed after it was made.
    """
    if isinstance(document, dict) and document.get("schema") == "holdfast.plan/1":
        document = document.get("result")
    if not isinstance(document, dict):
        raise PlanError("HF4607", "this file does not hold a plan", at=at)
    try:
        plan = decode_document(Plan, encode_document(document))
    except (UnreadableError, TypeError, ValueError) as error:
        raise PlanError("HF4607", f"the plan cannot be read: {error}", at=at) from error
    if plan.id != _id_of(plan) or plan.made_from != _digest(dict(plan.looked_at)):
        message = "the plan was changed after it was made: its id is not the digest of its content"
        raise PlanError("HF4607", message, at=at)
    return plan


def read_plan(content: bytes, at: str) -> Plan:
    """Return the plan in a file; raise PlanError (HF4607) where there is none."""
    try:
        document = json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise PlanError("HF4607", "this file is not JSON", at=at) from error
    return decode_plan(document, at)


def _id_of(plan: Plan) -> str:
    content = encode_plan(plan)
    return f"{plan.remedy.value}-{_digest({**content, 'id': ''})[:16]}"


def _digest(document: Mapping[str, Any]) -> str:
    return hashlib.sha256(encode_document(document)).hexdigest()
