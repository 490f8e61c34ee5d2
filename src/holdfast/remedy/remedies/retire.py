"""Retire: a job is over. Its checkpoint is archived, and nothing starts on it by accident."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from holdfast.errors import PlanError
from holdfast.ledgers.sinkstate import SinkAnswer
from holdfast.remedy.drafting import archive_step, block_step, empty_step, output_arguments
from holdfast.remedy.facts import Facts
from holdfast.remedy.outputs import can_fence
from holdfast.remedy.plan import Downstream, Draft, Effects, Step
from holdfast.remedy.steps.sink import FENCE

_MARKER = (
    "holdfast retired this job at {at} ({act}): do not start a query here. "
    "The checkpoint is in backup {backup}; holdfast undo brings it back\n"
)


def plan_retire(facts: Facts, options: Mapping[str, str]) -> Draft:
    """Return the plan of archiving a job's checkpoint; raise PlanError where there is none."""
    del options
    job = facts.require_job()
    if facts.query_id is None:
        message = "there is no checkpoint of a query here"
        raise PlanError("HF4611", message, at=facts.location)
    steps = [archive_step(facts), block_step(facts)]
    if _can_fence(facts):
        shown = job.sink.path or job.sink.table or job.sink.format
        detail = "lock every driver of before out of the output; no row is changed"
        steps.append(Step(0, FENCE, shown, detail, reversible=True,
                          arguments=output_arguments(facts) | {"query_id": facts.query_id},
        ))  # fmt: skip
    note = Step(0, "note-retirement", facts.location, "note that the job is over",
                reversible=True, arguments={"query_id": facts.query_id})  # fmt: skip
    steps += [note, empty_step(facts, _MARKER)]
    readers = tuple(
        Downstream(one.job, "gets no new rows") for one in job.downstream() if one.through is None
    )
    effects = Effects(downstream=readers, next_start="is refused, until the plan is undone")
    return Draft(tuple(steps), effects, tuple(_notes(facts)))


def _can_fence(facts: Facts) -> bool:
    return facts.held.answer is SinkAnswer.BATCH and can_fence(facts.require_job().sink)


def _notes(facts: Facts) -> Iterator[str]:
    pending = facts.inspection.batches.pending
    if pending is not None:
        yield f"batch {pending} is pending; it is not delivered any more"
    if not _can_fence(facts):
        yield "a driver that still runs elsewhere is not locked out of the output"
