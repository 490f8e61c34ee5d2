"""Redacts JSON-like data: strings by their text, values of mappings also by their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from holdfast.redaction.marker import REDACTED
from holdfast.redaction.names import names_secret
from holdfast.redaction.text import redact


def redact_value(value: object) -> object:
    """Give the same data without secrets; what stands under a secret's name is replaced whole."""
    if isinstance(value, str):
        redacted = redact(value)
        return value if redacted == value else redacted
    if isinstance(value, Mapping):
        return _redact_mapping(value)
    if isinstance(value, tuple):
        return tuple(redact_value(item) for item in value)
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray, memoryview)):
        return [redact_value(item) for item in value]
    return value


def _redact_mapping(mapping: Mapping[object, object]) -> dict[object, object]:
    redacted = {redact_value(key): _redact_item(key, value) for key, value in mapping.items()}
    name = mapping.get("name", mapping.get("key"))
    if isinstance(name, str) and isinstance(mapping.get("value"), str) and names_secret(name):
        redacted["value"] = REDACTED
    return redacted


def _redact_item(key: object, value: object) -> object:
    harmless = value is None or isinstance(value, bool) or value == ""
    if harmless or not isinstance(key, str) or not names_secret(key) or _is_offsets(value):
        return redact_value(value)
    return REDACTED


def _is_offsets(value: object) -> bool:
    """Tell whether this is partitions with their offsets: a topic may well be called `tokens`."""
    return isinstance(value, Mapping) and all(
        isinstance(key, str) and key.isdigit() and isinstance(offset, int)
        for key, offset in value.items()
    )
