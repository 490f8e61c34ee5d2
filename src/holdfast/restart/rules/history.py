"""A checkpoint whose last query no record knows: what has to be confirmed by a person."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.restart.rules.operators import subject_of
from holdfast.restart.rules.rule import Needs, Rule, on_plan
from holdfast.restart.start import StartFacts
from holdfast.restart.verdict import Change, Verdict


def _not_planned(start: StartFacts) -> Iterator[Change]:
    """Say that the query was not compared, because no Spark is here to plan it."""
    if start.unplanned is None or start.is_fresh:
        return
    condition = "the query is the one that last ran on this checkpoint"
    yield Change("HF3158", Verdict.UNKNOWN, "the query", None, None, start.unplanned, condition)


not_planned = Rule(("HF3158",), Needs.CHECKPOINT, _not_planned)


@on_plan("HF3101")
def no_history(start: StartFacts) -> Iterator[Change]:
    """Name what neither the checkpoint nor a record shows."""
    current = start.current
    if current is None or not start.lacks_history:
        return
    why = "no record knows the query that last ran here: names, kinds and schemas are compared"
    confirm = [f"source {index} still reads {', '.join(one.identity.values()) or one.format}"
               for index, one in enumerate(current.sources)]  # fmt: skip
    for one in current.operators or ():
        if one.keys:
            confirm.append(f"{subject_of(one)} was keyed by {', '.join(one.keys)}")
        if one.values:
            confirm.append(f"{subject_of(one)} kept {', '.join(one.values)}")
    if current.operators is None:
        confirm.append("the stateful operators are those of the last run")
    has_state = current.operators is None or bool(current.operators)
    if has_state:
        confirm += [f"the watermark was on {one.column}" for one in current.watermarks]
        confirm.append(f"the output mode was {current.output_mode}")
    verdict = Verdict.UNKNOWN if has_state else Verdict.CONDITIONAL
    yield Change("HF3101", verdict, "the last run", None, None, why, "; ".join(confirm))
