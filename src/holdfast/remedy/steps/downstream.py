"""Steps that reset the jobs which read the output, each in a journal and under a lease of its own.

The other job's act stays open until the whole plan is done: meanwhile no run of it starts, and a
kill anywhere is found in both journals.
"""

from __future__ import annotations

import json
from typing import ClassVar

from holdfast.errors import PlanError
from holdfast.remedy.plan import Plan, Step, decode_plan
from holdfast.remedy.steps.work import OtherJob, Result, Work

RESET = "reset-downstream"


class ResetDownstream:
    """Applies the plan of another job, and leaves its act open."""

    name: ClassVar[str] = RESET

    def apply(self, step: Step, work: Work) -> Result:
        """Apply every step of the other job's plan."""
        plan = contained_plan(step)
        _part(step, work).apply(plan, work.confirm)
        return {"plan": plan.id}

    def lasting(self, step: Step, result: Result | None, work: Work) -> PlanError | None:
        """Return why it cannot be undone: the other job ran since, or its rows are gone."""
        return _part(step, work).lasting(contained_plan(step))

    def undo(self, step: Step, result: Result | None, work: Work) -> None:
        """Take every step of the other job's plan back."""
        _part(step, work).undo(contained_plan(step), work.confirm)


class ReleaseDownstream:
    """Closes the act of another job, so that it can start."""

    name: ClassVar[str] = "release-downstream"

    def apply(self, step: Step, work: Work) -> Result:
        """Close it."""
        _part(step, work).end(contained_plan(step), work.confirm)
        return {}

    def undo(self, step: Step, result: Result | None, work: Work) -> None:
        """The step that reset the other job takes everything back."""


def contained_plan(step: Step) -> Plan:
    """Return the plan of the other job; raise PlanError where the step holds none."""
    return decode_plan(json.loads(step.arguments["plan"]), step.target)


def _part(step: Step, work: Work) -> OtherJob:
    if work.part is None:
        raise PlanError("HF4614", f"{step.arguments['job']} is not declared as a job here")
    return work.part(step.arguments["job"])
