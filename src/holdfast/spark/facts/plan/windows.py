"""Windows of time in analysed plans, led back to the function that the user called. Pure.

Spark replaces `window(...)`, `session_window(...)` and `window_time(...)` by arithmetic while it
analyses a query.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from holdfast.spark.facts.plan.tree import Node, unwrapped

Found = tuple[str, Node, tuple[str | Node, ...]]
"""The function, the column of time, and what else the user gave it."""

_UNITS = (
    ("day", 86_400_000_000),
    ("hour", 3_600_000_000),
    ("minute", 60_000_000),
    ("second", 1_000_000),
    ("millisecond", 1_000),
    ("microsecond", 1),
)


def duration(micros: int) -> str:
    """Return a span of time in the largest unit that divides it."""
    for unit, size in _UNITS:
        if micros and micros % size == 0:
            count = micros // size
            return f"'{count} {unit}{'' if count == 1 else 's'}'"
    return "'0 seconds'"


_SPAN = re.compile(r"([+-]?\d+)(?:\.(\d{1,9}))?\s*(" + "|".join(
    ("year", "month", "week", "day", "hour", "minute", "second", "millisecond", "microsecond")
) + r")s?\b\s*", re.IGNORECASE)  # fmt: skip
_MONTHS = {"year": 12, "month": 1}
_DAYS = {"week": 7, "day": 1}


def span(text: str) -> str:
    """Return a text that Spark reads as a span of time in one spelling; any other as it is.

    Months, days and the rest are apart: a day has not always 24 hours.
    """
    rest = re.sub(r"^\s*interval\s+", "", text, flags=re.IGNORECASE).strip()
    months = days = micros = 0
    while rest:
        found = _SPAN.match(rest)
        unit = "" if found is None else found[3].lower()
        if found is None or (found[2] is not None and unit != "second"):
            return f"'{text}'"
        number, rest = int(found[1]), rest[found.end() :]
        months += number * _MONTHS.get(unit, 0)
        days += number * _DAYS.get(unit, 0)
        fraction = int((found[2] or "").ljust(6, "0")[:6])
        sign = -1 if found[1].startswith("-") else 1
        micros += number * _MICROS.get(unit, 0) + sign * fraction
    return f"'{_spelled(months, days, micros)}'"


_MICROS = dict(_UNITS[1:])


def _spelled(months: int, days: int, micros: int) -> str:
    unit, size = next((one for one in _UNITS[1:] if micros % one[1] == 0), _UNITS[-1])
    several = ((months, "month"), (days, "day"), (micros // size, unit))
    parts = [f"{count} {name}{'' if count == 1 else 's'}" for count, name in several if count]
    return " ".join(parts) or "0 seconds"


def time_window(structs: Sequence[Node]) -> Found | None:
    """Return the window of which these are the overlapping structs, one for each slide."""
    found = [_parts(struct) for struct in structs]
    if not found or any(one is None or one[1:] != found[0][1:] for one in found if found[0]):
        return None
    first = found[0]
    if first is None:
        return None
    column, length, slide, start = first
    rest = [duration(length)]
    if slide != length or start:
        rest.append(duration(slide))
    if start:
        rest.append(duration(start))
    return "window", column, tuple(rest)


def _parts(struct: Node) -> tuple[Node, int, int, int] | None:
    """Return column, length, slide and start of a window in microseconds."""
    ends = _ends(struct)
    if ends is None:
        return None
    sum_ = unwrapped(ends[1].children[0])
    remainder = next((one for one in sum_.walk() if one.name == "Remainder"), None)
    if sum_.name != "Add" or remainder is None:
        return None
    difference, slide = (unwrapped(one) for one in remainder.children)
    if difference.name != "Subtract":
        return None
    time, start = (unwrapped(one) for one in difference.children)
    length = unwrapped(sum_.children[1])
    numbers = [_number(one) for one in (length, slide, start)]
    if time.name != "PreciseTimestampConversion" or None in numbers:
        return None
    spans = [one for one in numbers if one is not None]
    return time.children[0], spans[0], spans[1], spans[2]


def session_window(struct: Node) -> Found | None:
    """Return the session window that a struct begins."""
    ends = _ends(struct)
    if ends is None:
        return None
    first, last = (unwrapped(one.children[0]) for one in ends)
    if {first.name, last.name} != {"PreciseTimestampConversion"}:
        return None
    column, sum_ = unwrapped(first.children[0]), _uncast(last.children[0])
    if sum_.name not in ("TimeAdd", "TimestampAddInterval", "Add") or len(sum_.children) != 2:
        return None
    gap = _uncast(sum_.children[1])
    return "session_window", column, (gap,)


def window_time(conversion: Node) -> Node | None:
    """Return the window of which this is the last microsecond."""
    difference = unwrapped(conversion.children[0])
    if difference.name != "Subtract" or _number(unwrapped(difference.children[1])) != 1:
        return None
    inner = unwrapped(difference.children[0])
    if inner.name != "PreciseTimestampConversion":
        return None
    end = unwrapped(inner.children[0])
    return end.children[0] if end.name == "GetStructField" else None


def _ends(struct: Node) -> tuple[Node, Node] | None:
    """Return the expressions of `start` and `end`, where the struct has just these."""
    parts = [unwrapped(one) for one in struct.children]
    if len(parts) != 4 or [parts[0].fields.get("value"), parts[2].fields.get("value")] != [
        "start",
        "end",
    ]:
        return None
    first, last = parts[1], parts[3]
    if {first.name, last.name} != {"PreciseTimestampConversion"}:
        return None
    return first, last


def _uncast(node: Node) -> Node:
    node = unwrapped(node)
    while node.name == "Cast":
        node = unwrapped(node.children[0])
    return node


def _number(node: Node) -> int | None:
    node = _uncast(node)
    value = node.fields.get("value")
    if node.name != "Literal" or not isinstance(value, str):
        return None
    return int(value) if value.lstrip("-").isdigit() else None
