"""Writes a number of things so that noun and number agree."""

from __future__ import annotations


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
