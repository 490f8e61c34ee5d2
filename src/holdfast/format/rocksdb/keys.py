"""Keys as RocksDB holds them, taken apart: column family, prefix, ordered part, rows."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt

from holdfast.errors import DecodeError
from holdfast.format.fields import INT32, Fields
from holdfast.format.spans import Positions, Spans

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
        raise DecodeError(_UNKNOWN_ENCODER, f"state schema: keys are encoded by {name!r}")
    layout = KeyLayout(name)
    if layout is KeyLayout.PREFIX_SCAN:
        return KeyEncoder(layout, fields.take_integer("numColsPrefixKey", bounds=INT32))
    if layout is KeyLayout.RANGE_SCAN:
        ordinals = fields.take_list("orderingOrdinals")
        return KeyEncoder(layout, ordinals=tuple(map(_ordinal, ordinals)))
    return KeyEncoder(layout)


def family_prefix(family_id: int) -> bytes:
    """Give the bytes that every key of a column family begins with."""
    return family_id.to_bytes(_FAMILY_BYTES, "little", signed=True)


def split_families(keys: Spans) -> tuple[npt.NDArray[np.int16], Spans]:
    """Give the id of each key's column family, and what follows it."""
    _refuse(keys.lengths < _FAMILY_BYTES, "a key is too short to name its column family")
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
        raise DecodeError("HF2106", "state schema, key encoder: an ordinal is no integer")
    return value


def _refuse(wrong: npt.NDArray[np.bool_], message: str, code: str = _NOT_LAID_OUT) -> None:
    if wrong.any():
        raise DecodeError(code, f"RocksDB, entry {int(wrong.argmax())}: {message}")
