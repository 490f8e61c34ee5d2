"""Lets the answers of `doctor` and `check` name the plans that would succeed."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.answers import Answer
from holdfast.errors import HoldfastError
from holdfast.findings import Severity
from holdfast.jobs.discovery import ProjectChoice
from holdfast.library.answering import repeating_options
from holdfast.steps import Steps
from holdfast.storage.options import StorageOptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holdfast.diagnosis.doctor.examination import Examination, Examined
    from holdfast.findings import Finding
    from holdfast.remedy.facts import Facts
    from holdfast.restart.result import CheckedJob

_LAST = ("or, ", "if ", "to ")
"""How a step begins that is one of several, or a choice, after what loses less."""


def with_plans(
    answer: Answer[Examination], sink: str | None, project: ProjectChoice, options: StorageOptions
) -> Answer[Examination]:
    """Return what the doctor found, each finding with the command whose plan answers it.

    The planners are asked where something is found that one of them may answer.
    """
    plans: dict[tuple[str, str], str] = {}
    targets = []
    for examined in answer.result.targets:
        fitting = _plans_for(examined, sink, project, options)
        for code, step in fitting.items():
            plans[examined.location, code] = step
        findings = tuple(
            replace(one, next=_joined(fitting[one.code], one.next)) if one.code in fitting else one
            for one in examined.findings
        )
        targets.append(replace(examined, findings=findings))
    if not plans:
        return answer
    places = [one.location for one in answer.result.targets]

    def key_of(one: Finding) -> tuple[str, str]:
        # What is found in the sink is of the one target that has it.
        return (places[0] if len(places) == 1 else one.place.root or "", one.code)

    found = tuple(
        replace(one, next_steps=_joined(plans[key_of(one)], one.next_steps))
        if key_of(one) in plans
        else one
        for one in answer.findings
    )
    result = replace(answer.result, targets=tuple(targets))
    first = [step for step in plans.values() if not step.startswith(_LAST)]
    steps = (*dict.fromkeys(first), *answer.next_steps)
    return replace(answer, result=result, findings=found, next_steps=steps)


def repeated_in_targets(
    answer: Answer[Examination], project: ProjectChoice, options: StorageOptions
) -> Answer[Examination]:
    """Return the same answer; the commands of each target repeat the options of the call, as those
    of the answer do."""
    change = repeating_options(project, options)
    targets = tuple(
        replace(one, findings=tuple(replace(each, next=change(each.next)) for each in one.findings))
        for one in answer.result.targets
    )
    return replace(answer, result=replace(answer.result, targets=targets))


def _plans_for(
    examined: Examined, sink: str | None, project: ProjectChoice, options: StorageOptions
) -> Mapping[str, str]:
    """Return the plans that fit to the findings of one target; none where that is unknown."""
    if not examined.readable or not examined.findings:
        return {}
    from holdfast.library.planning import facts_of
    from holdfast.remedy.fitting import (
        ANSWERED_NOTES,
        REMEDIES_BY_CODE,
        fitting_plans,
        is_of_other_query,
    )

    serious = [
        one.code
        for one in examined.findings
        if one.severity is not Severity.INFO or one.code in ANSWERED_NOTES
    ]
    codes = [code for code in serious if code in REMEDIES_BY_CODE]
    others = [code for code in serious if is_of_other_query(code) and examined.job is not None]
    if not codes and not others:
        return {}
    target = examined.job or examined.target
    try:
        facts = facts_of(target, project, options, sink)
        found = {**_steps(facts, others, target, project, options),
                 **fitting_plans(facts, codes, target)}  # fmt: skip
    except HoldfastError:
        return {}  # what keeps a plan from being made is found by the plan itself
    asked = "" if sink is None else f" --sink {shlex.quote(sink)}"
    # Only a repair takes the output that was named.
    steps = tuple(
        f"{one}{asked}" if one.startswith("holdfast plan repair ") else one
        for one in found.values()
    )
    return dict(zip(found, repeating_options(project, options)(steps), strict=True))


def with_plans_of_changes(
    findings: Sequence[Finding], job: CheckedJob, project: ProjectChoice, options: StorageOptions
) -> list[Finding]:
    """Return what keeps a job from starting, each with the plan that answers it, where one does."""
    from holdfast.library.planning import facts_of

    if not findings:
        return []
    target = job.job or job.location
    try:
        facts = facts_of(target, project, options)
        if facts.location != job.location:
            return list(findings)
        steps = _steps(facts, [one.code for one in findings], target, project, options)
    except HoldfastError:
        return list(findings)  # what keeps a plan from being made is found by the plan itself
    return [
        replace(one, next_steps=_joined(steps[one.code], one.next_steps))
        if one.code in steps and not any("holdfast plan " in step for step in one.next_steps)
        else one
        for one in findings
    ]


def _steps(
    facts: Facts,
    codes: Sequence[str],
    target: str,
    project: ProjectChoice,
    options: StorageOptions,
) -> dict[str, str]:
    """Return for each code that a plan answers the step that names it."""
    from holdfast.library.planning import with_output
    from holdfast.remedy.fitting import step_with_plan
    from holdfast.remedy.plan import Remedy, Request

    if not codes:
        return {}
    facts = with_output(facts, Request(Remedy.RESET, target), project, options)
    steps = {code: step_with_plan(facts, code, target) for code in dict.fromkeys(codes)}
    return {code: step for code, step in steps.items() if step is not None}


def _joined(plan: str, steps: Steps) -> Steps:
    """Return next steps with a plan among them: a repair comes first, starting over last."""
    return (*steps, plan) if plan.startswith(_LAST) else (plan, *steps)
