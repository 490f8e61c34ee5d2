"""The oracle's reading of state schema files: Java's DataOutput around the JSON of struct types."""

from __future__ import annotations

import re
import struct
from typing import Any, NoReturn

from tests.fuzz.strictness import BrokenError, strict_json

_ATOMS = frozenset(
    (
        *("void", "null", "boolean", "byte", "short", "integer", "long", "float", "double"),
        *("string", "binary", "date", "timestamp", "timestamp_ntz", "variant", "interval"),
    )
)
_SIZED = re.compile(
    r"decimal\([0-9]{1,2},-?[0-9]{1,2}\)|(?:char|varchar)\([0-9]+\)|string collate \w+|"
    r"interval (?:year|month|day|hour|minute|second)(?: to (?:month|hour|minute|second))?|"
    r"time\([0-9]\)|(?:geometry|geography)\([^)]*\)"
)
_ENCODERS = frozenset(
    f"{one}KeyStateEncoderSpec" for one in ("NoPrefix", "TimestampAsPrefix", "TimestampAsPostfix")
) | {"PrefixKeyScanStateEncoderSpec", "RangeKeyScanStateEncoderSpec"}
_NO_USER_KEY = "{    }"


def schema_meaning(path: str, data: bytes) -> Any:
    """Give what a schema file means; its version must be the one of its place."""
    taker = _Taker(data)
    version = taker.text()
    if version not in (("v3",) if "/_stateSchema/" in path else ("v1", "v2")):
        _fail(f"version {version[:10]!r}")
    if version == "v1":
        found: Any = [_struct(taker.text()), _struct(taker.text())]
    elif version == "v2":
        found = [_struct(taker.chunked()), _struct(taker.chunked())]
    else:
        count = taker.number(">i")
        if not 0 < count < 10_000:
            _fail("no column family")
        found = [_family(taker) for _ in range(count)]
    if taker.left:
        _fail("bytes follow the end")
    return found


def _fail(reason: str) -> NoReturn:
    raise BrokenError(reason)


class _Taker:
    def __init__(self, data: bytes) -> None:
        self.left = data

    def take(self, count: int) -> bytes:
        if not 0 <= count <= len(self.left):
            _fail("it ends early")
        taken, self.left = self.left[:count], self.left[count:]
        return taken

    def number(self, form: str) -> int:
        value: int = struct.unpack(form, self.take(struct.calcsize(form)))[0]
        return value

    def text(self) -> str:
        encoded = self.take(self.number(">H"))
        if b"\0" in encoded or b"\xf0" in encoded:
            _fail("Java encodes no zero byte and no character in four bytes")
        try:
            # Java writes a zero as two bytes, and characters beyond the first plane as pairs.
            halves = encoded.replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogatepass")
            return halves.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            _fail("no text")

    def chunked(self) -> str:
        count = self.number(">i")
        if not 0 < count < 10_000:
            _fail("no chunks")
        return "".join(self.text() for _ in range(count))


def _family(taker: _Taker) -> Any:
    name, key_id, key = taker.text(), taker.number(">h"), _struct(taker.chunked())
    value_id, value = taker.number(">h"), _struct(taker.chunked())
    encoder = strict_json(taker.chunked())
    if not isinstance(encoder, dict) or encoder.get("keyStateEncoderType") not in _ENCODERS:
        _fail("no encoder")
    user_key = taker.chunked()
    return (
        name,
        key_id,
        key,
        value_id,
        value,
        encoder,
        user_key == _NO_USER_KEY or _struct(user_key),
    )


def _struct(text: str) -> Any:
    value = strict_json(text)
    if not isinstance(value, dict) or value.get("type") != "struct":
        _fail("no struct")
    _type(value)
    return value


def _type(kind: Any) -> None:
    if isinstance(kind, str):
        if kind not in _ATOMS and not _SIZED.fullmatch(kind):
            _fail(f"type {kind[:20]!r}")
    elif not isinstance(kind, dict):
        _fail("no type")
    elif kind.get("type") == "struct" and set(kind) == {"type", "fields"}:
        for field in kind["fields"] if isinstance(kind["fields"], list) else _fail("no fields"):
            _field(field)
    elif kind.get("type") == "array" and set(kind) == {"type", "elementType", "containsNull"}:
        _type(kind["elementType"])
    elif kind.get("type") == "map" and set(kind) == {
        "type", "keyType", "valueType", "valueContainsNull",
    }:  # fmt: skip
        _type(kind["keyType"])
        _type(kind["valueType"])
    elif kind.get("type") != "udt":
        _fail("no nested type")


def _field(field: Any) -> None:
    if not isinstance(field, dict) or set(field) != {"name", "type", "nullable", "metadata"}:
        _fail("no field")
    if not isinstance(field["name"], str) or not isinstance(field["nullable"], bool):
        _fail("no name")
    if not isinstance(field["metadata"], dict):
        _fail("no metadata")
    _type(field["type"])
