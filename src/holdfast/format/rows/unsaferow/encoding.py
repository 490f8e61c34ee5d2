"""One key to the exact bytes in which Spark keeps it, so that it can be found by them."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from holdfast.format.rows.types import CALENDAR_INTERVAL, VARIANT, spark_type, typed_row
from holdfast.format.rows.unsaferow.cells import WORD, cell_width, stored_as

_BITS = 64
_RESERVED = 16
"""Rows keep as many bytes for a wide decimal or an interval, also where it is null."""


def encode_row(values: Sequence[object], columns: pa.Schema) -> bytes:
    """Encode one value for each column; raise UsageError where one is not of its column."""
    row = typed_row(values, columns)[0]
    return _row(list(columns), row)


def _row(fields: Sequence[pa.Field], scalar: pa.StructScalar) -> bytes:
    # By position: names could repeat.
    items = [(field, scalar[index]) for index, field in enumerate(fields)]
    return _block(b"", items, in_array=False)


def _array(field: pa.Field, items: pa.Array) -> bytes:
    return _block(struct.pack("<q", len(items)), [(field, item) for item in items], in_array=True)


def _block(prefix: bytes, items: Sequence[tuple[pa.Field, pa.Scalar]], *, in_array: bool) -> bytes:
    nulls = sum(1 << index for index, (_, item) in enumerate(items) if not item.is_valid)
    head = prefix + nulls.to_bytes(WORD * -(-len(items) // _BITS), "little")
    widths = [cell_width(field.type) if in_array else WORD for field, _ in items]
    start = len(head) + _rounded(sum(widths))
    cells, values = bytearray(), bytearray()
    for (field, item), width in zip(items, widths, strict=True):
        if not in_array and _reserves(field):
            value = _pointed(field, item) if item.is_valid else b""
            length = _RESERVED if spark_type(field) == CALENDAR_INTERVAL else len(value)
            cells += _pointer(start + len(values), length)
            values += value.ljust(_RESERVED, b"\0")
        elif not item.is_valid:
            cells += bytes(width)
        elif stored_as(field.type) is not None:
            cells += _fixed(field.type, item).ljust(width, b"\0")
        else:
            value = _pointed(field, item)
            cells += _pointer(start + len(values), len(value))
            values += value.ljust(_rounded(len(value)), b"\0")
    return head + bytes(cells.ljust(_rounded(len(cells)), b"\0")) + bytes(values)


def _rounded(length: int) -> int:
    return -(-length // WORD) * WORD


def _pointer(offset: int, length: int) -> bytes:
    return struct.pack("<Q", offset << 32 | length)


def _reserves(field: pa.Field) -> bool:
    wide = pa.types.is_decimal(field.type) and stored_as(field.type) is None
    return wide or spark_type(field) == CALENDAR_INTERVAL


def _fixed(kind: pa.DataType, item: pa.Scalar) -> bytes:
    value = item.as_py() if _is_plain(kind) else item.value
    if isinstance(value, Decimal):
        value = _unscaled(value, kind.scale)
    if isinstance(value, float) and math.isnan(value):
        value = math.nan
    return np.array(value, stored_as(kind)).tobytes()


def _is_plain(kind: pa.DataType) -> bool:
    number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    return bool(number or pa.types.is_boolean(kind) or pa.types.is_decimal(kind))


def _unscaled(value: Decimal, scale: int) -> int:
    sign, digits, exponent = value.as_tuple()
    number: int = int("".join(map(str, digits))) * 10 ** (int(exponent) + scale)
    return -number if sign else number


def _shortest(number: int) -> bytes:
    magnitude = ~number if number < 0 else number
    return number.to_bytes(magnitude.bit_length() // 8 + 1, "big", signed=True)


def _pointed(field: pa.Field, item: Any) -> bytes:
    kind = field.type
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        return bytes(item.as_buffer())
    if pa.types.is_decimal(kind):
        return _shortest(_unscaled(item.as_py(), kind.scale))
    if spark_type(field) == CALENDAR_INTERVAL:
        parts: Mapping[str, int] = item.as_py()
        return struct.pack("<iiq", parts["months"], parts["days"], parts["microseconds"])
    if spark_type(field) == VARIANT:
        value, metadata = item["value"].as_py(), item["metadata"].as_py()
        return struct.pack("<i", len(value)) + bytes(value + metadata)
    if pa.types.is_struct(kind):
        return _row(list(kind), item)
    if pa.types.is_map(kind):
        return _map(kind, item.values)
    return _array(kind.value_field, item.values)


def _map(kind: pa.DataType, entries: pa.StructArray) -> bytes:
    keys = _array(kind.key_field, entries.field(0))
    return struct.pack("<q", len(keys)) + keys + _array(kind.item_field, entries.field(1))
