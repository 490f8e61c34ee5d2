"""Splits the text of a query into tokens; comments and blanks are left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""(?P<blank>\s+|--[^\n]*|/\*.*?\*/)
      | (?P<text>'(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*")
      | `(?P<quoted>[^`]+)`
      | (?P<number>[0-9][0-9.]*)
      | (?P<word>[^\W0-9]\w*)
      | (?P<sign>.)""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class Token:
    """One token; words and quoted names are in small letters."""

    kind: str
    """`text`, `quoted`, `number`, `word` or `sign`."""
    text: str
    depth: int = 0
    """How many parentheses are open around it."""


END = Token("sign", "")


def tokens_of(text: str) -> Iterator[Token]:
    """Yield the tokens of a statement without its semicolons."""
    depth = 0
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "sign"
        found = match[kind]
        if kind == "blank" or found == ";":
            continue
        depth -= found == ")" and kind == "sign"
        yield Token(kind, found.lower() if kind in ("word", "quoted") else found, depth)
        depth += found == "(" and kind == "sign"
