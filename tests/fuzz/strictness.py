"""Text and JSON as strictly as Spark writes them, for the oracle of grammar."""

from __future__ import annotations

import json
from typing import Any, NoReturn

DEEPEST = 200


class BrokenError(Exception):
    """Bytes that Spark does not write there."""


def strict_text(data: bytes) -> str:
    """Decode UTF-8 without zero bytes, carriage returns and byte order marks."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BrokenError("not UTF-8") from error
    if not text or "\0" in text or "\r" in text or text.startswith("\ufeff"):
        raise BrokenError("empty, or a character that Spark never writes")
    return text


def strict_json(text: str) -> Any:
    """Decode JSON without repeated keys, odd constants, half characters and deep nesting."""
    try:
        value = json.loads(
            text, object_pairs_hook=_pairs, parse_constant=_constant, parse_float=_fraction
        )
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError) as error:
        raise BrokenError("no JSON") from error
    if _depth(text) > DEEPEST:
        raise BrokenError("too deep")
    return value


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise BrokenError("a key stands twice")
    return dict(pairs)


def _constant(name: str) -> NoReturn:
    raise BrokenError(name)


def _fraction(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise BrokenError("a number too large")
    return value


def _depth(text: str) -> int:
    deepest = depth = 0
    quoted = escaped = False
    for character in text:
        if quoted:
            quoted = escaped or character != '"'
            escaped = character == "\\" and not escaped
        elif character == '"':
            quoted = True
        elif character in "{[":
            depth += 1
            deepest = max(deepest, depth)
        elif character in "}]":
            depth -= 1
    return deepest
