"""Which partition holds a key: Spark's Murmur3 over its columns, folded from left to right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from holdfast.errors import CheckpointError
from holdfast.format.buffers import (
    Bytes,
    Positions,
    arrow_numbers,
    cast,
    numbers_of,
    present,
    taken,
)
from holdfast.format.rows.cells import MOST_DIGITS_IN_CELL
from holdfast.format.rows.types import spark_type, typed_row

Hashes = npt.NDArray[np.uint32]

_WORD = 4


def hash_ints(values: npt.NDArray[np.int32], seeds: Hashes) -> Hashes:
    """Hash integers of 32 bits."""
    return _finished(_mixed(seeds, values.view(np.uint32)), np.uint32(4))


def hash_longs(values: npt.NDArray[np.int64], seeds: Hashes) -> Hashes:
    """Hash integers of 64 bits."""
    low, high = values.astype(np.uint32), (values >> 32).astype(np.uint32)
    return _finished(_mixed(_mixed(seeds, low), high), np.uint32(8))


def hash_bytes(data: Bytes, starts: Positions, lengths: Positions, seeds: Hashes) -> Hashes:
    """Hash byte strings. Unlike the common Murmur3, each byte after the last word is a word."""
    hashes = seeds.copy()
    whole = lengths // _WORD
    words = _words_anywhere(data)
    for index in range(int(whole.max(initial=0))):
        some = np.flatnonzero(whole > index)
        hashes[some] = _mixed(hashes[some], words[starts[some] + _WORD * index])
    for index in range(_WORD - 1):
        some = np.flatnonzero(lengths % _WORD > index)
        tails = data[starts[some] + _WORD * whole[some] + index]
        signed = tails.view(np.int8).astype(np.int32).view(np.uint32)
        hashes[some] = _mixed(hashes[some], signed)
    return _finished(hashes, lengths.astype(np.uint32))


def _words_anywhere(data: Bytes) -> Hashes:
    """View bytes as the words that begin at each of them."""
    words: Hashes = np.ndarray((max(len(data) - _WORD + 1, 0),), "<u4", data, strides=(1,))
    return words


def _mixed(hashes: Hashes, words: Hashes) -> Hashes:
    mixed = _rotated(words * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)
    further: Hashes = _rotated(hashes ^ mixed, 13) * np.uint32(5) + np.uint32(0xE6546B64)
    return further


def _rotated(words: Hashes, bits: int) -> Hashes:
    rotated: Hashes = words << np.uint32(bits) | words >> np.uint32(32 - bits)
    return rotated


def _finished(hashes: Hashes, lengths: Hashes | np.uint32) -> Hashes:
    hashes = hashes ^ lengths
    hashes = (hashes ^ hashes >> np.uint32(16)) * np.uint32(0x85EBCA6B)
    hashes = (hashes ^ hashes >> np.uint32(13)) * np.uint32(0xC2B2AE35)
    finished: Hashes = hashes ^ hashes >> np.uint32(16)
    return finished


_SEED = 42
_NARROW = (pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.date32())
_WIDEST = 16


def partition_of(values: Sequence[object], columns: pa.Schema, partitions: int) -> int:
    """Return the partition of one key; without columns there is only the first."""
    return int(partitions_of(typed_row(values, columns), partitions)[0])


def partitions_of(keys: pa.StructArray, partitions: int) -> npt.NDArray[np.int32]:
    """Return the partition of each key; without columns there is only the first."""
    if not keys.type.num_fields:
        return np.zeros(len(keys), np.int32)
    placed: npt.NDArray[np.int32] = hash_columns(keys) % np.int32(partitions)
    return placed


def hash_columns(keys: pa.StructArray) -> npt.NDArray[np.int32]:
    """Hash each row as Spark's `hash` does; a null leaves the hash as it is."""
    seeds: Hashes = np.full(len(keys), _SEED, np.uint32)
    return _structs(keys, seeds).view(np.int32)


def _structs(rows: pa.StructArray, hashes: Hashes) -> Hashes:
    for index, field in enumerate(rows.type):
        hashes = _column(field, rows.field(index), hashes)
    return hashes


def _column(field: pa.Field, column: pa.Array, seeds: Hashes) -> Hashes:
    """Fold a column into hashes, for those rows that are not null in it."""
    if not column.null_count:
        return _present(field, column, seeds)
    some = np.flatnonzero(numbers_of(present(column)))
    hashes: Hashes = seeds.copy()
    if len(some):
        hashes[some] = _present(field, taken(column, arrow_numbers(some)), seeds[some])
    return hashes


def _present(field: pa.Field, column: pa.Array, seeds: Hashes) -> Hashes:
    kind = field.type
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        return _strings(column, seeds)
    if kind in _NARROW:
        return hash_ints(_numbers(column, pa.int32()), seeds)
    if pa.types.is_floating(kind):
        return _floats(kind, column, seeds)
    if pa.types.is_decimal(kind):
        return _decimals(kind, column, seeds)
    if pa.types.is_list(kind):
        return _lists(kind.value_field, column, seeds)
    if pa.types.is_struct(kind) and spark_type(field) is None:
        return _structs(column, seeds)
    if pa.types.is_integer(kind) or pa.types.is_temporal(kind):
        return hash_longs(_numbers(column, pa.int64()), seeds)
    name = spark_type(field) or str(kind)
    raise CheckpointError(
        "HF2738", f"Spark does not hash {name}, the type of column {field.name!r}"
    )


def _numbers(column: pa.Array, kind: pa.DataType) -> npt.NDArray[Any]:
    numbers: npt.NDArray[Any] = numbers_of(cast(column, kind))
    return numbers


def _strings(column: pa.Array, seeds: Hashes) -> Hashes:
    _, ends, data = column.buffers()
    offsets = np.frombuffer(ends, "<i4")[column.offset : column.offset + len(column) + 1]
    starts = offsets[:-1].astype(np.int64)
    every: Bytes = np.frombuffer(data, np.uint8) if data else np.empty(0, np.uint8)
    return hash_bytes(every, starts, offsets[1:] - starts, seeds)


def _floats(kind: pa.DataType, column: pa.Array, seeds: Hashes) -> Hashes:
    """Hash the bits of floating numbers; zero has one sign, and there is one NaN."""
    numbers = numbers_of(column).copy()
    numbers[numbers == 0] = 0
    numbers[np.isnan(numbers)] = np.nan
    if pa.types.is_float32(kind):
        return hash_ints(numbers.view(np.int32), seeds)
    return hash_longs(numbers.view(np.int64), seeds)


def _decimals(kind: pa.DataType, column: pa.Array, seeds: Hashes) -> Hashes:
    data = np.frombuffer(column.buffers()[1], np.uint8)
    own = data[_WIDEST * column.offset : _WIDEST * (column.offset + len(column))]
    wide = own.reshape(len(column), _WIDEST)
    if kind.precision <= MOST_DIGITS_IN_CELL:
        return hash_longs(wide[:, :8].copy().view(np.int64)[:, 0], seeds)
    turned = wide[:, ::-1].copy()
    skipped = _sign_bytes(turned)
    starts = _WIDEST * np.arange(len(column)) + skipped
    return hash_bytes(turned.reshape(-1), starts, _WIDEST - skipped, seeds)


def _sign_bytes(turned: Bytes) -> npt.NDArray[np.int64]:
    """Count the leading bytes that only repeat the sign: Java leaves them out."""
    sign = np.where(turned[:, :1] >= 0x80, 0xFF, 0)
    repeats = (turned[:, :-1] == sign) & ((turned[:, 1:] ^ sign) < 0x80)
    counted: npt.NDArray[np.int64] = np.cumprod(repeats, axis=1, dtype=np.int64).sum(axis=1)
    return counted


def _lists(field: pa.Field, column: pa.ListArray, seeds: Hashes) -> Hashes:
    hashes: Hashes = seeds.copy()
    offsets = numbers_of(column.offsets)
    counts = np.diff(offsets)
    for index in range(int(counts.max(initial=0))):
        some = np.flatnonzero(counts > index)
        elements = taken(column.values, arrow_numbers(offsets[:-1][some] + index))
        hashes[some] = _column(field, elements, hashes[some])
    return hashes
