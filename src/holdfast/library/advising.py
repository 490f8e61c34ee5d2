"""Lets the answers of `doctor` name the plans that would succeed."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.answers import Answer
from holdfast.errors import HoldfastError
from holdfast.findings import Severity
from holdfast.jobs.discovery import ProjectChoice
from holdfast.steps import repeated_options
from holdfast.storage.options import StorageOptions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.diagnosis.doctor.examination import Examination, Examined


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
            replace(one, next=(fitting[one.code], *one.next)) if one.code in fitting else one
            for one in examined.findings
        )
        targets.append(replace(examined, findings=findings))
    if not plans:
        return answer
    found = tuple(
        replace(one, next_steps=(plans[one.place.root, one.code], *one.next_steps))
        if one.place.root is not None and (one.place.root, one.code) in plans
        else one
        for one in answer.findings
    )
    result = replace(answer.result, targets=tuple(targets))
    steps = (*dict.fromkeys(plans.values()), *answer.next_steps)
    return replace(answer, result=result, findings=found, next_steps=steps)


def _plans_for(
    examined: Examined, sink: str | None, project: ProjectChoice, options: StorageOptions
) -> Mapping[str, str]:
    """Return the plans that fit to the findings of one target; none where that is unknown."""
    serious = [one.code for one in examined.findings if one.severity is not Severity.INFO]
    if not examined.readable or not serious:
        return {}
    from holdfast.library.remedies import facts_of
    from holdfast.remedy.fitting import REMEDIES_BY_CODE, fitting_plans

    codes = [code for code in serious if code in REMEDIES_BY_CODE]
    if not codes:
        return {}
    target = examined.job or examined.target
    try:
        facts = facts_of(target, project, options, sink)
        found = fitting_plans(facts, codes, target)
    except HoldfastError:
        return {}  # what keeps a plan from being made is found by the plan itself
    asked = "" if sink is None else f" --sink {shlex.quote(sink)}"
    steps = tuple(f"{one}{asked}" for one in found.values())
    return dict(zip(found, repeated_options(steps, project.options), strict=True))
