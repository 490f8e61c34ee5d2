"""Lays the fields of rows side by side, as PostgreSQL's binary COPY wants them, all rows at once.

A field is its length in four bytes, -1 for null, and so many bytes. Neighbouring bytes that every
row has are laid out together, in one numpy array; Arrow then joins them with those whose number
differs from row to row. Runs on executors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Numbers: TypeAlias = npt.NDArray[Any]
"""One for each row, or a single one for all of them; a row's may itself be an array."""

_BYTES = pa.large_binary()
_LONGEST = 2**31 - 1


@dataclass(frozen=True)
class Field:
    """A column's values in PostgreSQL's binary form."""

    numbers: tuple[Numbers, ...] = ()
    """What a value begins with, of the same size in every row."""
    rest: pa.Array | None = None
    """What follows, as large binary; null is no byte."""
    known: npt.NDArray[np.bool_] | None = None
    """Which rows have a value; None where all have."""

    def parts(self, rows: int) -> Iterator[Numbers | pa.Array]:
        """Give the length, then the value."""
        yield self._lengths()
        if self.known is None:
            yield from self.numbers
        elif self.numbers:
            yield binary(_laid(self.numbers, rows), self.known)
        if self.rest is not None:
            yield self.rest

    def _lengths(self) -> Numbers:
        lengths: Any = sum(map(_size, self.numbers))
        if self.rest is not None:
            lengths = lengths + pc.fill_null(pc.binary_length(self.rest), 0).to_numpy()
        # PostgreSQL refuses such a value; wrapped around, its length could mean null.
        lengths = np.minimum(lengths, _LONGEST)
        if self.known is not None:
            lengths = np.where(self.known, lengths, -1)
        return np.asarray(lengths, "i4")


def joined(head: Sequence[Numbers], fields: Sequence[Field], rows: int) -> pa.Array:
    """Give the bytes of every row, as large binary: the head's, then those of each field."""
    pieces: list[pa.Array] = []
    together = [*head]
    for field in fields:
        for part in field.parts(rows):
            if isinstance(part, np.ndarray):
                together.append(part)
                continue
            if together:
                pieces.append(binary(_laid(together, rows)))
                together = []
            pieces.append(part)
    if together:
        pieces.append(binary(_laid(together, rows)))
    nothing = pa.scalar(b"", _BYTES)
    return pc.binary_join_element_wise(
        *pieces, nothing, null_handling="replace", null_replacement=""
    )


def binary(values: Numbers, known: npt.NDArray[np.bool_] | None = None) -> pa.Array:
    """Give the bytes of every value as they are."""
    ends = np.arange(len(values) + 1, dtype="i8") * values.itemsize
    return cut(ends, pa.py_buffer(values), known)


def cut(ends: Numbers, data: pa.Buffer | None, known: npt.NDArray[np.bool_] | None) -> pa.Array:
    """Give pieces of the data: the first begins and ends where the first two numbers say."""
    validity = None
    if known is not None:
        validity = pa.py_buffer(np.packbits(known, bitorder="little"))
    buffers = [validity, pa.py_buffer(ends), data or pa.py_buffer(b"")]
    return pa.Array.from_buffers(_BYTES, len(ends) - 1, buffers)


def ends_in(pieces: pa.Array) -> Numbers:
    """Give where in its data the first piece of large binary begins, and where each one ends."""
    if not len(pieces):
        return np.zeros(1, "i8")
    return np.frombuffer(pieces.buffers()[1], "i8", len(pieces) + 1, pieces.offset * 8)


def _laid(numbers: Sequence[Numbers], rows: int) -> Numbers:
    """Give one number after the other, the highest byte first, row by row."""
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
