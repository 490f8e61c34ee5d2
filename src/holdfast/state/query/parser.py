"""The text of a condition such as `count > 10 and device = 'a'`, parsed into a tree.

    condition   any of: `or` of conditions, `and` of conditions, `not` condition, ( condition )
    comparison  column = != <> < <= > >= literal · column [not] in (literal, …)
                column [not] like 'text%' · column is [not] null
    column      name, or names with dots between; `any name` in backticks
    literal     number, 'text' or "text" (a quote inside is doubled), true, false

Nothing is evaluated here, and nothing is ever handed to Python to evaluate.

Not sqlglot's parser: it takes three times as long to import as this takes with all that it needs,
gives a literal no position for the message, reads `'it''s'` as the text `its` in Spark's dialect
and refuses a column such as `a$b`. What it accepts is a language (functions, subqueries, comments,
several statements), every part of which would have to be found and refused here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn

from holdfast.errors import UsageError

_TOKEN = re.compile(
    r"(?P<space>\s+)"
    r"|(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w#$]))"
    r"|(?P<text>'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\")"
    r"|(?P<quoted>`[^`]+`)"
    r"|(?P<name>[^\W\d][\w#$]*)"
    r"|(?P<symbol><=|>=|!=|<>|==|[=<>(),.])"
)
_COMPARING = {"=": "=", "==": "=", "!=": "!=", "<>": "!=", "<": "<", "<=": "<=", ">": ">",
              ">=": ">="}  # fmt: skip
_WORDS = frozenset({"and", "or", "not", "in", "like", "is", "null", "true", "false"})
_DEEPEST = 50


@dataclass(frozen=True)
class ColumnPath:
    """A column, by the names that lead to it."""

    path: tuple[str, ...]
    at: int

    def __str__(self) -> str:
        return ".".join(self.path)


@dataclass(frozen=True)
class Literal:
    """A value; a number keeps its text, because a decimal column takes every digit."""

    value: bool | int | float | str
    text: str
    at: int


@dataclass(frozen=True)
class ColumnComparison:
    """A column held against a literal."""

    column: ColumnPath
    operator: str
    literal: Literal


@dataclass(frozen=True)
class Membership:
    """A column that has one of some values."""

    column: ColumnPath
    literals: tuple[Literal, ...]


@dataclass(frozen=True)
class IsNull:
    """A column that has no value."""

    column: ColumnPath


@dataclass(frozen=True)
class Not:
    """The contrary."""

    inner: Tree


@dataclass(frozen=True)
class Joined:
    """Several conditions, joined by `and` or by `or`."""

    word: str
    parts: tuple[Tree, ...]


Tree = ColumnComparison | Membership | IsNull | Not | Joined


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    at: int

    @property
    def word(self) -> str:
        """The keyword that this is, or nothing."""
        lowered = self.text.lower()
        return lowered if self.kind == "name" and lowered in _WORDS else ""


def parse_condition(text: str) -> Tree:
    """Parse a condition; raise HF2771 with the character, counted from 1, where it goes wrong."""
    parser = _Parser(text, _tokens(text))
    tree = parser.joined("or", 0)
    parser.expect_end()
    return tree


def refuse(text: str, at: int, message: str) -> NoReturn:
    """Raise the error for a place in a condition; `at` counts from 0."""
    place = f"character {at + 1} of the condition {text}"
    raise UsageError("HF2771", f"at character {at + 1}: {message}", at=place)


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            unfinished = "this quote is not closed" if text[at] in "'\"`" else ""
            refuse(text, at, unfinished or f"unexpected character {text[at]!r}")
        if match.lastgroup != "space":
            found.append(_Token(match.lastgroup or "", match.group(), at))
        at = match.end()
    return [*found, _Token("end", "", len(text))]


class _Parser:
    def __init__(self, text: str, tokens: list[_Token]) -> None:
        self._text = text
        self._tokens = tokens
        self._next = 0

    def joined(self, word: str, depth: int) -> Tree:
        parts = [self._part(word, depth)]
        while self._take_word(word):
            parts.append(self._part(word, depth))
        return parts[0] if len(parts) == 1 else Joined(word, tuple(parts))

    def expect_end(self) -> None:
        if self._peek.kind != "end":
            self._refuse(f"`and`, `or` or the end is expected, not {self._peek.text}")

    def _part(self, word: str, depth: int) -> Tree:
        return self.joined("and", depth) if word == "or" else self._negated(depth)

    def _negated(self, depth: int) -> Tree:
        if depth > _DEEPEST:
            self._refuse("this is nested too deeply")
        if self._take_word("not"):
            return Not(self._negated(depth + 1))
        if not self._take_symbol("("):
            return self._comparison()
        inner = self.joined("or", depth + 1)
        self._expect_symbol(")")
        return inner

    def _comparison(self) -> Tree:
        column = self._column()
        if self._take_word("is"):
            negated = self._take_word("not")
            if not self._take_word("null"):
                self._refuse("`null` is expected after `is`")
            return Not(IsNull(column)) if negated else IsNull(column)
        negated = self._take_word("not")
        if self._take_word("in"):
            found: Tree = Membership(column, self._literals())
        elif self._take_word("like"):
            found = ColumnComparison(column, "like", self._pattern())
        elif self._peek.text in _COMPARING and not negated:
            found = ColumnComparison(column, _COMPARING[self._take().text], self._literal())
        else:
            self._refuse("a comparison is expected: = != < <= > >=, in, like, is null")
        return Not(found) if negated else found

    def _column(self) -> ColumnPath:
        at = self._peek.at
        names = [self._name()]
        while self._take_symbol("."):
            names.append(self._name())
        return ColumnPath(tuple(names), at)

    def _name(self) -> str:
        token = self._peek
        if token.kind not in ("name", "quoted") or token.word:
            self._refuse(f"a column is expected, not {token.text or 'the end'}")
        return self._take().text.strip("`")

    def _literals(self) -> tuple[Literal, ...]:
        self._expect_symbol("(")
        found = [self._literal()]
        while self._take_symbol(","):
            found.append(self._literal())
        self._expect_symbol(")")
        return tuple(found)

    def _pattern(self) -> Literal:
        if self._peek.kind != "text":
            self._refuse("a quoted string is expected after `like`")
        return self._literal()

    def _literal(self) -> Literal:
        token = self._peek
        if token.kind == "number":
            whole = re.fullmatch(r"[-+]?\d{1,40}", token.text)
            value = int(token.text) if whole else float(token.text)
            return Literal(value, token.text, self._take().at)
        if token.kind == "text":
            quote = token.text[0]
            value_text = token.text[1:-1].replace(quote * 2, quote)
            return Literal(value_text, value_text, self._take().at)
        if token.word in ("true", "false"):
            return Literal(token.word == "true", token.word, self._take().at)
        return self._no_literal(token)

    def _no_literal(self, token: _Token) -> NoReturn:
        hint = "; for no value, write `is null`" if token.word == "null" else ""
        hint = hint or ("; strings must be quoted" if token.kind == "name" else "")
        self._refuse(f"a value is expected, not {token.text or 'the end'}{hint}")

    @property
    def _peek(self) -> _Token:
        return self._tokens[self._next]

    def _take(self) -> _Token:
        self._next += 1
        return self._tokens[self._next - 1]

    def _take_word(self, word: str) -> bool:
        found = self._peek.word == word
        self._next += found
        return found

    def _take_symbol(self, symbol: str) -> bool:
        found = self._peek.kind == "symbol" and self._peek.text == symbol
        self._next += found
        return found

    def _expect_symbol(self, symbol: str) -> None:
        if not self._take_symbol(symbol):
            self._refuse(f"{symbol} is expected, not {self._peek.text or 'the end'}")

    def _refuse(self, message: str) -> NoReturn:
        refuse(self._text, self._peek.at, message)
