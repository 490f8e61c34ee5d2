"""Keys as RocksDB holds them, taken apart: column family, prefix, ordered columns, rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from holdfast.errors import DecodeError
from holdfast.format.buffers import Bytes, Positions, Spans, arrow_numbers
from holdfast.format.strictjson import INT32, Fields

_NOT_LAID_OUT, _UNKNOWN_ENCODER = "HF2722", "HF2723"
_FAMILY_BYTES, _LENGTH_BYTES, _TIMESTAMP_BYTES = 2, 4, 8
_SIGN = np.uint64(1 << 63)


class KeyLayout(str, Enum):
    """How a store lays out its keys, by the names that state schemas use."""

    NO_PREFIX = "NoPrefixKeyStateEncoderSpec"
    PREFIX_SCAN = "PrefixKeyScanStateEncoderSpec"
    RANGE_SCAN = "RangeKeyScanStateEncoderSpec"
    TIMESTAMP_FIRST = "TimestampAsPrefixKeyStateEncoderSpec"
    TIMESTAMP_LAST = "TimestampAsPostfixKeyStateEncoderSpec"


@dataclass(frozen=True)
class KeyEncoder:
    """How keys are laid out, and which of their columns stand in front."""

    layout: KeyLayout = KeyLayout.NO_PREFIX
    prefix_columns: int = 0
    """PREFIX_SCAN only: so many of the first columns."""
    ordinals: tuple[int, ...] = ()
    """RANGE_SCAN only: the columns that are ordered, in this order."""


@dataclass(frozen=True)
class KeyParts:
    """The parts of many keys, each without its version byte.

    NO_PREFIX has the row alone; PREFIX_SCAN the rows of the first and of the other columns;
    RANGE_SCAN the ordered columns (see `rocksordered`) and the row of the others, if there are
    any; with a timestamp the row of all columns but the last, which `timestamps` gives.
    """

    rows: tuple[Spans, ...]
    timestamps: Positions | None = None


def decode_key_encoder(encoder_json: str) -> KeyEncoder:
    """Decode the JSON by which a state schema says how keys are laid out."""
    fields = Fields.of(encoder_json, what="state schema, key encoder")
    name = fields.take_text("keyStateEncoderType")
    if name not in {layout.value for layout in KeyLayout}:
        raise DecodeError(_UNKNOWN_ENCODER, f"state schema: unknown key encoder {name!r}")
    layout = KeyLayout(name)
    if layout is KeyLayout.PREFIX_SCAN:
        return KeyEncoder(layout, fields.take_integer("numColsPrefixKey", bounds=INT32))
    if layout is KeyLayout.RANGE_SCAN:
        ordinals = fields.take_list("orderingOrdinals")
        return KeyEncoder(layout, ordinals=tuple(map(_ordinal, ordinals)))
    return KeyEncoder(layout)


def family_prefix(family_id: int) -> bytes:
    """Return the bytes that every key of a column family begins with."""
    return family_id.to_bytes(_FAMILY_BYTES, "little", signed=True)


def split_families(keys: Spans) -> tuple[npt.NDArray[np.int16], Spans]:
    """Return the id of each key's column family, and what follows it."""
    _refuse(keys.lengths < _FAMILY_BYTES, "a key is too short for its column family id")
    ids = numbers_at(keys, "<i2").astype(np.int16)
    return ids, _behind(keys, _FAMILY_BYTES)


def split_keys(keys: Spans, encoder: KeyEncoder) -> KeyParts:
    """Take keys apart that do not name a column family, or of which it was split off."""
    if encoder.layout is KeyLayout.NO_PREFIX:
        return KeyParts((without_version(keys, _NOT_LAID_OUT, "a key"),))
    if encoder.layout in (KeyLayout.PREFIX_SCAN, KeyLayout.RANGE_SCAN):
        return KeyParts(_split_prefix(keys, encoder))
    return _split_timestamps(keys, first=encoder.layout is KeyLayout.TIMESTAMP_FIRST)


def without_version(rows: Spans, code: str, what: str) -> Spans:
    """Take off the byte that says how a row is encoded; Spark knows only 0."""
    versions = np.full(len(rows), 0xFF, np.uint8)
    some = rows.lengths > 0
    versions[some] = rows.data[rows.starts[some]]
    _refuse(versions != 0, f"{what} does not begin with encoding version 0", code)
    return _behind(rows, 1)


def numbers_at(rows: Spans, kind: str, byte: int = 0) -> npt.NDArray[np.int64]:
    """Read a number at a byte of each row, which must reach that far."""
    dtype = np.dtype(kind)
    if not len(rows):
        return np.empty(0, np.int64)
    # The number that begins at each byte of the buffer, so that one lookup fetches it whole.
    every = np.ndarray((len(rows.data) - dtype.itemsize + 1,), dtype, rows.data, strides=(1,))
    numbers: npt.NDArray[np.int64] = every[rows.starts + byte].astype(np.int64)
    return numbers


def _split_prefix(keys: Spans, encoder: KeyEncoder) -> tuple[Spans, ...]:
    _refuse(keys.lengths < _LENGTH_BYTES, "a key is too short for the length of its prefix")
    lengths = numbers_at(keys, "<i4")
    rest = keys.lengths - _LENGTH_BYTES - lengths
    _refuse((lengths < 1) | (rest < 0), "the length of a key's prefix does not fit the key")
    starts = keys.starts + _LENGTH_BYTES
    prefix = without_version(Spans(keys.data, starts, lengths), _NOT_LAID_OUT, "a key's prefix")
    if encoder.layout is KeyLayout.RANGE_SCAN and len(keys) and not rest.any():
        return (prefix,)
    behind = Spans(keys.data, starts + lengths, rest)
    return prefix, without_version(behind, _NOT_LAID_OUT, "what follows a key's prefix")


def _split_timestamps(keys: Spans, *, first: bool) -> KeyParts:
    _refuse(keys.lengths < _TIMESTAMP_BYTES, "a key is too short for its timestamp")
    lengths = keys.lengths - _TIMESTAMP_BYTES
    begin = keys.starts if first else keys.starts + lengths
    ordered = numbers_at(Spans(keys.data, begin, lengths), ">u8")
    timestamps = (ordered.view(np.uint64) ^ _SIGN).view(np.int64)
    starts = keys.starts + _TIMESTAMP_BYTES if first else keys.starts
    rows = without_version(Spans(keys.data, starts, lengths), _NOT_LAID_OUT, "a key")
    return KeyParts((rows,), timestamps)


def _behind(rows: Spans, count: int) -> Spans:
    return Spans(rows.data, rows.starts + count, rows.lengths - count)


def _ordinal(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise DecodeError("HF2106", "state schema, key encoder: an ordinal is not an integer")
    return value


def _refuse(wrong: npt.NDArray[np.bool_], message: str, code: str = _NOT_LAID_OUT) -> None:
    if wrong.any():
        raise DecodeError(code, f"RocksDB, entry {int(wrong.argmax())}: {message}")


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
    _refuse_ordered(ordered.lengths < fixed, "too short for its columns")
    places = []
    for index, kind in enumerate(types):
        cells = numbers_at(ordered, "<i8", first + _WORD * index)
        offsets, lengths = cells >> 32, cells & 0xFFFFFFFF
        _refuse_ordered(
            lengths != 1 + _width(kind), f"column {index} does not have the width of its type"
        )
        wrong = (offsets < fixed) | (offsets + lengths > ordered.lengths)
        _refuse_ordered(wrong, f"column {index} is outside the row")
        markers = ordered.starts + offsets
        places.append((markers, markers + 1))
    return places


def _avro_places(ordered: Spans, types: Sequence[pa.DataType]) -> list[tuple[Positions, Positions]]:
    """Find them in Avro records of byte strings, which are alike in every key."""
    total = sum(len(_AVRO_ONE_BYTE) + 1 + 2 + _width(kind) for kind in types)
    _refuse_ordered(ordered.lengths != total, "the length does not match its columns")
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
        _refuse_ordered(data[at + index] != byte, "not the Avro encoding of ordered columns")


def _decoded(data: Bytes, markers: Positions, values: Positions, kind: pa.DataType) -> pa.Array:
    marks = data[markers]
    _refuse_ordered(marks > _NULL, "a column has an unknown sign")
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
    _refuse_ordered(wrong, "the sign of a column contradicts its value")


def _width(kind: pa.DataType) -> int:
    if kind not in _BIG_ENDIAN:
        # Spark accepts booleans here, but the plain encoding of them writes nothing.
        raise DecodeError(_CODE, f"RocksDB: keys cannot be ordered by a column of type {kind}")
    return np.dtype(_BIG_ENDIAN[kind]).itemsize


def _refuse_ordered(wrong: npt.NDArray[np.bool_], message: str) -> None:
    if wrong.any():
        index = int(wrong.argmax())
        raise DecodeError(_CODE, f"RocksDB, entry {index}: the ordered part of a key: {message}")
