"""Which plan fits to a finding: asked of the planners, so that no advice leads to a refusal."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping

from holdfast.errors import HoldfastError
from holdfast.remedy.facts import Facts
from holdfast.remedy.plan import Remedy, Request
from holdfast.remedy.remedies import PLANNERS, make_plan
from holdfast.remedy.repairs import REPAIRS

_LEFTOVERS = ("HF2211", "HF2227", "HF2315", "HF2352")
_SINK_AHEAD = ("HF2342", "HF2411", "HF2441")
_PASSING_PLACE = ("HF2301", "HF2302")


def _by_code() -> Mapping[str, tuple[Remedy, ...]]:
    table = {code: [Remedy.REPAIR] for repair in REPAIRS for code in repair.codes}
    also = (
        (Remedy.CLEAN, _LEFTOVERS),
        (Remedy.REPLAY, _SINK_AHEAD),
        (Remedy.MOVE, _PASSING_PLACE),
    )
    for remedy, codes in also:
        for code in codes:
            table.setdefault(code, []).append(remedy)
    return {code: tuple(remedies) for code, remedies in table.items()}


REMEDIES_BY_CODE = _by_code()
"""The remedies that may answer a finding, the smallest act first."""

ANSWERED_NOTES = frozenset({*_LEFTOVERS, *_PASSING_PLACE, "HF2322"})
"""What a plan answers although it is only noted, and nothing has to be done."""

_CHOICES = {
    Remedy.CLEAN: "to remove what was left over: {}",
    Remedy.MOVE: "to bring it to a lasting path: {}",
}
"""What may be done about a note, after what is written for it."""


def fitting_plans(facts: Facts, codes: Iterable[str], target: str) -> Mapping[str, str]:
    """Return for each finding that a plan answers the next step that names this plan.

    Nothing is written. A planner that refuses, or cannot tell, is no advice.
    """
    found: dict[str, str] = {}
    for code in dict.fromkeys(codes):
        for remedy in REMEDIES_BY_CODE.get(code, ()):
            options = _options(facts, remedy, code)
            if options is None or remedy not in PLANNERS:
                continue
            request = Request(remedy, target, options)
            # Where it is moved to is not known yet, so that its planner cannot be asked.
            if remedy is Remedy.MOVE or _succeeds(facts, request):
                found[code] = _CHOICES.get(remedy, "{}").format(_command(request))
                break
    return found


def _options(facts: Facts, remedy: Remedy, code: str) -> dict[str, str] | None:
    """Return the options that this plan needs; None where it cannot be meant."""
    if remedy is Remedy.REPLAY:
        newest = facts.subject.picture.newest_offsets_id
        return None if newest is None else {"from_batch": str(newest + 1)}
    if remedy is Remedy.MOVE:
        return {"to": "PATH"}
    return {"finding": code} if remedy is Remedy.REPAIR else {}


_START_OVER = {
    "none": "or, to start over, as the output is empty: {}",
    "clear": "or, to start over with the output cleared: {}",
    "keep-new:PATH": "or, to start over and keep this output: {}",
}
_OTHER_QUERY = frozenset(
    {"HF2323", "HF2324", "HF2325", "HF2361", "HF2362", "HF2363", "HF2364", "HF2366", "HF2367",
     "HF2369", "HF2370", "HF3002", "HF3003", "HF3004", "HF3005"}
)  # fmt: skip
_STATE_LOST = frozenset({"HF2221", "HF2239", "HF2314"})
_OUTPUT_KEPT = frozenset({"HF2401", "HF2412", "HF2443"})
_PINNED = frozenset({"HF2322", "HF2357", "HF2358", "HF2365", "HF2374"})
_ENDED_BY = _OTHER_QUERY | _STATE_LOST | _OUTPUT_KEPT | _PINNED
"""Where only a new query can be what is declared, if no repair brings the former one back."""
_TABLE_LOST = frozenset({"HF2366", "HF2367"})
_RECORDS_LOST = frozenset({"HF2369", "HF2370"})
_UNCOMPARED = frozenset({"HF3011", "HF3101", "HF3158", "HF3159"})
"""The code may be the same: nothing says that it is not."""
_SINK_BEHIND = "HF3006"


def is_of_other_query(code: str) -> bool:
    """Return whether a code says that query, source or state no longer fit to the checkpoint."""
    return code in _ENDED_BY or (code.startswith("HF31") and code not in _UNCOMPARED)


def step_with_plan(facts: Facts, code: str, target: str) -> str | None:
    """Return the next step with the plan that answers a change which is not safe.

    Nothing is written. A planner that refuses, or cannot tell, is no advice.
    """
    for text, request in _answers(facts, code, target):
        is_resume = request.remedy is Remedy.RESUME
        if _succeeds(facts, request, may_be_empty=is_resume):
            return text.format(_command(request))
    return None


def _answers(facts: Facts, code: str, target: str) -> Iterator[tuple[str, Request]]:
    """Yield the requests that may answer a code, the smallest act first."""
    if Remedy.REPAIR in REMEDIES_BY_CODE.get(code, ()):
        yield "{}", Request(Remedy.REPAIR, target, {"finding": code})
    if code in _UNCOMPARED:
        yield "if it is the same code: {}", Request(Remedy.RESUME, target, {})
    if code == _SINK_BEHIND and facts.held.value is not None:
        batch = {"from_batch": str(facts.held.value + 1)}
        text = "or, to deliver the missing batches again: {}"
        yield text, Request(Remedy.REPLAY, target, batch)
    if is_of_other_query(code) or code == _SINK_BEHIND:
        starting = {"starting_offsets": "earliest"} if code in _RECORDS_LOST else {}
        for output, text in _START_OVER.items():
            # Rows that the source no longer has are in the output alone.
            if output != "clear" or code not in _TABLE_LOST | _RECORDS_LOST:
                yield text, Request(Remedy.RESET, target, {"output": output, **starting})


def _command(request: Request) -> str:
    words = ["holdfast", "plan", request.remedy.value, shlex.quote(request.target)]
    words += [f"--{name.replace('_', '-')} {value}" for name, value in request.options.items()]
    return " ".join(words)


def _succeeds(facts: Facts, request: Request, *, may_be_empty: bool = False) -> bool:
    try:
        return bool(make_plan(facts, request).steps) or may_be_empty
    except HoldfastError:
        return False
