"""Applies and undoes a plan that is a part of another job's plan, in its own job's journal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from holdfast.backup.access import Records
from holdfast.errors import HoldfastError, PlanError
from holdfast.records.journal import JournalledAct
from holdfast.remedy.applying import APPLIED, Applying, plan_of_act
from holdfast.remedy.plan import Plan, Request
from holdfast.remedy.remedies.reset.planning import PART_OF


@dataclass(frozen=True)
class JobPart:
    """Another job of the project, of which a plan contains a plan."""

    applying: Applying
    plan_again: Callable[[Request], Plan]
    newer: Callable[[JournalledAct], str | None]
    """Says what came after the act, so that it can no longer be undone."""

    def apply(self, plan: Plan) -> None:
        """Apply every step under the other job's lease, and leave the act open."""
        self.applying.apply(plan, lambda: self.plan_again(plan.request), as_part=True)

    def end(self, plan: Plan) -> None:
        """Close the act: from here on the other job can start."""
        self.applying.end(plan)

    def lasting(self, plan: Plan) -> PlanError | None:
        """Return why the act can no longer be undone; None where it can."""
        known = self.applying.known(plan)
        if known is None:
            return None
        reason = self.newer(known) if known.outcome == APPLIED else None
        if reason is not None:
            message = f"{plan.job}: {known.act.kind} {known.act.id}: {reason}"
            return PlanError("HF4609", message, at=plan.target)
        try:
            self.applying.refuse_lasting(known)
        except PlanError as refusal:
            return refusal
        return None

    def undo(self, plan: Plan) -> None:
        """Take every step back; an act that was never begun is left alone."""
        known = self.applying.known(plan)
        if known is not None:
            self.applying.undo(known.act.id, self.newer)


def refuse_part(records: Records, act: str | None) -> None:
    """Raise PlanError (HF4644) where an act was applied as a part of another job's plan.

    `act` is its id; None means the newest act of the journal.
    """
    found = records.journal.acts()
    chosen = next((one for one in found if act in (None, one.act.id)), None)
    if chosen is None:
        return
    try:
        whole = plan_of_act(chosen).request.options.get(PART_OF)
    except HoldfastError:
        return
    if whole is not None:
        message = f"{chosen.act.kind} {chosen.act.id} is a part of the reset of job {whole}"
        raise PlanError("HF4644", message, at=records.location)
