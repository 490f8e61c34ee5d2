"""Small pieces of Markdown that every generated page is built from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

NOTICE = "<!-- Written by `python -m docs.generate`; do not edit. -->"


def page(title: str, *parts: str) -> str:
    """Return a whole page: the notice, the title, the parts with a blank line between."""
    return "\n\n".join([NOTICE, f"# {title}", *parts]) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; a bar inside of a cell is escaped."""
    lines = [_row(head), _row(["---"] * len(head)), *(_row(one) for one in rows)]
    return "\n".join(lines)


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def code(text: str) -> str:
    """Set a text as code."""
    return f"`{text}`"


def sentence(text: str) -> str:
    """Begin with a capital, end with a full stop; names such as `offsets/` keep their letter."""
    text = " ".join(text.split())
    first, _, rest = text.partition(" ")
    if first == "holdfast" and all(word.startswith("-") for word in rest.split()):
        return code(text)
    is_name = any(sign in first for sign in "/_.") or first in ("metadata", "holdfast")
    capital = text if is_name else text[:1].upper() + text[1:]
    return capital if capital.endswith((".", "!", "?")) else f"{capital}."
