"""Resume: continue from where the checkpoint is, if checkpoint, sink and sources are fit for it."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.checkpoint.recovery.outcome import Action
from holdfast.errors import PlanError
from holdfast.ledgers.sinkstate import SinkAnswer
from holdfast.remedy.facts import Facts
from holdfast.remedy.plan import BatchRange, Draft, Effects


def plan_resume(facts: Facts, options: Mapping[str, str]) -> Draft:
    """Return a plan without steps: what the next start does; raise where it must not happen."""
    del options
    told = facts.inspection.next_start
    if facts.fatal:
        worst = facts.fatal[0]
        raise PlanError(
            "HF4601",
            f"the next start would fail or corrupt data: {worst.message} ({worst.code})",
            at=worst.place.within(facts.location),
            next_steps=worst.next_steps,
        )
    if told.action is Action.FAIL:
        raise PlanError("HF4601", f"Spark would fail: {told.reason}", at=facts.location)
    if told.action is Action.UNKNOWN:
        raise PlanError("HF4603", told.reason, at=facts.location)
    if facts.job is not None and facts.held.answer is SinkAnswer.UNKNOWN and told.batch_id:
        message = f"what the sink holds of this query is unknown: {facts.held.basis}"
        raise PlanError("HF4603", message, at=facts.location)
    return Draft((), _effects(facts))


def _effects(facts: Facts) -> Effects:
    told, held = facts.inspection.next_start, facts.held.value
    batch = told.batch_id
    if told.action is Action.RERUN and batch is not None:
        known = held is not None and held >= batch
        sink = (
            f"batch {batch} is already in the sink and is skipped"
            if known
            else f"gets batch {batch}, with the offsets that are recorded for it"
        )
        source = f"the range of batch {batch} is read again"
        return Effects(
            BatchRange(batch, batch), None, sink, source, next_start=f"runs batch {batch} again"
        )
    first = "begins with batch 0" if told.action is Action.FRESH else f"plans batch {batch}"
    return Effects(next_start=first, sink="gets new batches only")
