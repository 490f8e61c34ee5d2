"""State schema files (v1 to v3), and their columns spelled as Spark's DDL."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from holdfast.errors import DecodeError
from holdfast.format.logs.log import decode_version
from holdfast.format.state.javadata import (
    JavaInput,
    encode_int,
    encode_short,
    encode_text,
    java_units,
)
from holdfast.format.strictjson import decode_json, decode_object

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
    """Return the columns of a struct type's JSON; raise DecodeError where it is not one."""
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
            return Column(name, type_text(field.get("type")), nullable)
    raise DecodeError(_CODE, f"{_WHAT}: a field has no name or no nullable flag")


def type_text(kind: object) -> str:
    """Return how DDL spells the type of a parsed JSON; raise DecodeError where it is none."""
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
        return f"array<{type_text(kind.get('elementType'))}>"
    if name == "map":
        return f"map<{type_text(kind.get('keyType'))},{type_text(kind.get('valueType'))}>"
    if name == "udt":
        return type_text(kind.get("sqlType"))
    raise DecodeError(_CODE, f"{_WHAT}: unknown type {name!r}")


SCHEMA_VERSIONS: Mapping[int, str] = {
    1: "no released Spark",
    2: "Spark 3.1 and later",
    3: "Spark 4.0 and later",
}

_CHUNK = 65_535
_ONLY_FAMILY = "default"
_NO_USER_KEY = "{    }"


@dataclass(frozen=True)
class ColumnFamilySchema:
    """One column family; before v3 a store has a single one, `default`."""

    name: str
    key_schema_id: int
    key_json: str
    value_schema_id: int
    value_json: str
    encoder_json: str | None = None
    """v3 only: how keys are laid out."""
    user_key_json: str | None = None
    """v3 only: the schema of a map's own keys."""


@dataclass(frozen=True)
class StateSchema:
    """One schema file."""

    version: int
    families: tuple[ColumnFamilySchema, ...]


def decode_state_schema(data: bytes) -> StateSchema:
    """Decode the bytes of a state schema file."""
    if not data:
        raise DecodeError(_CODE, f"{_WHAT}: the file is empty", byte=0)
    source = JavaInput(data, _WHAT, _CODE)
    version = _version(source)
    if version == 3:
        families = _families(source)
    else:
        take = JavaInput.take_text if version == 1 else _chunked
        key, value = _checked(source, take, columns), _checked(source, take, columns)
        families = (ColumnFamilySchema(_ONLY_FAMILY, 0, key, 0, value),)
    if source.byte < len(data):
        raise source.error(f"{len(data) - source.byte} bytes follow its end")
    return StateSchema(version, families)


def encode_state_schema(schema: StateSchema) -> bytes:
    """Encode the bytes of a state schema file."""
    encoded = [encode_text(f"v{schema.version}")]
    if schema.version == 3:
        encoded.append(encode_int(len(schema.families)))
        encoded.extend(_encode_family(family) for family in schema.families)
    else:
        encode = encode_text if schema.version == 1 else _encode_chunked
        (family,) = schema.families
        encoded += [encode(family.key_json), encode(family.value_json)]
    return b"".join(encoded)


def _version(source: JavaInput) -> int:
    try:
        return decode_version(source.take_text(), known=SCHEMA_VERSIONS, what=_WHAT)
    except DecodeError as error:
        if error.code.number == "HF2103":
            raise DecodeError("HF2103", error.message, byte=0) from error
        raise DecodeError(_CODE, error.message, byte=error.byte) from error


def _families(source: JavaInput) -> tuple[ColumnFamilySchema, ...]:
    count = source.take_int()
    if count < 0:
        raise source.error(f"it declares {count} column families", source.byte - 4)
    return tuple(_family(source) for _ in range(count))


def _family(source: JavaInput) -> ColumnFamilySchema:
    return ColumnFamilySchema(
        name=source.take_text(),
        key_schema_id=source.take_short(),
        key_json=_checked(source, _chunked, columns),
        value_schema_id=source.take_short(),
        value_json=_checked(source, _chunked, columns),
        encoder_json=_checked(source, _chunked, _check_encoder),
        user_key_json=_user_key(source),
    )


def _user_key(source: JavaInput) -> str | None:
    text = _checked(source, _chunked, lambda text: text == _NO_USER_KEY or columns(text))
    return None if text == _NO_USER_KEY else text


def _check_encoder(text: str) -> object:
    return decode_object(text, what=f"{_WHAT}, key encoder")


def _checked(
    source: JavaInput, take: Callable[[JavaInput], str], check: Callable[[str], object]
) -> str:
    """Take a text that must be some JSON; where it is not, its first byte is the place."""
    start = source.byte
    text = take(source)
    try:
        check(text)
    except DecodeError as error:
        raise DecodeError(_CODE, error.message, byte=start) from error
    return text


def _chunked(source: JavaInput) -> str:
    return "".join(source.take_text() for _ in range(source.take_int()))


def _encode_family(family: ColumnFamilySchema) -> bytes:
    user_key = _NO_USER_KEY if family.user_key_json is None else family.user_key_json
    return b"".join(
        (
            encode_text(family.name),
            encode_short(family.key_schema_id),
            _encode_chunked(family.key_json),
            encode_short(family.value_schema_id),
            _encode_chunked(family.value_json),
            _encode_chunked(family.encoder_json or ""),
            _encode_chunked(user_key),
        )
    )


def _encode_chunked(text: str) -> bytes:
    # Spark counts chars where writeUTF counts bytes: like Spark, this fails where a full chunk
    # holds anything but ASCII.
    units = java_units(text)
    chunks = [units[start : start + _CHUNK] for start in range(0, len(units), _CHUNK)]
    return encode_int(len(chunks)) + b"".join(map(encode_text, chunks))
