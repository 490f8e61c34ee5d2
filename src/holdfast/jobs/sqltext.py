"""What the text of a SQL query says without Spark: tokens, sources, joins and shape.

It is a reader of tokens, not a parser: where a query says it in a way that is not understood, the
answer is None.

Only statements without subqueries, common table expressions and the like have a shape.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import pairwise

from holdfast.jobs.queryshape import (
    AGGREGATION,
    BUFFERS,
    SCALARS,
    UNCERTAIN,
    QueryShape,
    buffers_of,
    words,
)

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
    """Return whether this FROM is the one of IS DISTINCT FROM."""
    before = [_keyword(one) for one in tokens[max(0, at - 3) : at]]
    return before[-2:] == ["is", "distinct"] or before == ["is", "not", "distinct"]


_KEYWORDS = words(
    "all and as asc between by case cross cube desc distinct else end except exists false from "
    "full group having in inner intersect interval is join lateral left like limit minus not "
    "null on or order outer over pivot qualify right rollup select semi sets anti stream then "
    "true union unpivot using values when where with window"
)
_NOT_PLAIN = words(
    "cube distinct except exists grouping intersect lateral limit minus over pivot qualify rollup "
    "stream tablesample unpivot values with"
)
_ENDS_FROM_OF_SHAPE = frozenset(("where", "group", "having", "order", "union"))
_BEFORE_CALLS = frozenset(("in", "and", "or", "not", "on", "when", "then", "else", "as", "where",
                           "select", "by", "filter", "decimal", "varchar", "char", "using",
                           "from", "join", "case", "all", "having", "between", "is"))  # fmt: skip


def sql_shape(text: str, sources: Collection[str]) -> QueryShape:
    """Return what is certain of a statement over these sources."""
    tokens = tuple(tokens_of(text))
    spoken = {one.text for one in tokens if one.kind == "word"}
    if spoken & _NOT_PLAIN or any(one.text == "select" and one.depth for one in tokens):
        return UNCERTAIN
    if _has_plain_union(tokens):
        return UNCERTAIN
    read = tuple(_read_names(tokens))
    order = read if sorted(read) == sorted(one.lower() for one in sources) else None
    spelled = {one.lower(): one for one in sources}
    named = None if order is None else tuple(spelled[one] for one in order)
    if order is None or "union" in spoken or len(order) != 1:
        return QueryShape(sources=named)
    return _of_one_select(tokens, named)


def _of_one_select(tokens: tuple[Token, ...], sources: tuple[str, ...] | None) -> QueryShape:
    functions = frozenset(_functions(tokens))
    grouped = any(
        one.text == "group" and one.kind == "word" and following.text == "by"
        for one, following in pairwise(tokens)
    )
    if grouped and "session_window" not in functions:
        return QueryShape(sources, (AGGREGATION,), _keys(tokens), buffers_of(functions))
    having = any(one.text == "having" for one in tokens)
    if grouped or having or not functions <= SCALARS | BUFFERS.keys():
        return QueryShape(sources)
    if functions & BUFFERS.keys():
        return QueryShape(sources, (AGGREGATION,), frozenset(), buffers_of(functions))
    return QueryShape(sources, ())


def _is_name(token: Token) -> bool:
    return token.kind == "quoted" or (token.kind == "word" and token.text not in _KEYWORDS)


def _has_plain_union(tokens: tuple[Token, ...]) -> bool:
    pairs = pairwise((*tokens, END))
    return any(one.text == "union" and after.text != "all" for one, after in pairs)


def _read_names(tokens: tuple[Token, ...]) -> Iterator[str]:
    """Yield what stands after FROM, JOIN and the commas between; "" for anything but a name."""
    in_from = expected = False
    for one, after in pairwise((*tokens, END)):
        if one.depth:
            continue
        if expected:
            yield one.text if _is_name(one) and after.text not in (".", "(") else ""
            expected = False
        elif one.kind == "word" and one.text in ("from", "join"):
            in_from = expected = True
        elif one.kind == "word" and one.text in _ENDS_FROM_OF_SHAPE:
            in_from = False
        elif in_from and one.text == ",":
            expected = True


def _functions(tokens: tuple[Token, ...]) -> Iterator[str]:
    for one, after in pairwise(tokens):
        if after.text == "(" and one.kind in ("word", "quoted") and one.text not in _BEFORE_CALLS:
            yield one.text


def _keys(tokens: tuple[Token, ...]) -> frozenset[str] | None:
    """Return the columns after GROUP BY; None where one of them is more than a column's name."""
    start = next(at for at, one in enumerate(tokens) if one.text == "group") + 2
    listed: list[list[Token]] = [[]]
    for one in tokens[start:]:
        if one.depth == 0 and one.kind == "word" and one.text in ("having", "order"):
            break
        if one.text == "," and one.depth == 0:
            listed.append([])
        else:
            listed[-1].append(one)
    aliases = _aliases(tokens)
    names = [_column(item) for item in listed]
    if any(name is None or name in aliases for name in names):
        return None
    return frozenset(name for name in names if name is not None)


def _column(item: list[Token]) -> str | None:
    """Return the name of a column, also behind the name of its source; None for anything else."""
    parts = [one for one in item if one.text != "."]
    dots = len(item) - len(parts)
    if not all(_is_name(one) for one in parts) or len(parts) != dots + 1 or len(parts) > 2:
        return None
    return parts[-1].text


def _aliases(tokens: tuple[Token, ...]) -> frozenset[str]:
    """Return every name that is given to an expression, with AS or without it."""
    found = set()
    for before, one in pairwise(tokens):
        ends = before.kind in ("text", "number", "quoted") or before.text in (")", "as", "end")
        if _is_name(one) and (ends or _is_name(before)):
            found.add(one.text)
    return frozenset(found)
