"""What the text of a query says without Spark: how often it uses its sources, and how it joins.

It is a reader of tokens, not a parser: where a query says it in a way that is not understood, the
answer is None.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from holdfast.jobs.sqltokens import END, Token, tokens_of

_ENDS_FROM = frozenset(
    {"where", "group", "having", "order", "sort", "cluster", "distribute", "limit", "window",
     "union", "except", "minus", "intersect", "lateral", "pivot", "unpivot", "tablesample"}
)  # fmt: skip
_NOT_UNDERSTOOD = frozenset({"table", "stream"})
_GROUPINGS = frozenset({"rollup", "cube"})
_BEFORE_JOIN = frozenset({"inner", "cross", "left", "right", "full", "outer", "semi", "anti"})
_NOT_INNER = frozenset({"left", "right", "full", "outer", "semi", "anti"})


@dataclass
class _Level:
    """What was seen between one pair of parentheses."""

    selects: bool = False
    lists_relations: bool = False


def source_uses(sql: str, sources: Collection[str]) -> int | None:
    """Return how many streams Spark will count: every use of a source is one; None if unknown."""
    names = {name.lower() for name in sources}
    tokens = [*tokens_of(sql), END]
    levels, expects, uses = [_Level()], False, 0
    for at, token in enumerate(tokens):
        word, level = _keyword(token), levels[-1]
        if word in _NOT_UNDERSTOOD or (word == "with" and not _groups(tokens[at + 1])):
            return None
        if word == "(":
            levels.append(_Level(lists_relations=expects))
        elif word == ")" and len(levels) > 1:
            levels.pop()
            expects = False
        elif word == "select":
            level.selects, level.lists_relations, expects = True, False, False
        elif word == "from" and level.selects and not _compares(tokens, at):
            level.lists_relations = expects = True
        elif word == "join" or (word == "," and level.lists_relations):
            expects = True
        elif word in _ENDS_FROM:
            level.lists_relations = expects = False
        elif expects:
            # A name with a dot is a table of a catalogue, whatever it begins with.
            uses += token.text in names and tokens[at + 1].text != "."
            expects = False
    return uses


def joins_outer(sql: str) -> bool | None:
    """Return whether every join of a query is other than inner; None if there is none or both."""
    tokens = [*tokens_of(sql)]
    kinds: set[bool] = set()
    for at, token in enumerate(tokens):
        if _keyword(token) == "join":
            kinds.add(bool(_NOT_INNER & set(_words_before(tokens, at))))
    return kinds.pop() if len(kinds) == 1 else None


def _keyword(token: Token) -> str:
    """Return a word or sign; empty for a quoted name or a text, which is never a keyword."""
    return token.text if token.kind in ("word", "sign") else ""


def _words_before(tokens: list[Token], at: int) -> Iterator[str]:
    while at > 0 and _keyword(tokens[at - 1]) in _BEFORE_JOIN:
        at -= 1
        yield _keyword(tokens[at])


def _groups(following: Token) -> bool:
    return _keyword(following) in _GROUPINGS


def _compares(tokens: list[Token], at: int) -> bool:
    """Tell whether this FROM is the one of IS DISTINCT FROM."""
    before = [_keyword(one) for one in tokens[max(0, at - 3) : at]]
    return before[-2:] == ["is", "distinct"] or before == ["is", "not", "distinct"]
