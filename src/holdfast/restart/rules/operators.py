"""Stateful operators against those of the last run: which there are, and what they are keyed by."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest

from holdfast.records.facts import OperatorFacts
from holdfast.restart.rules.rule import on_history
from holdfast.restart.start import QueryPair
from holdfast.restart.verdict import Change, Verdict

NOT_MATCHING = "STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA"
_WINDOWS = ("window(", "session_window(", "timewindow(", "sessionwindow(")
_JOIN_TYPE = "join type"
STATE_FORMAT = "state format"
ENCODING = "spark.sql.streaming.stateStore.encodingFormat"
_OTHER_RULES = frozenset({_JOIN_TYPE, "condition", "limit", STATE_FORMAT})
"""What other rules are about; the format of the state is pinned by the checkpoint."""
_CONFIG = frozenset({"time mode", "output mode"})
_VARIABLES = "transformWithState"
_LIMIT = "limit"
_MATCHED_ONLY = frozenset({"inner", "leftsemi"})
"""Types of a join that deliver nothing without a partner, as Spark and as the facts spell them."""
_MOMENTS = re.compile(r"^(?:stddev|variance|var)(?:_samp|_pop)?\(")


@on_history("HF3110")
def other_operators(pair: QueryPair) -> Iterator[Change]:
    """Refuse added, removed, replaced and reordered operators."""
    if pair.before.operators is None or pair.now.operators is None:
        return
    before = [one.name for one in pair.before.operators]
    now = [one.name for one in pair.now.operators]
    if before != now:
        yield Change(
            "HF3110",
            Verdict.UNSAFE,
            "the stateful operators",
            ", ".join(before) or "none",
            ", ".join(now) or "none",
            "Spark finds state by the number of an operator: since 4.0 it stops, 3.5 gives one "
            "operator the state of another",
            error=NOT_MATCHING,
        )


@on_history("HF3114")
def key_expressions(pair: QueryPair) -> Iterator[Change]:
    """Refuse other expressions to group, deduplicate or join by."""
    for then, after in pair.operators:
        differing = _differing(then.keys, after.keys)
        if pair.is_other_release and _is_reordered(then, after):
            continue  # the order of this release is not that of the checkpoint, which pins it
        if differing and not all(map(_is_window, differing)):
            yield Change(
                "HF3114",
                Verdict.UNSAFE,
                f"what {subject_of(after)} is keyed by",
                ", ".join(then.keys) or "nothing",
                ", ".join(after.keys) or "nothing",
                "Spark compares types of keys alone: rows of the new keys would be added to state "
                "of the old ones",
            )


@on_history("HF3115")
def window_sizes(pair: QueryPair) -> Iterator[Change]:
    """Refuse another length, slide, start or gap of windows."""
    for then, after in pair.operators:
        differing = _differing(then.keys, after.keys)
        windows = [one for one in differing if _is_window(one)]
        if windows and len(windows) == len(differing):
            yield Change(
                "HF3115",
                Verdict.UNSAFE,
                f"the windows of {subject_of(after)}",
                ", ".join(one for one, _ in windows),
                ", ".join(one for _, one in windows),
                "old and new windows would exist in parallel, and rows already counted in old "
                "windows are missing from the new ones",
            )


@on_history("HF3116", "HF3117")
def aggregates(pair: QueryPair) -> Iterator[Change]:
    """Refuse other functions over the same state, and the same functions in another order."""
    for then, after in pair.operators:
        if _buffers(then) == _buffers(after) or _stores_other_types(then, after):
            continue
        old, new = ", ".join(then.values), ", ".join(after.values)
        if sorted(then.values) == sorted(after.values):
            why = "Spark finds buffers by position: each function would continue the other's value"
            subject = f"the order of what {subject_of(after)} keeps"
            yield Change("HF3117", Verdict.UNSAFE, subject, old, new, why)
        else:
            why = (
                "Spark compares types of buffers alone: the new function would continue with what "
                "the old one computed, and mix both without an error"
            )
            subject = f"what {subject_of(after)} keeps"
            yield Change("HF3116", Verdict.UNSAFE, subject, old, new, why)


@on_history("HF3118")
def join_type(pair: QueryPair) -> Iterator[Change]:
    """Judge another type of a join between streams."""
    for then, after in pair.operators:
        old, new = then.settings.get(_JOIN_TYPE), after.settings.get(_JOIN_TYPE)
        if old == new:
            continue
        subject = f"the type of {subject_of(after)}"
        if (new or "").lower().replace(" ", "") in _MATCHED_ONLY:
            why = "rows that wait for a partner stay; without one they are not delivered any more"
            condition = "rows that were delivered by the old type may stay in the sink"
            yield Change("HF3118", Verdict.CONDITIONAL, subject, old, new, why, condition)
        else:
            why = (
                "the state does not show which of its rows had a partner: some would be delivered "
                "as unmatched although they matched, others never"
            )
            yield Change("HF3118", Verdict.UNSAFE, subject, old, new, why)


@on_history("HF3119")
def join_condition(pair: QueryPair) -> Iterator[Change]:
    """Ask about another condition of a join: only a narrower one is right."""
    for then, after in pair.operators:
        old, new = then.settings.get("condition"), after.settings.get("condition")
        if old != new:
            yield Change(
                "HF3119",
                Verdict.CONDITIONAL,
                f"the condition of {subject_of(after)}",
                old,
                new,
                "rows that the old condition no longer needed are gone from the state: a wider "
                "one misses their matches, a narrower one is right",
                "the new condition matches nothing that the old one did not",
            )


@on_history("HF3120")
def row_limit(pair: QueryPair) -> Iterator[Change]:
    """Ask about another limit."""
    for then, after in pair.operators:
        old, new = then.settings.get(_LIMIT), after.settings.get(_LIMIT)
        if old != new:
            yield Change(
                "HF3120",
                Verdict.CONDITIONAL,
                f"the limit of {subject_of(after)}",
                old,
                new,
                "Spark keeps the number of rows that were delivered: those that the old limit cut "
                "off do not come back, and those beyond a lower one stay",
                "rows that were cut off or delivered under the old limit may stay so",
            )


@on_history("HF3121")
def operator_settings(pair: QueryPair) -> Iterator[Change]:
    """Judge whatever else decides the result of an operator, such as its time mode."""
    for then, after in pair.operators:
        for name in sorted((then.settings.keys() | after.settings.keys()) - _OTHER_RULES):
            old, new = then.settings.get(name), after.settings.get(name)
            if old == new:
                continue
            subject = f"{name} of {subject_of(after)}"
            if name in _CONFIG and keeps_variables(after):
                why = "the operator keeps it with its state, and Spark refuses another one"
                error = "STATE_STORE_INVALID_CONFIG_AFTER_RESTART"
                yield Change("HF3121", Verdict.UNSAFE, subject, old, new, why, error=error)
            else:
                why = "the state was made with the old value"
                condition = f"state that was made with {name} {old or 'not set'} is still right"
                yield Change("HF3121", Verdict.CONDITIONAL, subject, old, new, why, condition)


@on_history("HF3122")
def operator_input(pair: QueryPair) -> Iterator[Change]:
    """Ask about other filters, joins or sources below an operator."""
    for then, after in pair.operators:
        gone = [one for one in then.input if one not in after.input]
        added = [one for one in after.input if one not in then.input]
        if then.input != after.input:
            yield Change(
                "HF3122",
                Verdict.CONDITIONAL,
                f"the rows that reach {subject_of(after)}",
                "; ".join(gone or then.input) or "every row",
                "; ".join(added or after.input) or "every row",
                "the state keeps what the old code let through, and lacks what it left out",
                "state from rows of the old code may stay, and rows that it left out may stay out",
            )


def _stores_other_types(then: OperatorFacts, after: OperatorFacts) -> bool:
    """Tell whether Spark refuses another number of functions by the types of their buffers."""
    if len(then.values) == len(after.values):
        return False
    before, now = (
        {one.name: [column.type for column in one.values] for one in operator.stores}
        for operator in (then, after)
    )
    return any(before[name] != now[name] for name in before.keys() & now.keys())


def _buffers(operator: OperatorFacts) -> list[str]:
    """Return what is kept; some functions keep the same and only give it out differently."""
    return [_MOMENTS.sub("moments(", one) for one in operator.values]


def keeps_variables(operator: OperatorFacts) -> bool:
    """Tell whether an operator keeps state variables of its user, which Avro can encode."""
    return operator.name.startswith(_VARIABLES)


def subject_of(operator: OperatorFacts) -> str:
    """Name an operator as users know it."""
    known = _SPOKEN.get(operator.name)
    return f"operator {operator.operator_id} ({known or operator.name})"


_SPOKEN = {
    "stateStoreSave": "aggregation",
    "StatefulStreamlineAggregate": "aggregation",
    "sessionWindowStateStoreSaveExec": "session windows",
    "dedupe": "deduplication",
    "dedupeWithinWatermark": "deduplication",
    "symmetricHashJoin": "join",
    "globalLimit": "limit",
}


def _differing(before: tuple[str, ...], now: tuple[str, ...]) -> list[tuple[str, str]]:
    both = zip_longest(before, now, fillvalue="")
    return [(then, after) for then, after in both if then != after]


def _is_reordered(then: OperatorFacts, after: OperatorFacts) -> bool:
    return after.name.startswith("dedupe") and sorted(then.keys) == sorted(after.keys)


def _is_window(pair: tuple[str, str]) -> bool:
    return all(one.lower().startswith(_WINDOWS) for one in pair)
