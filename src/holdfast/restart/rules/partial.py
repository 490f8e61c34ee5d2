"""A query of which its recording does not know all: what has to be confirmed by a person."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.records.facts import OperatorFacts, QueryFacts
from holdfast.records.recordings import QueryPart
from holdfast.restart.rules.operators import subject_of
from holdfast.restart.rules.rule import on_plan
from holdfast.restart.start import StartFacts
from holdfast.restart.verdict import Change, Verdict

_OF_STATE = frozenset(
    {
        QueryPart.KEYS,
        QueryPart.VALUES,
        QueryPart.OPERATOR_SETTINGS,
        QueryPart.STORES,
        QueryPart.INPUT,
        QueryPart.WATERMARKS,
        QueryPart.WATERMARK_COLUMNS,
    }
)
"""Parts that a query without state has none of."""
_SEEN_ELSEWHERE = frozenset({QueryPart.STORES, QueryPart.SINK})
"""Parts that other rules compare with the checkpoint and the sink themselves."""


@on_plan("HF3159", is_of_gaps=True)
def partly_recorded(start: StartFacts) -> Iterator[Change]:
    """Name what the recording does not know of the query that last ran."""
    current = start.current
    missing = start.missing - _SEEN_ELSEWHERE
    if current is None or start.is_fresh or not start.has_history or not missing:
        return
    has_state = current.operators is None or bool(current.operators)
    told = [part for part in QueryPart if part in missing and (has_state or part not in _OF_STATE)]
    confirm = list(_confirm(current, told))
    if not confirm:
        return
    verdict = Verdict.UNKNOWN if has_state else Verdict.CONDITIONAL
    why = "the query that last ran was recorded from its event log, which does not show all of it"
    known = ", ".join(part.value for part in told)
    yield Change("HF3159", verdict, f"not recorded: {known}", None, None, why, "; ".join(confirm))


def _confirm(query: QueryFacts, missing: list[QueryPart]) -> Iterator[str]:
    """Yield what must be as it was, in terms of the current query."""
    if QueryPart.SOURCE_OPTIONS in missing:
        for index, source in enumerate(query.sources):
            read = ", ".join(source.identity.values()) or source.format
            yield f"source {index} still reads {read} as {source.format}"
    for operator in query.operators or ():
        yield from _of_operator(operator, missing)
    named = {
        QueryPart.SOURCE_OPTIONS: [
            f"{name}={value}" for one in query.sources for name, value in one.options.items()
        ],
        QueryPart.FUNCTIONS: [one.name for one in query.functions],
        QueryPart.STATICS: [one.name for one in query.statics],
        QueryPart.WATERMARK_COLUMNS: [f"the watermark on {one.column}" for one in query.watermarks],
        QueryPart.WATERMARKS: [f"the watermark on {one.column}" for one in query.watermarks],
        QueryPart.OUTPUT_MODE: [f"the output mode {query.output_mode}"],
        QueryPart.SETTINGS: ["settings that the program does not set"],
        QueryPart.STEPS: list(query.steps) and ["the columns and filters of the output"],
    }
    for part in missing:
        if named.get(part):
            yield f"{', '.join(named[part])}: as before"


def _of_operator(operator: OperatorFacts, missing: list[QueryPart]) -> Iterator[str]:
    name = subject_of(operator)
    if QueryPart.KEYS in missing and operator.keys:
        yield f"{name} was keyed by {', '.join(operator.keys)}"
    if QueryPart.VALUES in missing and operator.values:
        yield f"{name} kept {', '.join(operator.values)}"
    if QueryPart.INPUT in missing and operator.input:
        yield f"the rows that reached {name} were: {', '.join(operator.input)}"
    if QueryPart.OPERATOR_SETTINGS in missing and operator.settings:
        shown = ", ".join(f"{key} {value}" for key, value in operator.settings.items())
        yield f"{name} had {shown}"
