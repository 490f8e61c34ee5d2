"""Turns Arrow columns into the lines of PostgreSQL's COPY, a column at a time, exactly.

Every value is written as text that PostgreSQL reads back as the same value; the time zone of the
session that reads it has to be UTC. Runs on executors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow

_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
"""The years 1 to 9999; other ones are spelled by hand, as PostgreSQL wants them."""
_DAY = 86_400_000_000
_ESCAPES = (("\\", "\\\\"), ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t"))
_NUL_IN_JSON = r"(^|[^\\])(\\\\)*\\u0000"


def copy_lines(attempt: int, columns: Sequence[pyarrow.Array]) -> memoryview:
    """Give the lines of some rows, each beginning with the attempt's number."""
    import pyarrow
    import pyarrow.compute as compute

    text = pyarrow.large_string()
    null = pyarrow.scalar("\\N", text)
    fields = [compute.fill_null(_escaped(column), null) for column in columns]
    fields[-1] = _around("", fields[-1], "\n")
    head = pyarrow.scalar(str(attempt), text)
    lines = compute.binary_join_element_wise(head, *fields, pyarrow.scalar("\t", text))
    _, offsets, data = lines.buffers()
    ends = memoryview(offsets).cast("q")
    return memoryview(data)[ends[lines.offset] : ends[lines.offset + len(lines)]]


def count_nul(column: pyarrow.Array, *, is_json: bool) -> int:
    """Count the values that hold a NUL character, which PostgreSQL stores in no text."""
    import pyarrow.compute as compute

    if _is_list(column.type):
        column = column.flatten()
    if not _is_text(column.type):
        return 0
    if not _may_hold(column, b"\\u0000" if is_json else b"\0"):
        return 0
    if is_json:
        found = compute.match_substring_regex(column, _NUL_IN_JSON)
    else:
        found = compute.match_substring(column, "\0")
    return int(compute.sum(found).as_py() or 0)


def _escaped(column: pyarrow.Array) -> pyarrow.Array:
    """Give a column's values so that no character of theirs ends a field or a line."""
    import pyarrow.compute as compute

    texts = _texts(column)
    if _is_list(column.type) or _is_text(column.type) or _is_bytes(column.type):
        for character, escape in _ESCAPES:
            if _may_hold(texts, character.encode()):
                texts = compute.replace_substring(texts, character, escape)
    return texts


def _may_hold(texts: pyarrow.Array, found: bytes) -> bool:
    """Tell quickly whether some value may hold these bytes; most columns never do."""
    data = texts.buffers()[2]
    return data is not None and found in bytes(data)


def _texts(column: pyarrow.Array) -> pyarrow.Array:
    """Give a column's values as PostgreSQL reads them; null stays null."""
    import pyarrow
    import pyarrow.compute as compute

    kind = column.type
    types = pyarrow.types
    if _is_list(kind):
        return _literals(column)
    if types.is_date32(kind):
        return _dates(column.cast(pyarrow.int32()))
    if types.is_timestamp(kind):
        return _moments(column.cast(pyarrow.int64()))
    if _is_bytes(kind):
        return _hexadecimal(column)
    return compute.cast(column, pyarrow.large_string())


def _literals(column: pyarrow.Array) -> pyarrow.Array:
    """Spell arrays as `{…}`; their elements are scalars."""
    import pyarrow
    import pyarrow.compute as compute

    text = pyarrow.large_string()
    flat = column.flatten()
    elements = _texts(flat)
    if _needs_quotes(flat.type):
        for character, escape in (("\\", "\\\\"), ('"', '\\"')):
            elements = compute.replace_substring(elements, character, escape)
        elements = _around('"', elements, '"')
    elements = compute.fill_null(elements, pyarrow.scalar("NULL", text))
    lengths = compute.cast(compute.fill_null(compute.list_value_length(column), 0), "int64")
    ends = compute.cumulative_sum(lengths)
    offsets = pyarrow.concat_arrays([pyarrow.array([0], pyarrow.int64()), ends])
    lists = pyarrow.LargeListArray.from_arrays(offsets, elements)
    joined = _around("{", compute.binary_join(lists, pyarrow.scalar(",", text)), "}")
    return compute.if_else(compute.is_valid(column), joined, pyarrow.scalar(None, text))


def _around(before: str, texts: pyarrow.Array, after: str) -> pyarrow.Array:
    import pyarrow
    import pyarrow.compute as compute

    text = pyarrow.large_string()
    first, last, nothing = (pyarrow.scalar(one, text) for one in (before, after, ""))
    return compute.binary_join_element_wise(first, texts, last, nothing)


def _dates(days: pyarrow.Array) -> pyarrow.Array:
    import pyarrow
    import pyarrow.compute as compute

    common = compute.cast(_within(days, _FIRST_DAY, _LAST_DAY), pyarrow.date32())
    texts = compute.cast(common, pyarrow.large_string())
    return _with_others(texts, days, _far_date)


def _moments(micros: pyarrow.Array) -> pyarrow.Array:
    import pyarrow
    import pyarrow.compute as compute

    common = _within(micros, _FIRST_DAY * _DAY, (_LAST_DAY + 1) * _DAY - 1)
    texts = compute.cast(compute.cast(common, pyarrow.timestamp("us")), pyarrow.large_string())
    return _with_others(texts, micros, _far_moment)


def _within(values: pyarrow.Array, low: int, high: int) -> pyarrow.Array:
    """Give null for what lies outside."""
    import pyarrow
    import pyarrow.compute as compute

    inside = compute.and_(compute.greater_equal(values, low), compute.less_equal(values, high))
    return compute.if_else(inside, values, pyarrow.scalar(None, values.type))


def _with_others(texts: pyarrow.Array, values: pyarrow.Array, spell: Any) -> pyarrow.Array:
    """Spell by hand what has a value and no text yet; such rows are rare."""
    import pyarrow

    if texts.null_count == values.null_count:
        return texts
    pairs = zip(texts.to_pylist(), values.to_pylist(), strict=True)
    spelled = [
        spell(value) if text is None and value is not None else text for text, value in pairs
    ]
    return pyarrow.array(spelled, pyarrow.large_string())


def _far_moment(micros: int) -> str:
    days, rest = divmod(micros, _DAY)
    seconds, fraction = divmod(rest, 1_000_000)
    time = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{fraction:06d}"
    year, month, day, era = _civil(days)
    return f"{year:04d}-{month:02d}-{day:02d} {time}{era}"


def _far_date(days: int) -> str:
    year, month, day, era = _civil(days)
    return f"{year:04d}-{month:02d}-{day:02d}{era}"


def _civil(days: int) -> tuple[int, int, int, str]:
    """Give year, month, day and era of a day: the Gregorian calendar repeats every 400 years."""
    from datetime import date, timedelta

    cycles, rest = divmod(days - _FIRST_DAY, 146_097)
    there = date(1, 1, 1) + timedelta(days=rest)
    year = there.year + 400 * cycles
    era = " BC" if year < 1 else ""
    return (1 - year if year < 1 else year), there.month, there.day, era


def _hexadecimal(column: pyarrow.Array) -> pyarrow.Array:
    import pyarrow
    import pyarrow.compute as compute

    binary = column.cast(pyarrow.large_binary())
    _, offsets, data = binary.buffers()
    places = memoryview(offsets).cast("q")[binary.offset : binary.offset + len(binary) + 1]
    begin, end = places[0], places[len(binary)]
    digits = b"" if data is None else bytes(memoryview(data)[begin:end]).hex().encode()
    moved = pyarrow.array(places, pyarrow.int64())
    doubled = compute.multiply(compute.subtract(moved, begin), 2)
    texts = pyarrow.LargeStringArray.from_buffers(
        len(binary), doubled.buffers()[1], pyarrow.py_buffer(digits)
    )
    known = compute.if_else(
        compute.is_valid(column), texts, pyarrow.scalar(None, pyarrow.large_string())
    )
    return _around("\\x", known, "")


def _needs_quotes(kind: Any) -> bool:
    import pyarrow

    types = pyarrow.types
    is_time = types.is_timestamp(kind) or types.is_date32(kind)
    return bool(is_time or _is_text(kind) or _is_bytes(kind))


def _is_text(kind: Any) -> bool:
    import pyarrow

    return bool(pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind))


def _is_bytes(kind: Any) -> bool:
    import pyarrow

    return bool(pyarrow.types.is_binary(kind) or pyarrow.types.is_large_binary(kind))


def _is_list(kind: Any) -> bool:
    import pyarrow

    return bool(pyarrow.types.is_list(kind) or pyarrow.types.is_large_list(kind))
