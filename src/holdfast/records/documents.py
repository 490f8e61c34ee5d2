"""Writes records as JSON that is the same for the same record, and reads them back strictly.

A field that is not known is passed over: a newer Holdfast may have added it. A known one of the
wrong kind, or one that is missing and has no default, makes the document unreadable.
"""

from __future__ import annotations

import json
import math
import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from holdfast.answers import plain

Record = TypeVar("Record")


class UnreadableError(ValueError):
    """The bytes are not the document that they should be."""


def encode_document(document: Mapping[str, object]) -> bytes:
    """Return the bytes of a document: ASCII, names in order, one line."""
    return json.dumps(document, sort_keys=True, allow_nan=False).encode("ascii") + b"\n"


def document_of(record: object) -> dict[str, Any]:
    """Return a dataclass as plain data."""
    document = plain(record)
    if not isinstance(document, dict):
        raise TypeError(f"{type(record).__name__} is not a record")
    return document


def decode_document(kind: type[Record], content: bytes) -> Record:
    """Return the record that the bytes hold; raise UnreadableError where they don't."""
    try:
        document = json.loads(content.decode("utf-8"), parse_constant=_refused, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise UnreadableError("this is not JSON") from error
    record: Record = _decoded(kind, document, kind.__name__.lower())
    return record


def _refused(constant: str) -> object:
    raise UnreadableError(f"{constant} is not a number")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise UnreadableError("a number is too large")
    return value


def _decoded(kind: Any, value: object, name: str) -> Any:
    if get_origin(kind) in (Union, types.UnionType):
        return _optional(kind, value, name)
    if is_dataclass(kind):
        return _dataclass(kind, value, name)
    if get_origin(kind) is tuple:
        item = get_args(kind)[0]
        return tuple(_decoded(item, one, name) for one in _of_kind(list, value, name))
    if get_origin(kind) is not None:
        item = get_args(kind)[1]
        given = _of_kind(dict, value, name)
        return {key: _decoded(item, one, f"{name}.{key}") for key, one in given.items()}
    if issubclass(kind, Enum):
        return _member(kind, value, name)
    if kind is float and type(value) is int:
        return _finite(str(value))
    return _of_kind(kind, value, name)


def _optional(kind: Any, value: object, name: str) -> Any:
    if value is None:
        return None
    (inner,) = (one for one in get_args(kind) if one is not type(None))
    return _decoded(inner, value, name)


def _dataclass(kind: Any, value: object, name: str) -> Any:
    given = _of_kind(dict, value, name)
    decoded: dict[str, Any] = {}
    for field, hint, has_default in _fields(kind):
        if field in given:
            decoded[field] = _decoded(hint, given[field], f"{name}.{field}")
        elif not has_default:
            raise UnreadableError(f"{name}.{field} is missing")
    return kind(**decoded)


@cache
def _fields(kind: Any) -> tuple[tuple[str, Any, bool], ...]:
    hints = get_type_hints(kind)
    return tuple(
        (
            field.name,
            hints[field.name],
            field.default is not MISSING or field.default_factory is not MISSING,
        )
        for field in fields(kind)
    )


def _member(kind: type[Enum], value: object, name: str) -> Enum:
    try:
        return kind(value)
    except ValueError:
        raise UnreadableError(f"{name} has an unknown value") from None


def _of_kind(kind: type[Any], value: object, name: str) -> Any:
    # A truth value is an int to Python, and none here.
    if type(value) is not kind:
        raise UnreadableError(f"{name} is not of type {kind.__name__}")
    return value
