"""State rows in Avro (encodingFormat=avro) decoded into Arrow's columns.

Our own reader, since a general one makes a Python object of each value: here a column of all rows
is read at once. Spark writes each field as a union of null and its type, but elements of arrays
and values of maps only where they are nested themselves; records name no schema but by a number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from holdfast.errors import DecodeError
from holdfast.format.buffers import Bytes, Positions, Spans, arrow_numbers
from holdfast.format.rocksdb.keys import numbers_at
from holdfast.format.rows.cells import ascending, first_invalid, packed_values, spread

_CODE = "HF2726"
_LONGEST_NUMBER = 10


@dataclass
class AvroRows:
    """Where reading stands in each record, where each ends, and its number for messages."""

    data: Bytes
    at: Positions
    ends: Positions
    numbers: Positions

    @classmethod
    def of(cls, rows: Spans) -> AvroRows:
        """Begin at the start of each row."""
        ends = rows.starts + rows.lengths
        return cls(rows.data, rows.starts.copy(), ends, np.arange(len(rows), dtype=np.int64))

    def __len__(self) -> int:
        return len(self.at)

    def some(self, indices: Positions) -> AvroRows:
        """Return some of the records to read on in them; `went_on` takes the outcome back."""
        return AvroRows(self.data, self.at[indices], self.ends[indices], self.numbers[indices])

    def went_on(self, indices: Positions, read: AvroRows) -> None:
        """Move on to where reading of some records stopped."""
        self.at[indices] = read.at

    def take_number(self) -> npt.NDArray[np.int64]:
        """Read an integer of each record: seven bits a byte, the sign in the lowest bit."""
        value = np.zeros(len(self), np.uint64)
        active = np.arange(len(self), dtype=np.int64)
        for turn in range(_LONGEST_NUMBER):
            self.refuse(
                self.at[active] >= self.ends[active], "ends in the middle of a number", active
            )
            byte = self.data[self.at[active]]
            self.at[active] += 1
            value[active] |= (byte & 0x7F).astype(np.uint64) << np.uint64(7 * turn)
            active = active[byte >= 0x80]
            if not len(active):
                return _signed(value)
        raise self.error(int(active[0]), "has a number of more than 64 bits")

    def take_bytes(self) -> Spans:
        """Read a byte string of each record."""
        lengths = self.take_number()
        return self._skip(lengths, (lengths < 0) | (lengths > self.ends - self.at))

    def take_fixed(self, width: int) -> npt.NDArray[np.uint8]:
        """Read so many bytes of each record, a row for each."""
        lengths = np.full(len(self), width, np.int64)
        taken = self._skip(lengths, lengths > self.ends - self.at)
        raw: npt.NDArray[np.uint8] = self.data[taken.starts[:, np.newaxis] + np.arange(width)]
        return raw

    def refuse(
        self, wrong: npt.NDArray[np.bool_], message: str, among: Positions | None = None
    ) -> None:
        """Raise at the first record that is wrong; `among` says which ones were asked about."""
        if wrong.any():
            index = int(wrong.argmax())
            raise self.error(index if among is None else int(among[index]), message)

    def error(self, index: int, message: str) -> DecodeError:
        """Make an error that names a record."""
        return DecodeError(_CODE, f"Avro state row {int(self.numbers[index])}: it {message}")

    def _skip(self, lengths: Positions, wrong: npt.NDArray[np.bool_]) -> Spans:
        self.refuse(wrong, "ends in the middle of a value")
        taken = Spans(self.data, self.at.copy(), lengths)
        self.at += lengths
        return taken


def _signed(value: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    magnitude: npt.NDArray[np.int64] = (value >> np.uint64(1)).view(np.int64)
    sign: npt.NDArray[np.int64] = (value & np.uint64(1)).view(np.int64)
    return magnitude ^ -sign


_NO_SCHEMA = "HF2727"
_ID_BYTES = 2
_DECIMAL_BYTES = 16
_INTEGERS: Mapping[pa.DataType, str] = {
    pa.int8(): "i1",
    pa.int16(): "i2",
    pa.int32(): "i4",
    pa.int64(): "i8",
    pa.date32(): "i4",
    pa.timestamp("us"): "i8",
    pa.timestamp("us", tz="UTC"): "i8",
}
_FRACTIONS: Mapping[pa.DataType, str] = {pa.float32(): "<f4", pa.float64(): "<f8"}


def split_schema_ids(rows: Spans) -> tuple[Positions, Spans]:
    """Return the number of each row's schema, and the Avro behind it."""
    short = rows.lengths < _ID_BYTES
    if short.any():
        index = int(short.argmax())
        raise DecodeError(_CODE, f"Avro state row {index}: it is too short for a schema id")
    rest = Spans(rows.data, rows.starts + _ID_BYTES, rows.lengths - _ID_BYTES)
    return numbers_at(rows, "<i2"), rest


def decode_avro_versions(
    rows: Spans, versions: Mapping[int, pa.Schema], columns: pa.Schema
) -> pa.StructArray:
    """Decode rows that name their schema, each by the one it was written with, into `columns`."""
    ids, avro = split_schema_ids(rows)
    parts, order = [], []
    for number in np.unique(ids).tolist():
        if number not in versions:
            index = int((ids == number).argmax())
            message = f"Avro state row {index}: its schema id is {number}"
            raise DecodeError(_NO_SCHEMA, f"{message}, which no schema file has")
        indices = np.flatnonzero(ids == number)
        written = decode_avro(avro.take(indices), versions[number])
        parts.append(_resolved(written, pa.struct(columns)))
        order.append(indices)
    if len(parts) == 1:
        return parts[0]
    places = np.argsort(np.concatenate([np.empty(0, np.int64), *order]), kind="stable")
    every = pa.concat_arrays([pa.nulls(0, pa.struct(columns)), *parts])
    return every.take(arrow_numbers(places))


def decode_avro(rows: Spans, columns: pa.Schema) -> pa.StructArray:
    """Decode rows of bare Avro; raise DecodeError at the row that is none of these columns."""
    if not ascending(rows.starts, rows.lengths):
        order = np.argsort(rows.starts, kind="stable")
        return decode_avro(rows.take(order), columns).take(arrow_numbers(np.argsort(order)))
    reading = AvroRows.of(rows)
    array = _record(reading, pa.struct(columns))
    reading.refuse(reading.at < reading.ends, "continues after its last column")
    return array


def _record(rows: AvroRows, kind: pa.StructType) -> pa.StructArray:
    children = [_optional(rows, field.type) for field in kind]
    # from_arrays would lose the number of rows of a record without fields.
    return pa.Array.from_buffers(kind, len(rows), [None], children=children)


def _optional(rows: AvroRows, kind: pa.DataType) -> pa.Array:
    """Read a union of null and a type; a column of nulls is no union."""
    if pa.types.is_null(kind):
        return pa.nulls(len(rows))
    branches = rows.take_number()
    rows.refuse((branches != 0) & (branches != 1), "is neither null nor a value in a column")
    valid = branches == 1
    if valid.all():
        return _value(rows, kind)
    some = np.flatnonzero(valid)
    reading = rows.some(some)
    present = _value(reading, kind)
    rows.went_on(some, reading)
    return spread(present, valid)


def _element(rows: AvroRows, kind: pa.DataType) -> pa.Array:
    return _optional(rows, kind) if pa.types.is_nested(kind) else _value(rows, kind)


def _value(rows: AvroRows, kind: pa.DataType) -> pa.Array:
    if kind in _INTEGERS:
        return _integers(rows, kind)
    if kind in _FRACTIONS:
        return arrow_numbers(_viewed(rows.take_fixed(kind.bit_width // 8), _FRACTIONS[kind]))
    if pa.types.is_boolean(kind):
        bits = rows.take_fixed(1).ravel()
        rows.refuse(bits > 1, "has a boolean that is neither true nor false")
        return arrow_numbers(bits == 1)
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        return _bytes(rows, kind)
    if pa.types.is_decimal128(kind):
        return _decimals(rows, kind)
    if pa.types.is_struct(kind):
        return _record(rows, kind)
    if pa.types.is_map(kind) or pa.types.is_list(kind):
        return _repeated(rows, kind)
    raise DecodeError(_CODE, f"Avro state rows: Spark does not store {kind} in Avro")


def _viewed(raw: npt.NDArray[np.uint8], kind: str) -> npt.NDArray[np.float64]:
    numbers: npt.NDArray[np.float64] = np.ascontiguousarray(raw).view(kind).ravel()
    return numbers


def _integers(rows: AvroRows, kind: pa.DataType) -> pa.Array:
    values = rows.take_number()
    narrow = values.astype(_INTEGERS[kind])
    rows.refuse(narrow != values, f"has a number that is too large for {kind}")
    return arrow_numbers(narrow, kind)


def _bytes(rows: AvroRows, kind: pa.DataType) -> pa.Array:
    taken = rows.take_bytes()
    array = packed_values(taken.data, taken.starts, taken.lengths).cast(pa.binary())
    if pa.types.is_binary(kind):
        return array
    text = array.view(pa.string())
    wrong = first_invalid(text)
    if wrong is not None:
        raise rows.error(wrong, "has a string that is not UTF-8")
    return text


def _decimals(rows: AvroRows, kind: pa.DataType) -> pa.Array:
    width = 1
    while 2 ** (8 * width - 1) < 10**kind.precision:
        width += 1
    raw = rows.take_fixed(width)
    wide = np.where(raw[:, :1] >= 0x80, 0xFF, 0).astype(np.uint8).repeat(_DECIMAL_BYTES, axis=1)
    most = min(width, _DECIMAL_BYTES)
    wide[:, :most] = raw[:, ::-1][:, :most]
    array = pa.Array.from_buffers(kind, len(rows), [None, pa.py_buffer(wide)])
    wrong = first_invalid(array)
    if wrong is not None:
        raise rows.error(wrong, f"has a number that is not a {kind}")
    return array


def _repeated(rows: AvroRows, kind: pa.DataType) -> pa.Array:
    """Read arrays or maps: blocks of a count and so many items, until a count of zero."""
    is_map = pa.types.is_map(kind)
    parts = (kind.key_type, kind.item_type) if is_map else (kind.value_type,)
    if any(pa.types.is_null(part) for part in parts):
        raise DecodeError(_CODE, f"Avro state rows: Spark does not store {kind} in Avro")
    turns: list[list[pa.Array]] = []
    owners: list[Positions] = []
    left = np.zeros(len(rows), np.int64)
    active = _with_items(rows, left, np.arange(len(rows), dtype=np.int64))
    while len(active):
        reading = rows.some(active)
        turns.append([_element(reading, part) for part in parts])
        rows.went_on(active, reading)
        owners.append(active)
        left[active] -= 1
        active = _with_items(rows, left, active)
    return _gathered(kind, len(rows), [_joined(parts, turns, i) for i in range(len(parts))], owners)


def _with_items(rows: AvroRows, left: Positions, active: Positions) -> Positions:
    """Begin a new block where the last one is used up; give the rows that go on."""
    done = active[left[active] == 0]
    reading = rows.some(done)
    counts = reading.take_number() if len(done) else np.empty(0, np.int64)
    sized = np.flatnonzero(counts < 0)
    if len(sized):
        with_size = reading.some(sized)
        with_size.take_number()
        reading.went_on(sized, with_size)
        counts = np.abs(counts)
    rows.went_on(done, reading)
    # Each item takes a byte at least: a greater count is a lie, and would be waited for.
    reading.refuse((counts < 0) | (counts > reading.ends - reading.at), "has too many items")
    left[done] = counts
    return active[left[active] > 0]


def _joined(parts: tuple[pa.DataType, ...], turns: list[list[pa.Array]], index: int) -> pa.Array:
    return pa.concat_arrays([pa.nulls(0, parts[index]), *(turn[index] for turn in turns)])


def _gathered(
    kind: pa.DataType, count: int, items: list[pa.Array], owners: list[Positions]
) -> pa.Array:
    every = np.concatenate([np.empty(0, np.int64), *owners])
    order = arrow_numbers(np.argsort(every, kind="stable"))
    ends = np.cumsum(np.bincount(every, minlength=count))
    offsets = arrow_numbers(np.concatenate([[0], ends]).astype(np.int32))
    if pa.types.is_map(kind):
        return pa.MapArray.from_arrays(offsets, *(item.take(order) for item in items), type=kind)
    return pa.ListArray.from_arrays(offsets, items[0].take(order), type=kind)


def _resolved(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """Convert rows of an earlier schema to the columns of a later one, as Avro resolves them."""
    if array.type.equals(kind):
        return array
    if not pa.types.is_struct(kind):
        return _cast(array, kind)
    names = {field.name: index for index, field in enumerate(array.type)}
    children = [
        _resolved(array.field(names[field.name]), field.type)
        if field.name in names
        else pa.nulls(len(array), field.type)
        for field in kind
    ]
    valid = array.is_valid().buffers()[1]
    return pa.Array.from_buffers(kind, len(array), [valid], children=children)


def _cast(array: pa.Array, kind: pa.DataType) -> pa.Array:
    try:
        return array.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        message = f"Avro state rows: {array.type} cannot be read as {kind}"
        raise DecodeError(_CODE, message) from error
