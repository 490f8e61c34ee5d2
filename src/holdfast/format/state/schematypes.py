"""Spark's JSON of a struct type: whether it is one, and its columns spelled as Spark's DDL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from holdfast.errors import DecodeError
from holdfast.format.strictjson import decode_json

_CODE = "HF2115"
_WHAT = "state schema"
_DDL_NAMES = {
    "byte": "tinyint",
    "short": "smallint",
    "integer": "int",
    "long": "bigint",
    "null": "void",
}


@dataclass(frozen=True)
class Column:
    """One column of a schema; names may repeat within one."""

    name: str
    type_text: str
    """As Spark's DDL spells it, such as struct<a:int> or decimal(10,2)."""
    nullable: bool


def columns(schema_json: str) -> tuple[Column, ...]:
    """Give the columns of a struct type's JSON; raise DecodeError where it is not one."""
    try:
        return _columns(decode_json(schema_json, what=_WHAT))
    except DecodeError as error:
        # A place inside of the text says nothing of the file that holds it.
        raise DecodeError(_CODE, error.message) from error


def _columns(schema: object) -> tuple[Column, ...]:
    if not isinstance(schema, dict) or schema.get("type") != "struct":
        raise DecodeError(_CODE, f"{_WHAT}: this is not the JSON of a struct type")
    fields = schema.get("fields")
    if not isinstance(fields, list):
        raise DecodeError(_CODE, f"{_WHAT}: a struct type has no list of fields")
    return tuple(map(_column, fields))


def _column(field: object) -> Column:
    if isinstance(field, dict):
        name, nullable = field.get("name"), field.get("nullable")
        if isinstance(name, str) and isinstance(nullable, bool):
            return Column(name, _type_text(field.get("type")), nullable)
    raise DecodeError(_CODE, f"{_WHAT}: a field lacks its name or whether it is nullable")


def _type_text(kind: object) -> str:
    if isinstance(kind, str):
        return _DDL_NAMES.get(kind, kind)
    if isinstance(kind, dict):
        return _nested_text(kind)
    raise DecodeError(_CODE, f"{_WHAT}: a field has no type")


def _nested_text(kind: Mapping[str, object]) -> str:
    name = kind.get("type")
    if name == "struct":
        inner = ",".join(f"{column.name}:{column.type_text}" for column in _columns(kind))
        return f"struct<{inner}>"
    if name == "array":
        return f"array<{_type_text(kind.get('elementType'))}>"
    if name == "map":
        return f"map<{_type_text(kind.get('keyType'))},{_type_text(kind.get('valueType'))}>"
    if name == "udt":
        return _type_text(kind.get("sqlType"))
    raise DecodeError(_CODE, f"{_WHAT}: the type {name!r} is not known")
