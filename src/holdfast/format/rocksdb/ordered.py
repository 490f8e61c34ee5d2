"""Columns that are kept in the order of their bytes, for scans of a range: back to values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from holdfast.errors import DecodeError
from holdfast.format.arrowarrays import arrow_numbers
from holdfast.format.rocksdb.keys import numbers_at
from holdfast.format.spans import Bytes, Positions, Spans

_CODE = "HF2722"
_WORD, _BITS = 8, 64
_NEGATIVE, _POSITIVE, _NULL = 0, 1, 2
_BIG_ENDIAN: Mapping[pa.DataType, str] = {
    pa.int8(): ">i1",
    pa.int16(): ">i2",
    pa.int32(): ">i4",
    pa.int64(): ">i8",
    pa.float32(): ">f4",
    pa.float64(): ">f8",
}
_AVRO_ONE_BYTE = b"\x02\x02"
"""Avro for: not null, one byte long."""
_AVRO_NOT_NULL = b"\x02"


def ordered_columns(
    ordered: Spans, types: Sequence[pa.DataType], *, avro: bool = False
) -> list[pa.Array]:
    """Decode the ordered part of keys, a column for each type."""
    places = _avro_places(ordered, types) if avro else _row_places(ordered, types)
    return [
        _decoded(ordered.data, markers, values, kind)
        for (markers, values), kind in zip(places, types, strict=True)
    ]


def _row_places(ordered: Spans, types: Sequence[pa.DataType]) -> list[tuple[Positions, Positions]]:
    """Find marker and value of each column in rows of byte strings."""
    first = _WORD * -(-len(types) // _BITS)
    fixed = first + _WORD * len(types)
    _refuse(ordered.lengths < fixed, "too short for its columns")
    places = []
    for index, kind in enumerate(types):
        cells = numbers_at(ordered, "<i8", first + _WORD * index)
        offsets, lengths = cells >> 32, cells & 0xFFFFFFFF
        _refuse(lengths != 1 + _width(kind), f"column {index} has another width than its type")
        wrong = (offsets < fixed) | (offsets + lengths > ordered.lengths)
        _refuse(wrong, f"column {index} lies outside of it")
        markers = ordered.starts + offsets
        places.append((markers, markers + 1))
    return places


def _avro_places(ordered: Spans, types: Sequence[pa.DataType]) -> list[tuple[Positions, Positions]]:
    """Find them in Avro records of byte strings, which are alike in every key."""
    total = sum(len(_AVRO_ONE_BYTE) + 1 + 2 + _width(kind) for kind in types)
    _refuse(ordered.lengths != total, "another length than its columns have")
    places = []
    at = ordered.starts
    for kind in types:
        width = _width(kind)
        _expect(ordered.data, at, _AVRO_ONE_BYTE)
        _expect(ordered.data, at + 3, _AVRO_NOT_NULL + bytes([2 * width]))
        places.append((at + 2, at + 5))
        at = at + 5 + width
    return places


def _expect(data: Bytes, at: Positions, expected: bytes) -> None:
    for index, byte in enumerate(expected):
        _refuse(data[at + index] != byte, "not the Avro of ordered columns")


def _decoded(data: Bytes, markers: Positions, values: Positions, kind: pa.DataType) -> pa.Array:
    marks = data[markers]
    _refuse(marks > _NULL, "a column has an unknown sign")
    stored = np.dtype(_BIG_ENDIAN[kind])
    raw = data[values[:, np.newaxis] + np.arange(stored.itemsize)]
    if stored.kind == "f":
        # Negative fractions are kept with all bits turned, so that greater ones come later.
        raw = np.where((marks == _NEGATIVE)[:, np.newaxis], ~raw, raw)
    numbers = np.ascontiguousarray(raw).view(stored).ravel().astype(stored.newbyteorder("="))
    if stored.kind == "i":
        _refuse_signs(numbers < 0, marks)
    return arrow_numbers(numbers, kind, marks != _NULL)


def _refuse_signs(negative: npt.NDArray[np.bool_], marks: Bytes) -> None:
    wrong = (marks != _NULL) & (marks != np.where(negative, _NEGATIVE, _POSITIVE))
    _refuse(wrong, "the sign of a column contradicts its value")


def _width(kind: pa.DataType) -> int:
    if kind not in _BIG_ENDIAN:
        # Spark accepts booleans here, but the plain encoding of them writes nothing.
        raise DecodeError(_CODE, f"RocksDB: keys can't be ordered by a column of type {kind}")
    return np.dtype(_BIG_ENDIAN[kind]).itemsize


def _refuse(wrong: npt.NDArray[np.bool_], message: str) -> None:
    if wrong.any():
        index = int(wrong.argmax())
        raise DecodeError(_CODE, f"RocksDB, entry {index}: the ordered part of a key: {message}")
