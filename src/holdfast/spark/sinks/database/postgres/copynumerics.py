"""Turns decimals into PostgreSQL's binary numerics: digits of base 10 000, around the point.

Runs on executors.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holdfast.spark.sinks.database.postgres.copyfields import Numbers

_DIGIT = 4
"""How many decimal digits are in one of PostgreSQL's."""
_NEGATIVE = 0x4000
_WORDS = 4
"""How many words of 32 bits a decimal has in Arrow's memory, the lowest first."""


def numeric_parts(column: pa.Array) -> tuple[Numbers, ...]:
    """Give number of digits, weight of the first one, sign, scale, digits; something for null.

    Every value has all the digits of its type: PostgreSQL drops zeros at both ends.
    """
    precision, scale = column.type.precision, column.type.scale
    before, after = -(-(precision - scale) // _DIGIT), -(-scale // _DIGIT)
    head = (before + after, before - 1, max(scale, 0))
    count, weight, shown = (np.array(one, "i2") for one in head)
    negative = _words(column)[:, -1] >> 31
    sign = (negative * _NEGATIVE).astype("i2")
    digits = _digits(_words(pc.abs(column)), precision, before + after, -scale % _DIGIT)
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
