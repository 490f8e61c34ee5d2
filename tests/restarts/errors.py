"""Reads the chain of causes of a Spark error, without anything that changes between runs."""

import re
from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JError, Py4JJavaError

_WRAPPERS = ("STREAM_FAILED", "FOREACH_BATCH_USER_FUNCTION_ERROR")
_DEEPEST = 20
_CHANGING = (
    (re.compile(r"(file:)?/+tmp/[\w-]+/run-[\w-]+/(checkpoint|output)"), r"<\2>"),
    (re.compile(r"(file:)?/+tmp/[\w-]+/input"), "<input>"),
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "<uuid>"),
    (re.compile(r"(?<=@)[0-9a-f]{5,8}\b"), "<hash>"),
    (re.compile(r"\b1[0-9]{12}\b"), "<milliseconds>"),
    (re.compile(r"TID ?\d+"), "TID <number>"),
    (re.compile(r"stage \d+\.\d+"), "stage <number>"),
    (re.compile(r"/\S*/rocksdb-?\S*|/tmp/StateStoreId\S*"), "<local folder>"),
)


@dataclass(frozen=True)
class Cause:
    """One throwable of a chain."""

    kind: str
    condition: str | None
    message: str


def chain_of(error: Any) -> list[Cause]:
    """The causes of a Python error that came from Java, or of a Java throwable, outermost first."""
    throwable = _java(error)
    if throwable is None:
        return [Cause(type(error).__name__, None, stable(str(error)))]
    chain: list[Cause] = []
    while throwable is not None and len(chain) < _DEEPEST:
        chain.append(_cause(throwable))
        throwable = throwable.getCause()
    return chain


def decisive(chain: list[Cause]) -> Cause:
    """The innermost cause that has a condition, else the innermost cause."""
    with_condition = [cause for cause in chain if cause.condition not in (None, *_WRAPPERS)]
    return with_condition[-1] if with_condition else chain[-1]


def stable(message: str) -> str:
    """The first line of a message, with everything that changes between runs replaced."""
    first = message.strip().split("\n")[0]
    for pattern, replacement in _CHANGING:
        first = pattern.sub(replacement, first)
    return first[:600]


def _java(error: Any) -> Any:
    if isinstance(error, Py4JJavaError):
        return error.java_exception
    if isinstance(error, BaseException):
        return getattr(error, "_origin", None)
    return error


def _cause(throwable: Any) -> Cause:
    kind = throwable.getClass().getName()
    return Cause(kind, _condition(throwable), stable(throwable.getMessage() or ""))


def _condition(throwable: Any) -> str | None:
    for method in ("getCondition", "getErrorClass"):
        try:
            condition = getattr(throwable, method)()
        except Py4JError:
            continue
        return None if condition is None else str(condition)
    return None
