"""Which Python functions of two versions of a query do the same, whatever their names are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from holdfast.records.facts import (
    CONSTANT,
    REACH,
    FunctionFacts,
    OperatorFacts,
    QueryFacts,
    reach_forms,
)

_MODULE = re.compile(r"[\w.]+:(?=[\w<])")
_IN_PLAN = frozenset({"udf", "pandas"})


def with_new_names(before: QueryFacts, now: QueryFacts) -> QueryFacts:
    """Return the earlier query with the names that its functions have now, where one that does the
    same has taken the place of each: the plan shows a function by its name."""
    names = _new_names(before, now)
    if not names:
        return before
    operators = before.operators and tuple(_renamed(one, names) for one in before.operators)
    watermarks = tuple(
        replace(one, column=_in(one.column, names), rows=_all_in(one.rows, names))
        for one in before.watermarks
    )
    return replace(
        before, operators=operators, watermarks=watermarks, steps=_all_in(before.steps, names)
    )


def _new_names(before: QueryFacts, now: QueryFacts) -> Mapping[str, FunctionFacts]:
    """Return the functions that took another's place, by the name that the plan had of it.

    A name that the plan still calls may be that of Spark's own function: it is left alone.
    """
    gone = [one for one in before.functions if _is_comparable(one) and not _calls(now, one.name)]
    known = {short_name(one.name) for one in before.functions}
    found: dict[str, FunctionFacts] = {}
    for one in now.functions:
        if not _is_comparable(one) or short_name(one.name) in known:
            continue
        same = {
            short_name(each.name)
            for each in gone
            if each.kind == one.kind and do_the_same(each, one)
        }
        if len(same) == 1 and not same & found.keys():
            found[same.pop()] = one
    return found


def _is_comparable(function: FunctionFacts) -> bool:
    """Tell whether all of a function of the plan is known."""
    return (
        function.kind in _IN_PLAN
        and not function.unfollowed
        and any(digest.startswith(REACH) for digest in function.parts.values())
    )


def _calls(query: QueryFacts, name: str) -> bool:
    operators = query.operators or ()
    texts = [text for one in operators for text in (*one.keys, *one.values, *one.input)]
    called = re.compile(rf"(?<![\w.]){re.escape(short_name(name))}\(")
    return any(called.search(text) for text in (*texts, *query.steps))


def _renamed(operator: OperatorFacts, names: Mapping[str, FunctionFacts]) -> OperatorFacts:
    functions = (
        names[short_name(one)].name if short_name(one) in names else one
        for one in operator.functions
    )
    return replace(
        operator,
        keys=_all_in(operator.keys, names),
        values=_all_in(operator.values, names),
        input=_all_in(operator.input, names),
        settings={name: _in(value, names) for name, value in operator.settings.items()},
        functions=tuple(functions),
    )


def _all_in(texts: tuple[str, ...], names: Mapping[str, FunctionFacts]) -> tuple[str, ...]:
    return tuple(_in(one, names) for one in texts)


def _in(text: str, names: Mapping[str, FunctionFacts]) -> str:
    for old, function in names.items():
        text = re.sub(rf"(?<![\w.]){re.escape(old)}\(", f"{short_name(function.name)}(", text)
    return text


def do_the_same(before: FunctionFacts, after: FunctionFacts) -> bool:
    """Tell whether two functions do the same, as far as what they reach can be followed."""
    return _does(before) == _does(after) and same_reach(before, after)


def same_reach(before: FunctionFacts, after: FunctionFacts) -> bool:
    """Tell whether all that two functions reach is the same; a record may not know, or only in an
    older form."""
    known = [*zip(reach_forms(before), reach_forms(after), strict=False)]
    return not known or len({*known[-1]}) == 1


def same_parts(before: FunctionFacts, after: FunctionFacts) -> bool:
    """Tell whether two functions have the same parts under the same names."""
    first, second = (
        {name: digest for name, digest in one.parts.items() if not digest.startswith(REACH)}
        for one in (before, after)
    )
    return first == second and same_reach(before, after)


def notes_more(before: FunctionFacts, after: FunctionFacts) -> bool:
    """Tell whether what cannot be compared of a function that does the same is only noted more
    fully than a record of an earlier release could."""
    return (
        len(reach_forms(before)) < len(reach_forms(after))
        and do_the_same(before, after)
        and {*unfollowed_of(before)} <= {*unfollowed_of(after)}
    )


def _does(function: FunctionFacts) -> list[str]:
    """Return digests of what a function does: code may move between modules, and its own name
    and those of constants, which are in the code by their values, may be others.
    """
    return sorted(
        f"{_anonymous(name, function)}={digest}"
        for name, digest in function.parts.items()
        if not digest.startswith((CONSTANT, REACH))
    )


def unfollowed_of(function: FunctionFacts) -> tuple[str, ...]:
    """Return what a function reaches that cannot be compared, without its own name."""
    return tuple(sorted(_anonymous(one, function) for one in function.unfollowed))


def _anonymous(text: str, function: FunctionFacts) -> str:
    """Return a text without modules and without the function's own name."""
    own = function.name.rpartition(":")[2]
    return re.sub(rf"^{re.escape(own)}(?!\w)", "", _MODULE.sub("", text))


def short_name(name: str) -> str:
    """Return the name under which Spark knows a function."""
    return name.rpartition(":")[2].rpartition(".")[2]
