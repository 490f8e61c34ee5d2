"""Which plan fits to a finding: asked of the planners, so that no advice leads to a refusal."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping

from holdfast.errors import HoldfastError
from holdfast.remedy.facts import Facts
from holdfast.remedy.plan import Remedy, Request
from holdfast.remedy.remedies import PLANNERS, make_plan
from holdfast.remedy.repairs import REPAIRS

_LEFTOVERS = ("HF2211", "HF2227", "HF2315")


def _by_code() -> Mapping[str, tuple[Remedy, ...]]:
    table = {code: (Remedy.REPAIR,) for repair in REPAIRS for code in repair.codes}
    for code in _LEFTOVERS:
        table[code] = (*table.get(code, ()), Remedy.CLEAN)
    return table


REMEDIES_BY_CODE = _by_code()
"""The remedies that may answer a finding, the smallest act first."""


def fitting_plans(facts: Facts, codes: Iterable[str], target: str) -> Mapping[str, str]:
    """Return for each finding that a plan answers the command that makes this plan.

    Nothing is written. A planner that refuses, or cannot tell, is no advice.
    """
    found: dict[str, str] = {}
    for code in dict.fromkeys(codes):
        for remedy in REMEDIES_BY_CODE.get(code, ()):
            options = {"finding": code} if remedy is Remedy.REPAIR else {}
            if remedy in PLANNERS and _succeeds(facts, Request(remedy, target, options)):
                words = ["holdfast", "plan", remedy.value, shlex.quote(target)]
                words += [f"--{name} {value}" for name, value in options.items()]
                found[code] = " ".join(words)
                break
    return found


def _succeeds(facts: Facts, request: Request) -> bool:
    try:
        return bool(make_plan(facts, request).steps)
    except HoldfastError:
        return False
