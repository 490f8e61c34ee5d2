"""Python functions and static tables against those of the last run: the plan hides them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from holdfast.plurals import counted
from holdfast.records.documents import encode_document
from holdfast.records.facts import FunctionFacts, OperatorFacts, QueryFacts
from holdfast.restart.rules.rule import on_history
from holdfast.restart.start import QueryPair
from holdfast.restart.verdict import Change, Verdict

_STATE = "state"
_SHOWN_BY_PLAN = frozenset({"transform", "sink"})
"""Kinds whose own text decides nothing that the plan, or the sink, does not show."""
_MOST_PARTS = 5


@on_history("HF3150", "HF3151")
def changed_functions(pair: QueryPair) -> Iterator[Change]:
    """Ask about functions that feed state, and show the others."""
    for after in pair.now.functions:
        # Two lambdas, or two closures of one function, have one name.
        known = [one for one in pair.before.functions if one.name == after.name]
        if not known:
            yield from _new_function(after, pair)
        if not known or any(_named_digests(one) == _named_digests(after) for one in known):
            continue
        before = known[-1]
        parts = _changed_parts(before, after)
        old, new = _version(before), _version(after)
        subject = f"{after.name} ({', '.join(parts)})"
        if after.kind not in _SHOWN_BY_PLAN and feeds_state(after, pair):
            why = (
                "its result is in the state, and the plan does not show what it does: new results "
                "are mixed with old ones"
            )
            condition = f"{', '.join(parts)} gives the same result as before for every row"
            yield Change(
                "HF3150", Verdict.CONDITIONAL, subject, old, new, why, condition, place=after.place
            )
        else:
            why = "no state depends on it: later rows are made by the new code"
            if after.kind in _SHOWN_BY_PLAN:
                why = "what it does is in the plan: what matters of it is judged there"
            yield Change("HF3151", Verdict.SAFE, subject, old, new, why, place=after.place)


def _new_function(after: FunctionFacts, pair: QueryPair) -> Iterator[Change]:
    """Ask about a function that takes the place of another one; the plan may look the same."""
    if after.kind in _SHOWN_BY_PLAN or not feeds_state(after, pair):
        return
    kept = {one.name for one in pair.now.functions}
    gone = [one for one in pair.before.functions if one.name not in kept]
    same = _named_digests(after) if _short(after.name) in map(_own_name, gone) else _digests(after)
    if any(one.parts and same in (_named_digests(one), _digests(one)) for one in gone):
        return  # renamed or moved
    old = ", ".join(one.name for one in gone) or "none"
    why = "its result is in the state, which was made without it"
    condition = f"{after.name} gives the same result as what was there before, for every row"
    yield Change(
        "HF3150", Verdict.CONDITIONAL, after.name, old, after.name, why, condition,
        place=after.place,
    )  # fmt: skip


def _version(function: FunctionFacts) -> str:
    """Return a short text that is another one for every change of a function."""
    digest = hashlib.sha256(encode_document(function.parts)).hexdigest()[:8]
    return f"version {digest} ({counted(len(function.parts), 'part')})"


def _own_name(function: FunctionFacts) -> str:
    return _short(function.name)


def _named_digests(function: FunctionFacts) -> list[str]:
    """Return the digests with names but without modules: code may move between these."""
    return sorted(f"{name.rpartition(':')[2]}={one}" for name, one in function.parts.items())


def _digests(function: FunctionFacts) -> list[str]:
    return sorted(function.parts.values())


@on_history("HF3152")
def unfollowed_parts(pair: QueryPair) -> Iterator[Change]:
    """Say what a changed function that feeds state reaches and cannot be compared."""
    then = {one.name: one for one in pair.before.functions}
    for after in pair.now.functions:
        before = then.get(after.name)
        if before is None or not after.unfollowed or after.kind in _SHOWN_BY_PLAN:
            continue
        if before.unfollowed != after.unfollowed and feeds_state(after, pair):
            yield Change(
                "HF3152",
                Verdict.UNKNOWN,
                f"what {after.name} reaches",
                ", ".join(before.unfollowed) or "nothing else",
                ", ".join(after.unfollowed),
                "its content is not known, and state depends on it",
                f"{', '.join(after.unfollowed)} gives the same as before",
                place=after.place,
            )


@on_history("HF3155")
def static_tables(pair: QueryPair) -> Iterator[Change]:
    """Ask about a table beside the stream whose content changed, where state depends on it."""
    then = {one.name: one for one in pair.before.statics}
    for after in pair.now.statics:
        before = then.get(after.name)
        if before is None or before.content == after.content:
            continue
        subject, old, new = f"static table {after.name}", before.content, after.content
        if _is_below_state(after.name, pair):
            why = "state was made with the old rows of the table"
            condition = "state that was made with the old rows of the table may stay"
            yield Change("HF3155", Verdict.CONDITIONAL, subject, old, new, why, condition)
        else:
            why = "no state depends on it: later rows are joined with its new content"
            yield Change("HF3155", Verdict.SAFE, subject, old, new, why)


@on_history("HF3157")
def undetermined(pair: QueryPair) -> Iterator[Change]:
    """Say what could not be determined of the query, where that is not what it was before."""
    before, now = pair.before.unknown, pair.now.unknown
    new = tuple(one for one in now if one not in before)
    if pair.now.operators is None and pair.before.operators is not None and not new:
        now = new = ("the stateful operators: Spark would not plan the query",)
    if not new and pair.is_other_code:
        now = new = _hidden(pair)
    if new and pair.has_state:
        yield Change(
            "HF3157",
            Verdict.UNKNOWN,
            "what could not be determined",
            f"{', '.join(before) or 'nothing'}; code {_code(pair.before)}",
            f"{', '.join(now)}; code {_code(pair.now)}",
            "a change in it would not be noticed",
            f"{', '.join(new)} is as it was in the last run",
        )


def _code(query: QueryFacts) -> str:
    return hashlib.sha256(encode_document(query.code)).hexdigest()[:8]


def _hidden(pair: QueryPair) -> tuple[str, ...]:
    """Return what cannot be compared where state may depend on it."""
    tables = (
        f"the content of {one.name}"
        for one in pair.now.statics
        if one.content is None and _is_below_state(one.name, pair)
    )
    parts = (
        f"{part}"
        for one in pair.now.functions
        if one.kind not in _SHOWN_BY_PLAN and feeds_state(one, pair)
        for part in one.unfollowed
    )
    return tuple(dict.fromkeys((*pair.now.unknown, *tables, *parts)))


def feeds_state(function: FunctionFacts, pair: QueryPair) -> bool:
    """Tell whether results of a function may be in the state; where it is not seen, they may."""
    if not pair.has_state:
        return False
    if function.kind == _STATE:
        return True
    operators = [*(pair.before.operators or ()), *(pair.now.operators or ())]
    if any(_calls(one, function.name) for one in operators):
        return True
    if any("?" in text for one in operators for text in (*one.keys, *one.values)):
        return True  # what a key or value is made from is not known
    # A function that only the last steps call feeds no state; one that nothing names may.
    return not any(_is_named(function.name, one.steps) for one in (pair.before, pair.now))


def _calls(operator: OperatorFacts, name: str) -> bool:
    texts = (*operator.keys, *operator.values, *operator.input, *operator.settings.values())
    return bool({name, _short(name)} & set(operator.functions)) or _is_named(name, texts)


def _short(name: str) -> str:
    """Return the name under which Spark knows a function."""
    return name.rpartition(":")[2].rpartition(".")[2]


def _is_named(name: str, texts: tuple[str, ...]) -> bool:
    short = _short(name)
    return any(name in text or f"{short}(" in text for text in texts)


def _is_below_state(name: str, pair: QueryPair) -> bool:
    facts: tuple[QueryFacts, ...] = (pair.before, pair.now)
    inputs = [one.input for query in facts for one in query.operators or ()]
    if not pair.has_state:
        return False
    in_steps = any(name in text for query in facts for text in query.steps)
    return any(name in text for texts in inputs for text in texts) or not in_steps


def _changed_parts(before: FunctionFacts, after: FunctionFacts) -> list[str]:
    names = sorted(
        name
        for name in before.parts.keys() | after.parts.keys()
        if before.parts.get(name) != after.parts.get(name)
    )
    more = len(names) - _MOST_PARTS
    return names[:_MOST_PARTS] + ([f"{more} more"] if more > 0 else [])
