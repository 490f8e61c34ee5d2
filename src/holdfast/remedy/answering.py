"""Says what became of an act, as `apply` and `undo` answer it."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.records.journal import JournalledAct
from holdfast.remedy.acts import GIVEN_UP, UNDONE, event_words, plan_of_act
from holdfast.remedy.plan import Step
from holdfast.remedy.results import Applied, StepDone
from holdfast.remedy.steps.work import Result


def answered(
    known: JournalledAct,
    outcome: str,
    steps: tuple[Step, ...],
    results: Mapping[int, Result] | None,
    location: str,
) -> Applied:
    """Return what became of an act, and of these steps of its plan."""
    left = (results or known.results()).values()
    backups = [one["backup"] for one in left if "backup" in one]
    word, events = UNDONE if outcome == UNDONE else "done", known.events()
    plan = plan_of_act(known)
    return Applied(
        location=location,
        act=known.act.id,
        remedy=plan.remedy.value,
        plan=plan.id,
        outcome=outcome,
        steps=tuple(
            StepDone(
                one.number,
                one.act,
                one.target,
                one.detail,
                event_words(events.get(one.number)) if outcome == GIVEN_UP else word,
            )
            for one in steps
        ),
        backup=str(backups[0]) if backups else None,
    )


def nothing_done(location: str) -> Applied:
    """Return that there was nothing to do."""
    return Applied(
        location=location,
        act=None,
        remedy=None,
        plan=None,
        outcome="nothing",
        steps=(),
        backup=None,
    )
