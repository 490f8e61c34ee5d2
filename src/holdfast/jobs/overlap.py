"""Tells whether one place lies inside of another, also where a source names several with a pattern.

Places are canonical texts (storage/canonical.py). A pattern is Hadoop's: `*`, `?`, `[ab]`, `[^ab]`
and `{one,other}` within a part; it never spans a slash.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

_SPECIAL = frozenset("*?[{")


def lies_inside(inner: str, outer: str) -> bool:
    """Whether a place is the other one or lies below it; either may be a pattern."""
    parts, around = _parts(inner), _parts(outer)
    return len(parts) >= len(around) and all(map(_may_meet, parts, around))


def overlaps(places: Sequence[str]) -> list[tuple[int, int]]:
    """Give every pair, as positions of the inner and the outer one; equal places pair up once.

    Plain places are looked up by the folders above them, so that hundreds cost next to nothing;
    only patterns are compared one by one.
    """
    split = [_parts(place) for place in places]
    patterns = {one for one, parts in enumerate(split) if any(map(_is_pattern, parts))}
    at: dict[tuple[str, ...], list[int]] = {}
    for position, parts in enumerate(split):
        if position not in patterns:
            at.setdefault(parts, []).append(position)
    pairs = {
        (inner, outer)
        for parts, inners in at.items()
        for length in range(1, len(parts) + 1)
        for outer in at.get(parts[:length], ())
        for inner in inners
    }
    for pattern in patterns:
        for other, place in enumerate(places):
            pairs |= {(pattern, other)} if lies_inside(places[pattern], place) else set()
            pairs |= {(other, pattern)} if lies_inside(place, places[pattern]) else set()
    return sorted(
        (one, two) for one, two in pairs if one != two and not (one > two and (two, one) in pairs)
    )


def parts_between(inner: str, outer: str) -> tuple[str, ...]:
    """Give the parts of the path that lead from the outer place down to the inner one."""
    return _parts(inner)[len(_parts(outer)) :]


def _parts(place: str) -> tuple[str, ...]:
    scheme, colon, rest = place.partition(":")
    host = ""
    if rest.startswith("//"):
        host, _, rest = rest[2:].partition("/")
    return (f"{scheme}{colon}//{host}", *(part for part in rest.split("/") if part))


def _may_meet(one: str, other: str) -> bool:
    """Whether two parts are equal, or one is a pattern that the other fits (or a pattern too)."""
    if one == other:
        return True
    if _is_pattern(one):
        return _is_pattern(other) or bool(_pattern(one).fullmatch(other))
    return _is_pattern(other) and bool(_pattern(other).fullmatch(one))


def _is_pattern(part: str) -> bool:
    return not _SPECIAL.isdisjoint(part) and "${" not in part


@lru_cache(maxsize=256)
def _pattern(part: str) -> re.Pattern[str]:
    """Translate Hadoop's pattern; one that is broken fits nothing but itself."""
    try:
        return re.compile("".join(map(_translated, _TOKEN.findall(part))), re.DOTALL)
    except re.error:
        return re.compile(re.escape(part))


_TOKEN = re.compile(r"\\.|\[[^\]]+\]|.", re.DOTALL)


def _translated(token: str) -> str:
    if len(token) > 1:
        return token if token[0] == "\\" else "[" + token[1:].replace("[", r"\[")
    return {"*": ".*", "?": ".", "{": "(?:", "}": ")", ",": "|"}.get(token, re.escape(token))
