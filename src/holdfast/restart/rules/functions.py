"""Python functions and static tables against those of the last run: the plan hides them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import TypeVar

from holdfast.records.documents import encode_document
from holdfast.records.facts import (
    REACH,
    UNLOCATED,
    FunctionFacts,
    OperatorFacts,
    QueryFacts,
    StaticFacts,
)
from holdfast.restart.rules.rule import on_history
from holdfast.restart.samefunctions import (
    do_the_same,
    notes_more,
    same_parts,
    same_reach,
    short_name,
    unfollowed_of,
)
from holdfast.restart.start import QueryPair
from holdfast.restart.verdict import Change, Verdict
from holdfast.wording import counted

_STATE, _SOURCE, _TRANSFORM = "state", "source", "transform"
_SHOWN_BY_PLAN = frozenset({_TRANSFORM, "sink"})
"""Kinds whose own text decides nothing that the plan, or the sink, does not show."""
_MOST_PARTS = 5


@on_history("HF3150", "HF3151")
def changed_functions(pair: QueryPair) -> Iterator[Change]:
    """Ask about functions that feed state, and show the others."""
    for before, after in _functions(pair):
        if before is not None and after is not None and not do_the_same(before, after):
            yield _changed(before, after, pair)
        elif before is None and after is not None and _is_new(after, pair):
            yield _new(after, pair)
        elif before is not None and after is None and _asks(before, pair):
            yield _lost(before)


def _changed(before: FunctionFacts, after: FunctionFacts, pair: QueryPair) -> Change:
    parts = _changed_parts(before, after)
    old, new = _version(before), _version(after)
    subject = f"{after.name} ({', '.join(parts)})"
    if _asks(after, pair):
        why = (
            "its result is in the state, and the plan does not show what it does: new results "
            "are mixed with old ones"
        )
        pieces = [one for one in parts if not after.parts.get(one, "").startswith(REACH)]
        told = ", ".join(pieces) or after.name
        condition = f"{told} gives the same result as before for every row"
        return Change(
            "HF3150", Verdict.CONDITIONAL, subject, old, new, why, condition, place=after.place
        )
    why = "no state depends on it: later rows are made by the new code"
    if after.kind in _SHOWN_BY_PLAN:
        why = "what it does is in the plan: what matters of it is judged there"
    return Change("HF3151", Verdict.SAFE, subject, old, new, why, place=after.place)


def _is_new(function: FunctionFacts, pair: QueryPair) -> bool:
    """Tell whether a function without a predecessor has to be asked about.

    Which sources there are is judged by themselves, and older records lack the code of any.
    """
    is_unknown = function.kind == _SOURCE and not any(
        one.kind == _SOURCE for one in pair.before.functions
    )
    return _asks(function, pair) and not is_unknown


def _new(after: FunctionFacts, pair: QueryPair) -> Change:
    """Ask about a function that takes the place of another one; the plan may look the same."""
    gone = dict.fromkeys(one.name for one in _gone(pair))
    why = "its result is in the state, which was made without it"
    condition = f"{after.name} gives the same result as what was there before, for every row"
    return Change(
        "HF3150", Verdict.CONDITIONAL, after.name, ", ".join(gone) or "none", after.name, why,
        condition, place=after.place,
    )  # fmt: skip


def _lost(before: FunctionFacts) -> Change:
    """Ask about one of several functions of a name: the plan does not show which are left."""
    why = "its result is in the state, and others of its name may have taken its place"
    condition = f"what is left of {before.name} gives the same result as before for every row"
    return Change(
        "HF3150", Verdict.CONDITIONAL, before.name, _version(before), None, why, condition,
        place=before.place,
    )  # fmt: skip


@on_history("HF3152")
def unfollowed_parts(pair: QueryPair) -> Iterator[Change]:
    """Say what a changed function that feeds state reaches, or reached, and cannot be compared."""
    for before, after in _functions(pair):
        if after is None or not _asks(after, pair):
            continue
        known = () if before is None else unfollowed_of(before)
        if known == unfollowed_of(after) or (before is not None and notes_more(before, after)):
            continue
        old = () if before is None else before.unfollowed
        yield Change(
            "HF3152",
            Verdict.UNKNOWN,
            f"what {after.name} reaches",
            ", ".join(old) or "nothing else",
            ", ".join(after.unfollowed) or "nothing else",
            "its content is not known, and state depends on it",
            f"{', '.join(after.unfollowed or old)} gives the same as before",
            place=after.place,
        )


@on_history("HF3155", is_of_data=True)
def static_tables(pair: QueryPair) -> Iterator[Change]:
    """Ask about a table beside the stream whose content changed, where state depends on it."""
    for before, after in _in_order(pair.before.statics, pair.now.statics, lambda one: one.name):
        table = after or before
        if table is None or before == after:
            continue
        verdict, condition = Verdict.SAFE, None
        if not _is_below_state(table.name, pair):
            why = "no state depends on it: later rows are joined with its new content"
        elif None in (before, after) and _mentions(table.name, _inputs(pair)):
            why = "whether it is joined in is in the plan: which rows reach the state is judged"
        else:
            why = "state was made with the old rows of the table"
            verdict = Verdict.CONDITIONAL
            condition = "state that was made with the old rows of the table may stay"
        subject, old, new = f"static table {table.name}", _content(before), _content(after)
        yield Change("HF3155", verdict, subject, old, new, why, condition)


def _content(table: StaticFacts | None) -> str | None:
    return None if table is None else table.content or "content not known"


@on_history("HF3157")
def undetermined(pair: QueryPair) -> Iterator[Change]:
    """Say what could not be determined of the query, where that is not what it was before."""
    before, now = pair.before.unknown, pair.now.unknown
    new = tuple(one for one in now if one not in before)
    if pair.now.operators is None and pair.before.operators is not None and not new:
        now = new = ("the stateful operators: Spark would not plan the query",)
    if not new and _is_other_code(pair):
        now = new = _hidden(pair)
    if not new and UNLOCATED in pair.now.code.values():
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


def _is_other_code(pair: QueryPair) -> bool:
    """Tell whether a file or text that the query is made of differs, in whatever way."""
    before, now = (
        [one for one in query.functions if one.kind == _TRANSFORM]
        for query in (pair.before, pair.now)
    )
    return pair.before.code != pair.now.code or not all(
        any(same_parts(each, one) for each in before) for one in now
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
    parts = (part for one in pair.now.functions if _asks(one, pair) for part in one.unfollowed)
    return tuple(dict.fromkeys((*pair.now.unknown, *tables, *parts)))


Facts = TypeVar("Facts")


def _in_order(
    before: Sequence[Facts], now: Sequence[Facts], key: Callable[[Facts], Hashable]
) -> Iterator[tuple[Facts | None, Facts | None]]:
    """Yield what continues what: those of one key in their order, for the plan shows no other."""
    for one in dict.fromkeys(map(key, (*now, *before))):
        both = ([each for each in some if key(each) == one] for some in (before, now))
        yield from zip_longest(*both)


def _functions(pair: QueryPair) -> Iterator[tuple[FunctionFacts | None, FunctionFacts | None]]:
    """Yield the functions that continue each other: by name, else one that only has a new name.

    A name that is gone without such a successor is not yielded: the plan shows that.
    """
    gone = _gone(pair)
    for before, after in _in_order(pair.before.functions, pair.now.functions, _in_plan):
        if before is None and after is not None:
            yield (
                next((one for one in gone if one.parts and do_the_same(one, after)), None),
                after,
            )
        elif after is not None or before not in gone:
            yield before, after


def _gone(pair: QueryPair) -> list[FunctionFacts]:
    """Return the functions of the last run of whose name there is none any more."""
    kept = set(map(_in_plan, pair.now.functions))
    return [one for one in pair.before.functions if _in_plan(one) not in kept]


def _in_plan(function: FunctionFacts) -> tuple[str, bool]:
    """Return what the plan shows of a function; a transform is no part of it."""
    return short_name(function.name), function.kind in _SHOWN_BY_PLAN


def _version(function: FunctionFacts) -> str:
    """Return a short text that is another one for every change of a function."""
    digest = hashlib.sha256(encode_document(function.parts)).hexdigest()[:8]
    return f"version {digest} ({counted(len(function.parts), 'part')})"


def _changed_parts(before: FunctionFacts, after: FunctionFacts) -> list[str]:
    names = sorted(
        name
        for name in before.parts.keys() | after.parts.keys()
        if before.parts.get(name) != after.parts.get(name)
    )
    if len(names) > 1 or same_reach(before, after):
        names = [one for one in names if not after.parts.get(one, "").startswith(REACH)]
    more = len(names) - _MOST_PARTS
    return names[:_MOST_PARTS] + ([f"{more} more"] if more > 0 else [])


def _asks(function: FunctionFacts, pair: QueryPair) -> bool:
    """Tell whether the plan does not show what a function does to the state."""
    return function.kind not in _SHOWN_BY_PLAN and feeds_state(function, pair)


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
    return bool({name, short_name(name)} & set(operator.functions)) or _is_named(name, texts)


def _is_named(name: str, texts: Iterable[str]) -> bool:
    called = re.compile(rf"(?<!\w)(?:{re.escape(name)}(?!\w)|{re.escape(short_name(name))}\()")
    return any(called.search(text) for text in texts)


def _is_below_state(name: str, pair: QueryPair) -> bool:
    """Tell whether state may depend on a table; where it is not seen, it may."""
    if not pair.has_state:
        return False
    steps = (*pair.before.steps, *pair.now.steps)
    return _mentions(name, _inputs(pair)) or not _mentions(name, steps)


def _inputs(pair: QueryPair) -> Iterator[str]:
    for one in (*(pair.before.operators or ()), *(pair.now.operators or ())):
        yield from one.input


def _mentions(name: str, texts: Iterable[str]) -> bool:
    whole = re.compile(rf"(?<![\w.]){re.escape(name)}(?!\w)")
    return any(whole.search(text) for text in texts)
