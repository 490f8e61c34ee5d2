"""Words for people: number and noun that agree, the nearest name, ids as ranges, how to install."""

from __future__ import annotations

from collections.abc import Iterable


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number of things: `1 row`, `12,345 rows`, `2 batches`."""
    return f"{number:,} {noun if number == 1 else plural or _plural(noun)}"


def measured(number: int, units: str) -> str:
    """Return an amount of a unit that is named in the plural: `1 record`, `5 records`."""
    return f"{number:,} {units.removesuffix('s') if number == 1 else units}"


def _plural(noun: str) -> str:
    if noun.endswith(("ch", "sh", "s", "x")):
        return f"{noun}es"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}s"


LOOSE = 0.5
"""How alike two names are where nothing but a misspelling is likely; 1.0 is the same name."""
CLOSE = 0.8
"""How alike they are where an unknown name may well be meant as it stands."""


def nearest(name: str, known: Iterable[str], likeness: float = LOOSE) -> str | None:
    """Return the known name that is most like this one, in any case; None where none is."""
    # Imported by whoever met a misspelling.
    from difflib import get_close_matches

    spelled = {one.lower(): one for one in known}
    found = get_close_matches(name.lower(), spelled, n=1, cutoff=likeness)
    return spelled[found[0]] if found else None


def id_ranges(ids: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Fold ascending ids into inclusive ranges.

    >>> id_ranges([0, 1, 2, 5])
    ((0, 2), (5, 5))
    """
    ranges: list[tuple[int, int]] = []
    for one in ids:
        if ranges and one == ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], one)
        else:
            ranges.append((one, one))
    return tuple(ranges)


def pip_line(extra: str) -> str:
    """Return what to type to install an extra; Holdfast is on no package index yet."""
    return f'pip install ".[{extra}]" in a clone of Holdfast'
