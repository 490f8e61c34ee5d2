"""Turns Arrow columns into values of PostgreSQL's types, in the binary form of each, exactly.

Runs on executors.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holdfast.spark.sinks.database.postgres.copyfields import Field, Numbers, cut, ends_in, joined
from holdfast.spark.sinks.database.postgres.copynumerics import numeric_parts
from holdfast.spark.sinks.database.postgres.types import JSON

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


def field_of(column: pa.Array, kind: str) -> Field:
    """Give a column's values as those of a type that `postgrestypes` names."""
    known = None
    if column.null_count:
        known = column.is_valid().to_numpy(zero_copy_only=False)
    if kind.endswith("[]"):
        return _array_field(column, kind.removesuffix("[]"), known)
    if kind in ("text", "bytea"):
        return Field((), column.cast(pa.large_binary()), known)
    if kind == JSON:
        version = np.array(1, "i1")
        return Field((version,), column.cast(pa.large_binary()), known)
    return Field(_NUMBERS[_plain(kind)](column), None, known)


def _array_field(column: pa.Array, kind: str, known: Numbers | None) -> Field:
    """Give arrays: dimensions, whether there are nulls, type, length, first place; the elements."""
    ends = column.offsets.to_numpy()
    elements = column.values.slice(ends[0], ends[-1] - ends[0])
    written = joined((), [field_of(elements, kind)], len(elements))
    rest = cut(ends_in(written)[ends - ends[0]], written.buffers()[2], known)
    head = (1, int(elements.null_count > 0), _OIDS[_plain(kind)], np.diff(ends), 1)
    return Field(tuple(np.asarray(one, "i4") for one in head), rest, known)


def _plain(kind: str) -> str:
    """Give a type without its precision."""
    return kind.partition("(")[0]


def _stored(column: pa.Array, letter: str) -> Numbers:
    """Give the numbers as they lie in Arrow's memory; something for null."""
    size = column.type.bit_width // 8
    if not len(column):
        return np.empty(0, f"{letter}{size}")
    return np.frombuffer(column.buffers()[1], f"{letter}{size}", len(column), column.offset * size)


def _whole(column: pa.Array) -> tuple[Numbers, ...]:
    return (_stored(column, "i"),)


def _small(column: pa.Array) -> tuple[Numbers, ...]:
    """Give two bytes for Spark's byte as well."""
    return (_stored(column, "i").astype("i2", copy=False),)


def _floating(column: pa.Array) -> tuple[Numbers, ...]:
    return (_stored(column, "f"),)


def _boolean(column: pa.Array) -> tuple[Numbers, ...]:
    return (_stored(pc.cast(column, pa.uint8()), "u"),)


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
    "numeric": numeric_parts,
}
