"""Makes sure that a plan, made again for copies, does there what it would do to the originals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from holdfast.errors import PlanError
from holdfast.jobs.ready import ReadyJob
from holdfast.remedy.plan import Draft, Plan, Remedy, Request, Step, plan_of
from holdfast.remedy.steps.sink import CLEAR, FENCE, MARK, REWIND

_KEEP_NEW = "keep-new:"
ON_SINK = frozenset({MARK, CLEAR, REWIND, FENCE})
"""Kinds of steps that are done on the sink."""


def refuse_reaching_out(plan: Plan, job: ReadyJob | None = None) -> None:
    """Raise PlanError (HF4660) for a plan that reaches beyond what is copied."""
    if plan.remedy is Remedy.BACKFILL:
        message = "a backfill runs a query of its own next to the job, which is not copied"
        raise PlanError("HF4660", message, at=plan.target)
    jobs = [one.arguments.get("job", one.target) for one in plan.steps
            if one.act == "reset-downstream"]  # fmt: skip
    if jobs:
        message = f"it also resets {', '.join(jobs)}, and only one job is copied"
        steps = ("make a plan that resets this job alone, and rehearse that",)
        raise PlanError("HF4660", message, at=plan.target, next_steps=steps)
    if job is not None and job.sink.path is None and new_output(plan.request) is not None:
        message = "the new output is a table of a database, and only the declared one is copied"
        raise PlanError("HF4660", message, at=plan.target)


def request_on_copies(request: Request, elsewhere: Path, name: str) -> Request:
    """Return the request as it is for the copies: what it writes to lies in the workspace."""
    options = dict(request.options)
    if request.remedy is Remedy.MOVE and "to" in options:
        options["to"] = str(elsewhere / name)
    output = options.get("output", "")
    if request.remedy is Remedy.RESET and output.startswith(_KEEP_NEW):
        options["output"] = f"{_KEEP_NEW}{elsewhere / name}"
    return replace(request, options=options)


def new_output(request: Request) -> str | None:
    """Return the output that a reset names for the new query; None where it keeps the old one."""
    output = request.options.get("output", "")
    is_new = request.remedy is Remedy.RESET and output.startswith(_KEEP_NEW)
    return output.removeprefix(_KEEP_NEW) if is_new else None


def moved_to(request: Request) -> str | None:
    """Return where a plan moves the checkpoint; None for other plans."""
    return request.options.get("to") if request.remedy is Remedy.MOVE else None


def plan_on_copies(plan: Plan, made: Plan, *, project: Path, with_sink: bool) -> Plan:
    """Return the plan that is applied to the copies.

    `made` is the plan that the copies give; raise PlanError (HF4660) where its steps are not those
    of the stored one. `project` is the folder whose list of places the plan may change. Without a
    scratch sink the steps on the sink are left out.
    """
    if _outline(plan) != _outline(made):
        message = "the copies give other steps than the plan has; nothing was tried"
        raise PlanError("HF4660", message, at=plan.target)
    steps = tuple(_inside(one, project) for one in made.steps if with_sink or not _on_sink(one))
    if steps == made.steps:
        return made
    draft = Draft(steps, made.effects, made.notes)
    return plan_of(draft, made.request, made.target, made.job, made.looked_at)


def _outline(plan: Plan) -> list[tuple[str, bool, Mapping[str, str]]]:
    """Return what must be equal: the kinds of the steps, and which batches they are about."""
    kept = ("through", "from", "query_id")
    return [
        (one.act, one.reversible, {key: one.arguments[key] for key in kept if key in one.arguments})
        for one in plan.steps
    ]


def _on_sink(step: Step) -> bool:
    return step.act in ON_SINK


def _inside(step: Step, project: Path) -> Step:
    if step.act != "remember-place":
        return step
    return replace(step, arguments={**step.arguments, "folder": str(project)})
