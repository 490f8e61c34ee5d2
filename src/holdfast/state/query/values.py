"""Values of Arrow columns as JSON knows them, a whole column at a time.

Times are RFC 3339 in UTC, bytes Base64, decimals text with every digit, intervals ISO 8601. A
number that JSON has no word for is text: NaN, Infinity.
"""

from __future__ import annotations

import binascii
import math
import re
from base64 import b64decode, b64encode
from collections.abc import Mapping
from datetime import timedelta
from itertools import pairwise

import pyarrow as pa

from holdfast.errors import UsageError
from holdfast.format.buffers import arrow_text, cast, present, replaced, time_texts
from holdfast.format.rows.types import spark_type

_MICROS = 1_000_000
_WHOLE_SECONDS = r"\.0+(Z?)$"


def plain_rows(batch: pa.RecordBatch) -> list[dict[str, object]]:
    """Yield each row as a mapping of its columns."""
    columns = [plain_values(batch.column(at), field) for at, field in enumerate(batch.schema)]
    return [dict(zip(batch.schema.names, row, strict=True)) for row in zip(*columns, strict=True)]


def plain_values(values: pa.Array, field: pa.Field) -> list[object]:
    """Return the values of one column."""
    if pa.types.is_struct(values.type):
        return _structs(values)
    if pa.types.is_map(values.type):
        return _maps(values)
    if pa.types.is_list(values.type):
        inner = plain_values(values.values, values.type.value_field)
        return [None if span is None else inner[slice(*span)] for span in _spans(values)]
    return _scalars(values, field)


def _structs(values: pa.StructArray) -> list[object]:
    names = [field.name for field in values.type]
    columns = [plain_values(values.field(at), field) for at, field in enumerate(values.type)]
    rows = zip(*columns, strict=True) if columns else (() for _ in range(len(values)))
    kept = present(values).to_pylist() if values.null_count else [True] * len(values)
    return [
        dict(zip(names, row, strict=True)) if there else None
        for there, row in zip(kept, rows, strict=True)
    ]


def _maps(values: pa.MapArray) -> list[object]:
    """Return an object for a map with text as keys, else pairs."""
    keys = plain_values(values.keys, values.type.key_field)
    items = plain_values(values.items, values.type.item_field)
    by_text = pa.types.is_string(values.type.key_type)
    found: list[object] = []
    for span in _spans(values):
        if span is None:
            found.append(None)
            continue
        pairs = zip(keys[slice(*span)], items[slice(*span)], strict=True)
        found.append(dict(pairs) if by_text else [list(pair) for pair in pairs])
    return found


def _spans(values: pa.ListArray) -> list[tuple[int, int] | None]:
    kept = present(values).to_pylist()
    spans = pairwise(values.offsets.to_pylist())
    return [span if there else None for there, span in zip(kept, spans, strict=True)]


def _scalars(values: pa.Array, field: pa.Field) -> list[object]:
    kind = values.type
    if pa.types.is_timestamp(kind):
        form = "%Y-%m-%dT%H:%M:%SZ" if kind.tz is not None else "%Y-%m-%dT%H:%M:%S"
        return _listed(replaced(time_texts(values, form), _WHOLE_SECONDS, r"\1"))
    if pa.types.is_date(kind) or pa.types.is_decimal(kind) or pa.types.is_time(kind):
        return _listed(cast(values, pa.string()))
    if pa.types.is_floating(kind):
        return _numbers(values)
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return [None if one is None else b64encode(one).decode() for one in values.to_pylist()]
    if pa.types.is_duration(kind):
        micros = cast(cast(values, pa.duration("us")), pa.int64())
        return [None if one is None else _seconds_text(one) for one in micros.to_pylist()]
    if (spark_type(field) or "").startswith(("interval year", "interval month")):
        return [None if one is None else _months_text(one) for one in values.to_pylist()]
    return _texts(values) if pa.types.is_string(kind) else _listed(values)


def _listed(values: pa.Array) -> list[object]:
    found: list[object] = values.to_pylist()
    return found


def _texts(values: pa.Array) -> list[object]:
    """Spark keeps whatever bytes a string was made from; those that are no text are escaped."""
    try:
        return _listed(values)
    except UnicodeDecodeError:
        raw = cast(values, pa.binary()).to_pylist()
        return [None if one is None else one.decode(errors="backslashreplace") for one in raw]


def _numbers(values: pa.Array) -> list[object]:
    if pa.types.is_float64(values.type):
        found = values.to_pylist()
    else:
        # A float has fewer digits than the double that Python would show.
        texts = cast(values, pa.string()).to_pylist()
        found = [None if one is None else float(one) for one in texts]
    return [one if one is None or math.isfinite(one) else _odd_number(one) for one in found]


def _odd_number(number: float) -> str:
    if math.isnan(number):
        return "NaN"
    return "Infinity" if number > 0 else "-Infinity"


def _months_text(months: int) -> str:
    return f"{'-' if months < 0 else ''}P{abs(months)}M"


def _seconds_text(micros: int) -> str:
    seconds, rest = divmod(abs(micros), _MICROS)
    fraction = f".{rest:06}".rstrip("0") if rest else ""
    return f"{'-' if micros < 0 else ''}PT{seconds}{fraction}S"


_ZONE = re.compile(r":\d\d.*(?:[zZ]|[-+]\d\d:?(?:\d\d)?)$")
"""Ends a time that names its zone; one without is in UTC."""
_SECONDS = re.compile(r"(-?)PT(\d+)(?:\.(\d{1,6}))?S")
_MONTHS = re.compile(r"(-?)P(\d+)M")


def given_value(value: object, field: pa.Field) -> object:
    """Turn what `plainvalues` shows back; what is no such text stays, for others to refuse."""
    kind = field.type
    if isinstance(value, Mapping) and pa.types.is_struct(kind):
        return _struct(value, field)
    if isinstance(value, list) and pa.types.is_list(kind):
        return [given_value(one, kind.value_field) for one in value]
    return _scalar(value, field) if isinstance(value, str) else value


def _struct(value: Mapping[str, object], field: pa.Field) -> dict[str, object]:
    names = [one.name for one in field.type]
    if set(value) != set(names):
        message = f"{field.name} consists of {', '.join(names)}: a value for each is required"
        raise UsageError("HF2776", message)
    return {one.name: given_value(value[one.name], one) for one in field.type}


def _scalar(text: str, field: pa.Field) -> object:
    kind = field.type
    if (spark_type(field) or "").startswith(("interval year", "interval month")):
        found = _MONTHS.fullmatch(text)
        return text if found is None else int(f"{found[1]}{found[2]}")
    if pa.types.is_duration(kind):
        return _duration(text)
    if pa.types.is_binary(kind):
        return _bytes(text)
    if pa.types.is_floating(kind):
        return _number(text)
    if pa.types.is_timestamp(kind) and kind.tz is not None and not _ZONE.search(text):
        # Arrow wants a zone where the column has one; everything that is shown is in UTC.
        return _parsed(text, pa.timestamp("us"), kind)
    plain = pa.types.is_timestamp(kind) or pa.types.is_date(kind) or pa.types.is_decimal(kind)
    return _parsed(text, kind, kind) if plain else text


def _parsed(text: str, written: pa.DataType, kind: pa.DataType) -> object:
    try:
        return arrow_text(text).cast(written).cast(kind)[0].as_py()
    except (pa.ArrowException, ValueError, OverflowError):
        return text


def _number(text: str) -> object:
    try:
        return float(text)
    except ValueError:
        return text


def _duration(text: str) -> object:
    found = _SECONDS.fullmatch(text)
    if found is None:
        return text
    try:
        length = timedelta(seconds=int(found[2]), microseconds=int((found[3] or "").ljust(6, "0")))
    except OverflowError:
        return text
    return -length if found[1] else length


def _bytes(text: str) -> object:
    try:
        return b64decode(text, validate=True)
    except binascii.Error:
        return text
