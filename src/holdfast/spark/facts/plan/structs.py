"""Fields of structs that a query makes itself, led back to what they were made of. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.records.facts import CUT

_MADE = "named_struct("


def unpacked(text: str, field: str) -> str | None:
    """Return what a struct's normal form has as a field; None where the text does not show it."""
    if not text.startswith(_MADE) or not text.endswith(")") or CUT in text:
        return None
    parts = list(_arguments(text[len(_MADE) : -1]))
    if len(parts) % 2 or text.count("\\"):
        return None
    found = [value for name, value in zip(parts[::2], parts[1::2], strict=True)
             if name == f"'{field}'"]  # fmt: skip
    return found[0] if len(found) == 1 else None


def _arguments(text: str) -> Iterator[str]:
    """Yield the arguments of a call; commas in parentheses and in texts are theirs."""
    depth, start, quote = 0, 0, ""
    for place, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
            if depth < 0:
                return
        elif letter == "," and depth == 0:
            yield text[start:place].strip()
            start = place + 1
    yield text[start:].strip()
