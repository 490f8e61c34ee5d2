"""Constants in expressions, with their types where their texts do not show them. Pure."""

from __future__ import annotations

import re

from holdfast.spark.facts.plan.windows import duration
from holdfast.spark.facts.texts import without_secrets

BYTES = "bytes:"
"""How the value of a constant begins whose bytes were asked for."""
_DIGITS = 15
"""With so many a number is the same double whichever way it is converted."""
_IDENTITY_HASH = re.compile(r"@[0-9a-f]{1,16}\b")
_NUMBERS = {"tinyint": "Y", "smallint": "S", "int": "", "bigint": "L", "float": "F", "double": "D"}
_WHOLE = ("tinyint", "smallint", "int", "bigint")
"""From the narrowest to the widest."""


def literal(value: object, kind: str, hidden: set[str] | None = None) -> str:
    """Return the text of a constant with its type, where the text alone does not show it."""
    if value is None:
        return "NULL" if kind == "void" else f"CAST(NULL AS {kind})"
    text = str(value)
    if kind in _NUMBERS:
        return f"{repr(float(text)) if kind == 'double' else text}{_NUMBERS[kind]}"
    if kind == "boolean":
        return text
    if kind.startswith("interval ") and text.lstrip("-").isdigit():
        months = "year" in kind or "month" in kind
        return f"INTERVAL '{text} months'" if months else f"INTERVAL {duration(int(text))}"
    if kind.startswith("decimal"):
        return f"{text}BD"
    if kind.startswith("string") or kind == "varchar":
        return f"'{without_secrets(text)}'" if "'" not in text else repr(without_secrets(text))
    return _quoted(text, kind, hidden)


def _quoted(text: str, kind: str, hidden: set[str] | None) -> str:
    if kind == "binary" and text.startswith(BYTES):
        return f"X'{text.removeprefix(BYTES)}'"
    if kind == "binary" or "@" in text:
        if hidden is not None:
            hidden.add(f"a constant of type {kind}")
        text = _IDENTITY_HASH.sub("", text)
    quoted = text if text.endswith("'") else f"'{text}'"
    return quoted if quoted.upper().startswith(kind.upper()) else f"{kind.upper()} {quoted}"


def folds(value: object, kind: str, target: str) -> bool:
    """Tell whether Spark's cast of a constant gives the same digits with another type."""
    if value is None or kind == target:
        return True
    if target == "double" and (kind in _WHOLE or kind.startswith("decimal")):
        return sum(one.isdigit() for one in str(value)) <= _DIGITS and "E" not in str(value)
    if kind not in _WHOLE or target not in _WHOLE:
        return False
    return _WHOLE.index(kind) <= _WHOLE.index(target)
