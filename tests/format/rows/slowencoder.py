"""Writes UnsafeRow bytes of Python values by Spark's own type names, one value after another."""

from __future__ import annotations

import struct
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

_EPOCH = datetime(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)
_PACKED = {
    "boolean": "<?", "byte": "<b", "short": "<h", "integer": "<i", "long": "<q", "float": "<f",
    "double": "<d", "date": "<i", "timestamp": "<q", "timestamp_ntz": "<q", "time(6)": "<q",
    "interval day to second": "<q", "interval year to month": "<i",
}  # fmt: skip


def slow_row(types: list[Any], values: list[Any]) -> bytes:
    """Write one row."""
    fixed = 8 * ((len(types) + 63) // 64) + 8 * len(types)
    bits, slots, tail = 0, b"", b""
    for index, (kind, value) in enumerate(zip(types, values, strict=True)):
        if value is None:
            bits |= 1 << index
        slot, more = _slot(kind, value, fixed + len(tail))
        slots += slot
        tail += more
    return bits.to_bytes(fixed - len(slots), "little") + slots + tail


def _slot(kind: Any, value: Any, offset: int) -> tuple[bytes, bytes]:
    if _digits(kind) > 18 or kind == "interval":
        data = b"" if value is None else _bytes(kind, value)
        length = 16 if kind == "interval" else len(data)
        return struct.pack("<II", length, offset), data + bytes(16 - len(data))
    if value is None:
        return bytes(8), b""
    if _is_fixed(kind):
        data = _number(kind, value)
        return data + bytes(8 - len(data)), b""
    data = _bytes(kind, value)
    return struct.pack("<II", len(data), offset), data + bytes(-len(data) % 8)


def slow_array(kind: Any, values: list[Any]) -> bytes:
    """Write one array."""
    width = struct.calcsize(_PACKED.get(kind, "<q")) if isinstance(kind, str) else 8
    bits = sum(1 << index for index, value in enumerate(values) if value is None)
    head = struct.pack("<q", len(values)) + bits.to_bytes((len(values) + 63) // 64 * 8, "little")
    room = (width * len(values) + 7) // 8 * 8
    cells, tail = b"", b""
    for value in values:
        if value is None:
            cells += bytes(width)
        elif _is_fixed(kind):
            cells += _number(kind, value)
        else:
            data = _bytes(kind, value)
            cells += struct.pack("<II", len(data), len(head) + room + len(tail))
            tail += data + bytes(-len(data) % 8)
    return head + cells + bytes(room - len(cells)) + tail


def _digits(kind: Any) -> int:
    is_decimal = isinstance(kind, str) and kind.startswith("decimal(")
    return int(kind[8:].split(",")[0]) if is_decimal else 0


def _is_fixed(kind: Any) -> bool:
    return isinstance(kind, str) and (kind in _PACKED or 0 < _digits(kind) <= 18)


def _number(kind: str, value: Any) -> bytes:
    if isinstance(value, datetime):
        value = (value.replace(tzinfo=None) - _EPOCH) // _MICROSECOND
    elif isinstance(value, date):
        value = (value - _EPOCH.date()).days
    elif isinstance(value, time):
        value = 1000 * ((datetime.combine(_EPOCH.date(), value) - _EPOCH) // _MICROSECOND)
    elif isinstance(value, timedelta):
        value = value // _MICROSECOND
    elif isinstance(value, Decimal):
        value = unscaled(kind, value)
    return struct.pack(_PACKED.get(kind, "<q"), value)


def unscaled(kind: str, value: Decimal) -> int:
    """Give a decimal as the integer that is stored of it."""
    scale = int(kind[:-1].split(",")[1])
    whole, _, fraction = f"{value:f}".partition(".")
    return int(whole + fraction.ljust(scale, "0"))


def _bytes(kind: Any, value: Any) -> bytes:
    if kind == "string":
        return bytes(value, "utf-8")
    if kind == "binary":
        return bytes(value)
    if kind == "interval":
        return struct.pack("<iiq", value["months"], value["days"], value["microseconds"])
    if kind == "variant":
        parts: tuple[bytes, bytes] = value["value"], value["metadata"]
        return struct.pack("<i", len(parts[0])) + parts[0] + parts[1]
    if isinstance(kind, str):
        return _shortest(unscaled(kind, value))
    if kind["type"] == "struct":
        fields = kind["fields"]
        return slow_row(
            [field["type"] for field in fields], [value[field["name"]] for field in fields]
        )
    if kind["type"] == "array":
        return slow_array(kind["elementType"], value)
    keys = slow_array(kind["keyType"], [key for key, _ in value])
    items = slow_array(kind["valueType"], [item for _, item in value])
    return struct.pack("<q", len(keys)) + keys + items


def _shortest(number: int) -> bytes:
    for length in range(1, 17):
        if -(1 << 8 * length - 1) <= number < 1 << 8 * length - 1:
            return number.to_bytes(length, "big", signed=True)
    raise AssertionError(number)
