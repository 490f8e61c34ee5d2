"""Values as people give them, in the words in which rows are shown, turned into their column's."""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from collections.abc import Mapping
from datetime import timedelta

import pyarrow as pa

from holdfast.errors import UsageError
from holdfast.format.arrowarrays import arrow_text
from holdfast.format.rows.sparktypes import spark_type

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
        message = f"{field.name} is made of {', '.join(names)}: a value of each is needed"
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
