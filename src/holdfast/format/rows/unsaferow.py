"""UnsafeRow, in which Spark keeps state: rows decoded into Arrow's columns, one key encoded."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from holdfast.format.buffers import (
    Bytes,
    Positions,
    Spans,
    Valid,
    arrow_numbers,
    cast,
    numbers_of,
    present,
)
from holdfast.format.rows.cells import (
    WORD,
    Blocks,
    Cells,
    aligned,
    cell_width,
    decode_fixed,
    first_invalid,
    packed_values,
    refuse_invalid,
    spread,
    stored_as,
)
from holdfast.format.rows.types import CALENDAR_INTERVAL, VARIANT, spark_type, typed_row
from holdfast.wording import counted

_WIDEST = 16


def decode_bytes(kind: pa.DataType, cells: Cells) -> pa.Array:
    """Decode text or bytes. Bytes that are no UTF-8 are shown in text as Java shows them."""
    targets = cells.targets()
    valid = None if cells.valid.all() else cells.valid
    packed = packed_values(targets.buffer.data, targets.starts, targets.lengths, valid)
    array = cast(packed, pa.binary())
    return _text(array) if pa.types.is_string(kind) else array


def decode_wide_decimals(kind: pa.DataType, cells: Cells) -> pa.Array:
    """Decode decimals of more than 18 digits: big-endian, at most 16 bytes."""
    targets = cells.targets()
    wrong = (targets.lengths < 1) | (targets.lengths > _WIDEST)
    targets.refuse(wrong, f"column {cells.name!r} should be a decimal of 1 to 16 bytes")
    wide = pa.py_buffer(_little_endian(targets))
    present = pa.Array.from_buffers(kind, len(targets), [None, wide])
    array = spread(present, cells.valid)
    refuse_invalid(array, cells)
    return array


def decode_calendar_intervals(kind: pa.DataType, cells: Cells) -> pa.Array:
    """Decode months, days and microseconds."""
    targets = cells.targets()
    wrong = targets.lengths != _WIDEST
    targets.refuse(wrong, f"column {cells.name!r} should be an interval of 16 bytes")
    take = targets.buffer.take
    parts = [
        arrow_numbers(take(targets.starts, "<i4")),
        arrow_numbers(take(targets.starts + 4, "<i4")),
        arrow_numbers(take(targets.starts + 8, "<i8")),
    ]
    return spread(pa.Array.from_buffers(kind, len(targets), [None], children=parts), cells.valid)


def decode_variants(kind: pa.DataType, cells: Cells) -> pa.Array:
    """Decode the two parts of variants: value and metadata."""
    targets = cells.targets()
    message = f"column {cells.name!r} should be a variant with its size"
    targets.refuse(targets.lengths < 4, message)
    sizes = targets.buffer.take(targets.starts, "<i4").astype(np.int64)
    targets.refuse((sizes < 0) | (sizes + 4 > targets.lengths), message)
    values = packed_values(targets.buffer.data, targets.starts + 4, sizes)
    rest = targets.lengths - 4 - sizes
    metadata = packed_values(targets.buffer.data, targets.starts + 4 + sizes, rest)
    parts = [cast(values, pa.binary()), cast(metadata, pa.binary())]
    return spread(pa.Array.from_buffers(kind, len(targets), [None], children=parts), cells.valid)


def _little_endian(targets: Blocks) -> Bytes:
    """Turn big-endian numbers of 1 to 16 bytes around, filled up with their sign."""
    data, lengths = targets.buffer.data, targets.lengths
    wide: Bytes = np.empty((len(targets), _WIDEST), np.uint8)
    sign = np.where(data[targets.starts] >= 0x80, 0xFF, 0).astype(np.uint8)
    for byte in range(_WIDEST):
        inside = lengths > byte
        places = np.where(inside, targets.starts + lengths - 1 - byte, 0)
        wide[:, byte] = np.where(inside, data[places], sign)
    return wide


def _text(array: pa.Array) -> pa.Array:
    text = array.view(pa.string())
    if first_invalid(text) is None:
        return text
    shown = (
        None if value is None else value.decode("utf-8", "replace") for value in array.to_pylist()
    )
    return pa.array(shown, pa.string(), size=len(array))


_BITS = 64


def decode_rows(rows: Spans, columns: pa.Schema) -> pa.StructArray:
    """Decode rows of at most 2 GB; raise DecodeError at the row and byte where one is no row."""
    buffer = aligned(rows)
    return _structs(list(columns), Blocks(buffer, buffer.starts, buffer.lengths), "the row")


def _structs(fields: Sequence[pa.Field], blocks: Blocks, name: str) -> pa.StructArray:
    bit_words = -(-len(fields) // _BITS)
    fixed = WORD * (bit_words + len(fields))
    blocks.refuse(blocks.lengths < fixed, f"{name} should have {counted(len(fields), 'column')}")
    every_fixed = np.full(len(blocks), fixed)
    children = []
    for index, field in enumerate(fields):
        if index % _BITS == 0:
            bits = blocks.buffer.take(blocks.starts + index // _BITS * WORD, "<u8")
        valid = _unset(bits, index % _BITS)
        positions = blocks.starts + WORD * (bit_words + index)
        children.append(_column(field, Cells(field.name, blocks, every_fixed, positions, valid)))
    return pa.Array.from_buffers(pa.struct(fields), len(blocks), [None], children=children)


def _unset(words: Positions, bits: Positions | int) -> Valid:
    unset: Valid = (words >> np.asarray(bits, np.uint64)) & np.uint64(1) == 0
    return unset


def _column(field: pa.Field, cells: Cells) -> pa.Array:
    kind = field.type
    if pa.types.is_null(kind):
        return pa.nulls(len(cells))
    stored = stored_as(kind)
    if stored is not None:
        return decode_fixed(kind, stored, cells)
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        return decode_bytes(kind, cells)
    if pa.types.is_decimal(kind):
        return decode_wide_decimals(kind, cells)
    return _nested(field, cells)


def _nested(field: pa.Field, cells: Cells) -> pa.Array:
    kind = field.type
    if spark_type(field) == CALENDAR_INTERVAL:
        return decode_calendar_intervals(kind, cells)
    if spark_type(field) == VARIANT:
        return decode_variants(kind, cells)
    targets = cells.targets()
    if pa.types.is_struct(kind):
        present = _structs(list(kind), targets, f"column {field.name!r}")
    elif pa.types.is_map(kind):
        present = _maps(kind, targets, field.name)
    else:
        present = _lists(kind, targets, field.name)
    return spread(present, cells.valid)


def _lists(kind: pa.DataType, blocks: Blocks, name: str) -> pa.Array:
    offsets, elements = _elements(kind.value_field, blocks, name)
    parts = [None, pa.py_buffer(offsets)]
    return pa.Array.from_buffers(kind, len(blocks), parts, children=[elements])


def _maps(kind: pa.DataType, blocks: Blocks, name: str) -> pa.Array:
    """Decode maps: the length of the array of keys, that array, and the array of values."""
    message = f"column {name!r} should be a map of two arrays"
    blocks.refuse(blocks.lengths < WORD, message)
    sizes = blocks.buffer.take(blocks.starts, "<i8")
    wrong = (sizes < 0) | (sizes > blocks.lengths - WORD) | (sizes % WORD != 0)
    blocks.refuse(wrong, message)
    starts = blocks.starts + WORD
    keys = Blocks(blocks.buffer, starts, sizes, blocks.origins)
    rest = blocks.lengths - WORD - sizes
    values = Blocks(blocks.buffer, starts + sizes, rest, blocks.origins)
    offsets, key_items = _elements(kind.key_field, keys, name)
    value_offsets, value_items = _elements(kind.item_field, values, name)
    blocks.refuse(np.diff(offsets) != np.diff(value_offsets), f"{message} of the same length")
    blocks.refuse(_any_null(key_items, offsets), f"{message}, without null keys")
    entries = pa.Array.from_buffers(
        pa.struct([kind.key_field, kind.item_field]),
        len(key_items),
        [None],
        children=[key_items, value_items],
    )
    parts = [None, pa.py_buffer(offsets)]
    return pa.Array.from_buffers(kind, len(blocks), parts, children=[entries])


def _any_null(items: pa.Array, offsets: npt.NDArray[np.int32]) -> Valid:
    """Return which lists have a null among their items."""
    nulls = np.concatenate(([0], np.cumsum(~numbers_of(present(items)))))
    any_null: Valid = nulls[offsets[1:]] > nulls[offsets[:-1]]
    return any_null


def _elements(field: pa.Field, blocks: Blocks, name: str) -> tuple[npt.NDArray[np.int32], pa.Array]:
    """Decode the elements of arrays: a count, null bits, cells, and what these point to."""
    message = f"column {name!r} should be an array with as many elements as it declares"
    blocks.refuse(blocks.lengths < WORD, message)
    counts = blocks.buffer.take(blocks.starts, "<i8")
    # An element takes a byte at least: with the next line's products nothing overflows.
    blocks.refuse((counts < 0) | (counts > blocks.lengths), message)
    width = cell_width(field.type)
    header = WORD + WORD * -(-counts // _BITS)
    fixed = header + counts * width
    blocks.refuse(fixed > blocks.lengths, message)
    ends = np.cumsum(counts)
    owners = np.repeat(np.arange(len(blocks)), counts)
    ordinals = np.arange(len(owners)) - (ends - counts)[owners]
    starts = blocks.starts[owners]
    own = Blocks(blocks.buffer, starts, blocks.lengths[owners])
    bits = blocks.buffer.take(starts + WORD + ordinals // _BITS * WORD, "<u8")
    positions = starts + header[owners] + ordinals * width
    cells = Cells(name, own, fixed[owners], positions, _unset(bits, ordinals % _BITS))
    offsets = np.concatenate(([0], ends)).astype(np.int32)
    return offsets, _column(field, cells)


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
