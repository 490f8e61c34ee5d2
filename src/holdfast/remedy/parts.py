"""Applies and undoes a plan that is a part of another job's plan, in its own job's journal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from holdfast.backup.access import Records
from holdfast.errors import HoldfastError, PlanError
from holdfast.records.journal import JournalledAct
from holdfast.records.leases.acting import Acting
from holdfast.remedy.acts import APPLIED, plan_of_act, undone_acts
from holdfast.remedy.applying import Applying
from holdfast.remedy.plan import Plan, Request
from holdfast.remedy.remedies.reset.planning import PART_OF
from holdfast.remedy.steps.downstream import RESET, contained_plan


@dataclass(frozen=True)
class JobPart:
    """Another job of the project, of which a plan contains a plan."""

    applying: Applying
    plan_again: Callable[[Request], Plan]
    newer: Callable[[JournalledAct], str | None]
    """Says what came after the act, so that it can no longer be undone."""

    def apply(self, plan: Plan, confirm: Callable[[], None]) -> None:
        """Apply every step under the other job's lease, and leave the act open.

        `confirm` raises once the lease of the whole act is lost: nothing is changed then.
        """
        applying = self._within(confirm)
        applying.apply(plan, lambda: self.plan_again(plan.request), as_part=True)

    def end(self, plan: Plan, confirm: Callable[[], None]) -> None:
        """Close the act: from here on the other job can start."""
        self._within(confirm).end(plan)

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

    def undo(self, plan: Plan, confirm: Callable[[], None]) -> None:
        """Take every step back; an act that was never begun is left alone."""
        known = self.applying.known(plan)
        if known is not None:
            self._within(confirm).undo(known.act.id, self.newer)

    def _within(self, confirm: Callable[[], None]) -> Applying:
        records = self.applying.records

        @contextmanager
        def acting(kind: str) -> Iterator[Acting]:
            with records.acting(kind) as own:
                yield _ActingWithin(own.act, own.lease, confirm)

        return replace(self.applying, records=replace(records, acting=acting))


@dataclass(frozen=True)
class _ActingWithin(Acting):
    """An act that is a part of another one: it changes nothing once either lease is lost."""

    whole: Callable[[], None]

    def confirm(self) -> None:
        """Raise HF2610 unless both leases are still held."""
        self.whole()
        super().confirm()


def refuse_part(records: Records, act: str | None, records_of: Callable[[str], Records]) -> None:
    """Raise PlanError (HF4644) where an act belongs to another job's plan, which settles it.

    `act` is its id; None means the newest act of the journal. Where the other act has ended
    without this one, nothing else can settle it: then it is not refused.
    """
    found = records.journal.acts()
    chosen = next((one for one in found if act in (None, one.act.id)), None)
    if chosen is None:
        return
    try:
        plan = plan_of_act(chosen)
    except HoldfastError:
        return
    whole = plan.request.options.get(PART_OF)
    if whole is not None and _is_settled_by(records_of(whole), plan, chosen):
        message = f"{chosen.act.kind} {chosen.act.id} is a part of the reset of job {whole}"
        raise PlanError("HF4644", message, at=records.location)


def _is_settled_by(whole: Records, plan: Plan, part: JournalledAct) -> bool:
    """Return whether an act that contains this plan is open, or applied as this part is."""
    acts = whole.journal.acts()
    undone, void = undone_acts(acts), {one.id for one in whole.journal.void()}
    for one in acts:
        if one.act.id in undone or one.act.id in void or not _contains(one, plan):
            continue
        if one.outcome is None or part.outcome is not None:
            return True
    return False


def _contains(act: JournalledAct, plan: Plan) -> bool:
    try:
        steps = plan_of_act(act).steps
        return any(contained_plan(one).id == plan.id for one in steps if one.act == RESET)
    except HoldfastError:
        return False
