"""Reads what the journal keeps of the act of a plan, and refuses one that is not as it was."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from holdfast.backup.access import Records
from holdfast.codes import code_of
from holdfast.errors import (
    CheckpointError,
    HoldfastError,
    NotFoundError,
    PlanError,
    StorageError,
)
from holdfast.records.journal import Act, Event, JournalledAct, StepEntry, interrupted
from holdfast.remedy.plan import Plan, decode_plan
from holdfast.remedy.steps.work import GIVEN_UP_AFTER
from holdfast.steps import named_steps

APPLIED, UNDONE, GIVEN_UP = "applied", "undone", "given-up"
"""How an act of a plan ends."""
UNDO = "undo"
"""The kind of the act that takes an applied one back."""
NOTHING_TO_GIVE_UP = "keeping rows closes an interrupted backfill; none is open here"


def event_words(entry: StepEntry | None) -> str:
    """Return what became of a step, in words."""
    if entry is None:
        return "not begun"
    if entry.event is not Event.GIVEN_UP:
        return str(entry.event.value)
    newest = entry.result.get(GIVEN_UP_AFTER)
    return "given up before batch 1" if newest is None else f"given up after batch {newest}"


def refuse_other_target(plan: Plan, location: str) -> None:
    """Raise HF4605 where the target of a plan is another checkpoint here, as in another project."""
    if location != plan.target:
        message = f"the plan is for {plan.target}; here {plan.request.target} is {location}"
        raise PlanError("HF4605", message, at=plan.target)


def refuse_stale(plan: Plan, now: Plan) -> None:
    """Raise HF4605 where planning again, `now`, gives another plan than the one that was read."""
    if now.id == plan.id:
        return
    refuse_other_target(plan, now.target)
    names = {*plan.looked_at, *now.looked_at}
    changed = sorted(one for one in names if plan.looked_at.get(one) != now.looked_at.get(one))
    shown = ", ".join(changed) or "the steps that follow from it"
    raise PlanError("HF4605", f"changed since it was made: {shown}", at=plan.target)


def plan_of_act(known: JournalledAct) -> Plan:
    """Return the plan that an act applies; raise where the journal does not hold it whole."""
    try:
        document: Any = known.act.intent["plan"]
    except KeyError as error:
        raise CheckpointError("HF4506", f"{known.act.id} has no plan") from error
    return decode_plan(document, known.act.id)


def is_of(known: JournalledAct, plan_id: str) -> bool:
    plan = known.act.intent.get("plan")
    return isinstance(plan, dict) and plan.get("id") == plan_id


def undone_acts(acts: Iterable[JournalledAct]) -> set[str]:
    """Return the ids of the acts that were taken back."""
    ended = [one for one in acts if one.outcome == UNDONE]
    return {str(one.act.intent.get("undoes", one.act.id)) for one in ended}


def refuse_edited(known: JournalledAct, records: Records) -> None:
    """Raise HF4616 where the records of an act do not follow from each other."""
    if not known.is_intact:
        message = f"the records of {known.act.kind} {known.act.id} do not follow from each other"
        raise PlanError("HF4616", message, at=records.journal.reader.location)


def refuse_lost_backup(known: JournalledAct, records: Records) -> None:
    """Raise HF4609 where what an act changed cannot be put back from its backup any more."""
    for result in known.results().values():
        try:
            if "backup" in result:
                records.store.snapshot(str(result["backup"]))
        except NotFoundError as error:
            message = f"the backup {result['backup']} that was made before it does not exist"
            raise PlanError("HF4609", message, at=records.location) from error


@contextmanager
def naming_the_way_on(act: Act, target: str, at: str) -> Iterator[None]:
    """Let whatever stops an open act inside say how it is finished or undone.

    Ctrl-C carries a PlanError: unlike after a kill, somebody is there to read it.
    """
    way_on = named_steps((_WAY_ON,), target)
    found = interrupted(act, target)
    try:
        yield
    except KeyboardInterrupt as stopped:
        error = PlanError(found.code, found.message, at=at, next_steps=way_on)
        raise KeyboardInterrupt(error) from stopped
    except HoldfastError as error:
        if isinstance(error, StorageError):
            # What it says of a single write is not true of the whole act.
            error.why = f"the {act.kind} {act.id} is open: {code_of(found.code).why}"
        own = named_steps(error.next_steps, target)
        knows = any("holdfast apply --finish" in one or "holdfast undo" in one for one in own)
        error.next_steps = own if knows else (*own, *way_on)
        raise


_WAY_ON = "holdfast apply --finish TARGET, or holdfast undo TARGET"
