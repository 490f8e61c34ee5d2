"""Turns Arrow columns into the bytes of PostgreSQL's COPY in its binary format, exactly.

The format is HEADER, rows, TRAILER; a row is the number of its fields in two bytes, and the fields.
A field is its length in four bytes, -1 for null, and so many bytes: a value in the binary form of
its type. Neighbouring bytes that every row has are laid out together, in one numpy array; Arrow
then joins them with those whose number differs from row to row.

Runs on executors, each of which imports this before its first row: see `format/buffers.py` for what
takes long to import. ADBC's driver, which copies Arrow batches too, is measured beside this by
`python -m benchmarks copying`; why it is not used is on docs/benchmarks.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow._compute import JoinOptions, call_function

from holdfast.format.buffers import cast, numbers_of, present
from holdfast.spark.sinks.database.dialects.postgres.copytask import JSON

HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
"""The signature, no flags, no extension."""
TRAILER = b"\xff\xff"

Numbers: TypeAlias = npt.NDArray[Any]
"""One for each row, or a single one for all of them; a row's may itself be an array."""

_BYTES = pa.large_binary()
_NOTHING = pa.Array.from_buffers(_BYTES, 1, [None, pa.py_buffer(bytes(16)), pa.py_buffer(b"")])[0]
_LONGEST = 2**31 - 1
_EPOCH_DAYS = 10_957
"""PostgreSQL counts from 2000-01-01."""
_EPOCH_MICROSECONDS = _EPOCH_DAYS * 86_400_000_000
_OIDS = {
    "boolean": 16,
    "bytea": 17,
    "bigint": 20,
    "smallint": 21,
    "integer": 23,
    "text": 25,
    "real": 700,
    "double precision": 701,
    "date": 1082,
    "timestamp without time zone": 1114,
    "timestamp with time zone": 1184,
    "numeric": 1700,
}
"""The numbers of the types in every PostgreSQL."""
_DIGIT = 4
"""How many decimal digits are in one of PostgreSQL's."""
_NEGATIVE = 0x4000
_WORDS = 4
"""How many words of 32 bits a decimal has in Arrow's memory, the lowest first."""


def copy_rows(attempt: int, columns: Sequence[pa.Array], kinds: Sequence[str]) -> memoryview:
    """Return the bytes of some rows: the attempt's number, then a value of each column's type."""
    fields = [CopyField((np.array(attempt, "i8"),))]
    fields += [_field_of(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    rows = _joined([np.array(len(fields), "i2")], fields, len(columns[0]))
    ends = _ends_in(rows)
    return memoryview(rows.buffers()[2] or b"")[ends[0] : ends[-1]]


@dataclass(frozen=True)
class CopyField:
    """A column's values in PostgreSQL's binary form."""

    numbers: tuple[Numbers, ...] = ()
    """What a value begins with, of the same size in every row."""
    rest: pa.Array | None = None
    """What follows, as large binary; null is no byte."""
    known: npt.NDArray[np.bool_] | None = None
    """Which rows have a value; None where all have."""

    def parts(self, rows: int) -> Iterator[Numbers | pa.Array]:
        """Return the length, then the value."""
        yield self._lengths()
        if self.known is None:
            yield from self.numbers
        elif self.numbers:
            yield _binary(_laid(self.numbers, rows), self.known)
        if self.rest is not None:
            yield self.rest

    def _lengths(self) -> Numbers:
        lengths: Any = sum(map(_size, self.numbers))
        if self.rest is not None:
            lengths = lengths + np.diff(_ends_in(self.rest))
        # PostgreSQL refuses such a value; wrapped around, its length could mean null.
        lengths = np.minimum(lengths, _LONGEST)
        if self.known is not None:
            lengths = np.where(self.known, lengths, -1)
        return np.asarray(lengths, "i4")


def _joined(head: Sequence[Numbers], fields: Sequence[CopyField], rows: int) -> pa.Array:
    """Return the bytes of every row, as large binary: the head's, then those of each field."""
    pieces: list[pa.Array] = []
    together = [*head]
    for field in fields:
        for part in field.parts(rows):
            if isinstance(part, np.ndarray):
                together.append(part)
                continue
            if together:
                pieces.append(_binary(_laid(together, rows)))
                together = []
            pieces.append(part)
    if together:
        pieces.append(_binary(_laid(together, rows)))
    return call_function(
        "binary_join_element_wise", [*pieces, _NOTHING], JoinOptions("replace", "")
    )


def _binary(values: Numbers, known: npt.NDArray[np.bool_] | None = None) -> pa.Array:
    """Return the bytes of every value as they are."""
    ends = np.arange(len(values) + 1, dtype="i8") * values.itemsize
    return _cut(ends, pa.py_buffer(values), known)


def _cut(ends: Numbers, data: pa.Buffer | None, known: npt.NDArray[np.bool_] | None) -> pa.Array:
    """Return pieces of the data: the first begins and ends where the first two numbers say."""
    validity = None
    if known is not None:
        validity = pa.py_buffer(np.packbits(known, bitorder="little"))
    buffers = [validity, pa.py_buffer(ends), data or pa.py_buffer(b"")]
    return pa.Array.from_buffers(_BYTES, len(ends) - 1, buffers)


def _ends_in(pieces: pa.Array) -> Numbers:
    """Return where in its data the first piece of large binary begins, and where each one ends."""
    if not len(pieces):
        return np.zeros(1, "i8")
    return np.frombuffer(pieces.buffers()[1], "i8", len(pieces) + 1, pieces.offset * 8)


def _laid(numbers: Sequence[Numbers], rows: int) -> Numbers:
    """Return one number after the other, the highest byte first, row by row."""
    kinds = [
        (f"n{place}", one.dtype.newbyteorder(">"), one.shape[1:])
        for place, one in enumerate(numbers)
    ]
    laid = np.empty(rows, kinds)
    for place, one in enumerate(numbers):
        laid[f"n{place}"] = one
    return laid


def _size(numbers: Numbers) -> int:
    return int(numbers.itemsize * np.prod(numbers.shape[1:], dtype=int))


def _field_of(column: pa.Array, kind: str) -> CopyField:
    """Return a column's values as those of a type that the dialect names."""
    known = None
    if column.null_count:
        known = numbers_of(present(column))
    if kind.endswith("[]"):
        return _array_field(column, kind.removesuffix("[]"), known)
    if kind in ("text", "bytea"):
        return CopyField((), cast(column, _BYTES), known)
    if kind == JSON:
        version = np.array(1, "i1")
        return CopyField((version,), cast(column, _BYTES), known)
    return CopyField(_NUMBERS[_plain(kind)](column), None, known)


def _array_field(column: pa.Array, kind: str, known: Numbers | None) -> CopyField:
    """Return arrays: dimensions, whether nulls are in it, type, length, first place; elements."""
    ends = numbers_of(column.offsets)
    elements = column.values.slice(ends[0], ends[-1] - ends[0])
    written = _joined((), [_field_of(elements, kind)], len(elements))
    rest = _cut(_ends_in(written)[ends - ends[0]], written.buffers()[2], known)
    head = (1, int(elements.null_count > 0), _OIDS[_plain(kind)], np.diff(ends), 1)
    return CopyField(tuple(np.asarray(one, "i4") for one in head), rest, known)


def _plain(kind: str) -> str:
    """Return a type without its precision."""
    return kind.partition("(")[0]


def _stored(column: pa.Array, letter: str) -> Numbers:
    """Return the numbers as they lie in Arrow's memory; something for null."""
    size = column.type.bit_width // 8
    if not len(column):
        return np.empty(0, f"{letter}{size}")
    return np.frombuffer(column.buffers()[1], f"{letter}{size}", len(column), column.offset * size)


def _whole(column: pa.Array) -> tuple[Numbers, ...]:
    return (_stored(column, "i"),)


def _small(column: pa.Array) -> tuple[Numbers, ...]:
    """Return two bytes for Spark's byte as well."""
    return (_stored(column, "i").astype("i2", copy=False),)


def _floating(column: pa.Array) -> tuple[Numbers, ...]:
    return (_stored(column, "f"),)


def _boolean(column: pa.Array) -> tuple[Numbers, ...]:
    return (_stored(cast(column, pa.uint8()), "u"),)


def _date(column: pa.Array) -> tuple[Numbers, ...]:
    return (_since(_stored(column, "i"), _EPOCH_DAYS),)


def _moment(column: pa.Array) -> tuple[Numbers, ...]:
    return (_since(_stored(column, "i"), _EPOCH_MICROSECONDS),)


def _since(counts: Numbers, epoch: int) -> Numbers:
    """Count from another epoch; what lies too far back stays far outside of PostgreSQL's range.

    The least number means -infinity there.
    """
    least = int(np.iinfo(counts.dtype).min) + 1
    since: Numbers = np.maximum(counts, least + epoch) - counts.dtype.type(epoch)
    return since


def _numeric_parts(column: pa.Array) -> tuple[Numbers, ...]:
    """Return number of digits, weight of the first one, sign, scale, digits; something for null.

    Every value has all the digits of its type: PostgreSQL drops zeros at both ends.
    """
    precision, scale = column.type.precision, column.type.scale
    before, after = -(-(precision - scale) // _DIGIT), -(-scale // _DIGIT)
    head = (before + after, before - 1, max(scale, 0))
    count, weight, shown = (np.array(one, "i2") for one in head)
    negative = _words(column)[:, -1] >> 31
    sign = (negative * _NEGATIVE).astype("i2")
    absolute = _words(call_function("abs", [column]))
    digits = _digits(absolute, precision, before + after, -scale % _DIGIT)
    return count, weight, sign, shown, digits


def _digits(words: Numbers, precision: int, count: int, lacking: int) -> Numbers:
    """Divide again and again; the last digit lacks some decimal ones, which are zeros."""
    used = next(one for one in range(1, _WORDS + 1) if 10**precision <= 2 ** (32 * one))
    left = [words[:, place].astype("u8") for place in reversed(range(used))]
    digits = np.empty((len(words), count), "i2")
    base, factor = 10 ** (_DIGIT - lacking), 10**lacking
    for place in reversed(range(count)):
        digits[:, place] = _divide(left, base) * factor
        base, factor = 10**_DIGIT, 1
    return digits


def _divide(left: list[Numbers], base: int) -> Numbers:
    """Divide in place, as by hand, the highest word first; give what remains."""
    remains = np.zeros_like(left[0])
    for place, word in enumerate(left):
        whole = (remains << 32) | word
        left[place] = whole // base
        remains = whole - left[place] * base
    return remains


def _words(column: pa.Array) -> Numbers:
    if not len(column):
        return np.empty((0, _WORDS), "<u4")
    count, begin = len(column) * _WORDS, column.offset * _WORDS * 4
    return np.frombuffer(column.buffers()[1], "<u4", count, begin).reshape(-1, _WORDS)


_NUMBERS: dict[str, Callable[[pa.Array], tuple[Numbers, ...]]] = {
    "smallint": _small,
    "integer": _whole,
    "bigint": _whole,
    "real": _floating,
    "double precision": _floating,
    "boolean": _boolean,
    "date": _date,
    "timestamp with time zone": _moment,
    "timestamp without time zone": _moment,
    "numeric": _numeric_parts,
}
