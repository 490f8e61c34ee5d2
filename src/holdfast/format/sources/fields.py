"""Takes typed values out of an offset's JSON, or says in a DecodeError what is wrong with it."""

from __future__ import annotations

from typing import TypeGuard

from holdfast.errors import DecodeError
from holdfast.format.sources.offset import shorten
from holdfast.format.strictjson import kind_of

LONG_MIN, LONG_MAX = -(2**63), 2**63 - 1
INT_MAX = 2**31 - 1


def as_object(value: object, what: str) -> dict[str, object]:
    """Take a value as a JSON object."""
    if not isinstance(value, dict):
        raise DecodeError("HF2106", f"{what} is {kind_of(value)}, not a JSON object")
    return value


def as_integer(value: object, what: str, *, low: int = LONG_MIN, high: int = LONG_MAX) -> int:
    """Take a value as a whole number within the bounds."""
    if not is_integer(value):
        raise DecodeError("HF2106", f"{what} is {kind_of(value)}, not a whole number")
    if not low <= value <= high:
        raise DecodeError(
            "HF2107", f"{what} is {shorten(str(value), 40)}, outside of {low} to {high}"
        )
    return value


def integer_field(
    entry: dict[str, object], key: str, what: str, *, low: int = LONG_MIN, high: int = LONG_MAX
) -> int:
    """Take a field as a whole number within the bounds."""
    return as_integer(required_field(entry, key, what), f"{key} of {what}", low=low, high=high)


def boolean_field(entry: dict[str, object], key: str, what: str) -> bool:
    """Take a field as true or false."""
    value = required_field(entry, key, what)
    if not isinstance(value, bool):
        raise DecodeError("HF2106", f"{key} of {what} is {kind_of(value)}, not true or false")
    return value


def text_field(entry: dict[str, object], key: str, what: str) -> str:
    """Take a field as text."""
    return as_text(required_field(entry, key, what), f"{key} of {what}")


def text_list_field(entry: dict[str, object], key: str, what: str) -> list[str]:
    """Take a field as a list of texts."""
    value = required_field(entry, key, what)
    if not isinstance(value, list):
        raise DecodeError("HF2106", f"{key} of {what} is {kind_of(value)}, not a list")
    return [as_text(item, f"an item in {key} of {what}") for item in value]


def as_text(value: object, what: str) -> str:
    """Take a value as text."""
    if not isinstance(value, str):
        raise DecodeError("HF2106", f"{what} is {kind_of(value)}, not a text")
    return value


def required_field(entry: dict[str, object], key: str, what: str) -> object:
    """Take a field that has to be there."""
    if key not in entry:
        raise DecodeError("HF2106", f"{what} lacks {key}")
    return entry[key]


def is_integer(value: object) -> TypeGuard[int]:
    """Tell whether a JSON value is a whole number; true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_partition(key: object) -> bool:
    """Tell whether a JSON key is a partition's number as Spark writes it."""
    return (
        isinstance(key, str)
        and key.isascii()
        and key.isdigit()
        and (key == "0" or key[0] != "0")
        and len(key) <= len(str(INT_MAX))
        and int(key) <= INT_MAX
    )
