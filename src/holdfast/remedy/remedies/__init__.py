"""One planner per remedy: a pure function of the facts and the remedy's own options."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from holdfast.errors import PlanError
from holdfast.remedy.facts import Facts
from holdfast.remedy.plan import Draft, Plan, Remedy, Request, plan_of
from holdfast.remedy.remedies.backfill.planning import plan_backfill
from holdfast.remedy.remedies.clean import plan_clean
from holdfast.remedy.remedies.move import plan_move
from holdfast.remedy.remedies.repair import plan_repair
from holdfast.remedy.remedies.replay.planning import plan_replay
from holdfast.remedy.remedies.reset.planning import plan_reset
from holdfast.remedy.remedies.resume import plan_resume
from holdfast.remedy.remedies.retire import plan_retire

Planner = Callable[[Facts, Mapping[str, str]], Draft]
"""Returns a draft, or raises PlanError where the remedy is refused; writes nothing."""

PLANNERS: Mapping[Remedy, Planner] = {
    Remedy.RESUME: plan_resume,
    Remedy.MOVE: plan_move,
    Remedy.REPAIR: plan_repair,
    Remedy.RESET: plan_reset,
    Remedy.RETIRE: plan_retire,
    Remedy.REPLAY: plan_replay,
    Remedy.CLEAN: plan_clean,
    Remedy.BACKFILL: plan_backfill,
}

_BESIDE = frozenset({Remedy.RESUME, Remedy.REPAIR, Remedy.CLEAN, Remedy.BACKFILL})
"""What may be done while a backfill writes to the sink, or waits to be finished."""

_OF_ANY_JOB = frozenset({Remedy.RESUME, Remedy.REPAIR, Remedy.CLEAN})
"""What gives a checkpoint back as it was, or changes nothing that counts."""


def make_plan(facts: Facts, request: Request) -> Plan:
    """Return the plan of a remedy; raise PlanError where it is refused.

    Raise ProjectError (HF1118) where it would take the checkpoint of another job away.
    Raise CheckpointError (HF4606) while an act is neither finished nor undone: what it has left so
    far looks like damage, and is none.
    """
    facts.records.journal.refuse_unfinished()
    retired = facts.subject.recorded.retirement
    if retired is not None:
        message = f"the job was retired at {retired.at} by {retired.by}"
        steps = ("if it is to run again where it ended: holdfast undo TARGET",)
        raise PlanError("HF4611", message, at=facts.location, next_steps=steps)
    if request.remedy not in _BESIDE:
        _refuse_open_backfill(facts)
    if request.remedy not in _OF_ANY_JOB:
        _refuse_other_owner(facts)
    draft = PLANNERS[request.remedy](facts, request.options)
    job = None if facts.job is None else facts.job.name
    looked_at = facts.looked_at() if draft.looked_at is None else draft.looked_at
    return plan_of(draft, request, facts.location, job, looked_at)


def _refuse_other_owner(facts: Facts) -> None:
    """Raise ProjectError (HF1118) where the checkpoint is another job's, which would lose it."""
    for one in (facts, *facts.readers):
        if one.job is not None:
            # A target that is a path needs nothing that reads a project file.
            from holdfast.jobs.ownership import check_owner

            check_owner(one.job, next(iter(one.subject.recorded.runs), None))


def _refuse_open_backfill(facts: Facts) -> None:
    """Raise PlanError (HF4645) where a backfill could still write what is taken back now."""
    unfinished = next((one for one in facts.backfills if one.is_open), None)
    if unfinished is not None:
        message = f"{unfinished.plan_id} is running, or was interrupted"
        raise PlanError("HF4645", message, at=facts.location)
