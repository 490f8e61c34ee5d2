"""The page of results: every field of every command's JSON, from the dataclasses."""

from __future__ import annotations

import collections.abc
import dataclasses
import types
import typing
from enum import Enum

from docs.generating.envelope import ENVELOPE, ERROR, FINDING
from docs.generating.markdown import code, page, table
from docs.generating.resulttypes import RESULTS, meanings, types_within

_PLAIN = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    object: "any JSON value",
    type(None): "null",
}


def results_page() -> str:
    """Return the page: the document around every result, then the result of each command."""
    intro = (
        "`--json` prints exactly one document on standard output, also when an error stops the "
        "command. Fields are added, never renamed or removed. Numbers have their unit in the field "
        "name; `…_ms` is milliseconds since 1970 in UTC. There is a JSON Schema for "
        + ", ".join(f"[{name}](schemas/{name}.json)" for name in RESULTS)
        + "."
    )
    around = ("## The document", _by_hand(ENVELOPE), "### A finding", _by_hand(FINDING))
    error = ("### An error", _by_hand(ERROR))
    parts = [part for name in RESULTS for part in _result(name)]
    return page("Results", intro, *around, *error, *parts)


def _by_hand(fields: dict[str, tuple[dict[str, object], str]]) -> str:
    rows = ((code(name), _kind(schema), text) for name, (schema, text) in fields.items())
    return table(("field", "type", "meaning"), rows)


def _kind(schema: dict[str, object]) -> str:
    names = schema.get("type", "one of" if "enum" in schema else "anything")
    values = schema.get("enum")
    if isinstance(values, list):
        return " or ".join(code(str(one)) for one in values)
    return " or ".join(names) if isinstance(names, list) else str(names)


def _result(name: str) -> list[str]:
    parts = [f"## {name}: result"]
    for at, cls in enumerate(types_within(RESULTS[name])):
        if at:
            parts.append(f"### {name}: {cls.__name__}")
        parts.append((cls.__doc__ or "").strip().partition("\n")[0])
        parts.append(_values(cls) if issubclass(cls, Enum) else _fields(cls))
    return parts


def _values(cls: type[Enum]) -> str:
    docs = meanings(cls)
    rows = ((code(str(one.value)), docs.get(one.name, "")) for one in cls)
    return table(("value", "meaning"), rows)


def _fields(cls: type) -> str:
    hints, docs = typing.get_type_hints(cls), meanings(cls)
    rows = (
        (code(one.name), type_text(hints[one.name]), docs.get(one.name, ""))
        for one in dataclasses.fields(cls)
    )
    return table(("field", "type", "meaning"), rows)


def type_text(hint: object) -> str:
    """Describe the JSON values that a field can have."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(type_text(one) for one in arguments)
    if origin is tuple and arguments[-1:] == (Ellipsis,):
        return f"list of {type_text(arguments[0])}"
    if origin is tuple:
        return f"[{', '.join(type_text(one) for one in arguments)}]"
    if origin in (collections.abc.Mapping, dict):
        return f"object of {type_text(arguments[1])}"
    if isinstance(hint, type):
        return _PLAIN.get(hint, hint.__name__)
    raise TypeError(f"no words for {hint!r}")
