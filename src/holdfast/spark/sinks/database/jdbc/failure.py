"""Tells what a JDBC driver raised: lost, contended or refused; no values of rows, no secrets."""

from __future__ import annotations

import re
from typing import Any

from holdfast.redaction import excerpt, redact

_LONGEST = 300
_LOST_CLASSES = (
    "java.sql.SQLNonTransientConnectionException",
    "java.sql.SQLTransientConnectionException",
    "java.sql.SQLRecoverableException",
)
_LOST_STATES = ("08", "57P0")
_CONTENDED_CLASSES = ("java.sql.SQLTransientException",)
_CONTENDED_STATES = ("40", "55P03", "57014", "HYT00")
_DUPLICATE_STATES = ("23",)
# `Value too long for column …: "'…' (4)"` and `Key (k)=(…)` end with what stood in the row.
_VALUE = re.compile(r':\s*["\'].*|\(.*?\)=\(.*|; SQL statement.*', re.DOTALL)
_TEXT = re.compile(r"'[^']*'")


class JdbcFailure(Exception):  # noqa: N818 - never leaves the sink
    """What a driver raised, in words that may be shown."""

    def __init__(self, words: str, *, lost: bool, contended: bool, duplicate: bool) -> None:
        super().__init__(words)
        self.words = words
        self.lost = lost
        """The connection is gone: what became of a commit is unknown."""
        self.contended = contended
        """Other transactions were in the way; tried again it may pass."""
        self.duplicate = duplicate
        """A unique or other constraint was hurt."""

    def as_contended(self) -> JdbcFailure:
        """Give the same failure as one of other transactions in the way."""
        return JdbcFailure(self.words, lost=False, contended=True, duplicate=self.duplicate)


def failure_of(thrown: Any) -> JdbcFailure:
    """Judge what Java threw; `thrown` is the Java object."""
    found = sql_exception_in(thrown)
    if found is None:
        words = shown(f"{thrown.getClass().getSimpleName()}: {thrown.getMessage()}")
        return JdbcFailure(words, lost=False, contended=False, duplicate=False)
    state = str(found.getSQLState() or "")
    classes = _classes(found)
    lost = state.startswith(_LOST_STATES) or not classes.isdisjoint(_LOST_CLASSES)
    contended = state.startswith(_CONTENDED_STATES) or not classes.isdisjoint(_CONTENDED_CLASSES)
    return JdbcFailure(
        shown(str(found.getMessage())),
        lost=lost,
        contended=contended and not lost,
        duplicate=state.startswith(_DUPLICATE_STATES),
    )


def sql_exception_in(thrown: Any) -> Any | None:
    """Give the innermost exception of a database among the causes, None where there is none."""
    found = None
    while thrown is not None:
        if "java.sql.SQLException" in _classes(thrown):
            found = thrown
        thrown = thrown.getCause()
    return found


def shown(message: str) -> str:
    """Give a driver's message in one line: no values of rows, no secrets."""
    line = message.strip().partition("\n")[0]
    return excerpt(redact(_TEXT.sub("'…'", _VALUE.sub("", line))), _LONGEST)


def _classes(thrown: Any) -> frozenset[str]:
    names, one = set(), thrown.getClass()
    while one is not None:
        names.add(str(one.getName()))
        one = one.getSuperclass()
    return frozenset(names)
