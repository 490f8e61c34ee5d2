"""Tells decoded values as Spark's `to_json` does, to compare them with the facts of the corpus."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa

from holdfast.format.rows.types import spark_type


def spark_rows(rows: pa.StructArray) -> list[dict[str, Any]]:
    """Tell every row."""
    return [_struct(rows.type, row) for row in rows.to_pylist()]


def _struct(fields: Iterable[pa.Field], row: dict[str, Any]) -> dict[str, Any]:
    return {field.name: _value(field, row[field.name]) for field in fields}


def _value(field: pa.Field, value: Any) -> Any:
    kind = field.type
    if value is None:
        return None
    if pa.types.is_struct(kind):
        return _struct(kind, value)
    if pa.types.is_map(kind):
        return {key: _value(kind.item_field, item) for key, item in value}
    if pa.types.is_list(kind):
        return [_value(kind.value_field, item) for item in value]
    if (spark_type(field) or "").startswith("interval year"):
        years, months = divmod(abs(value), 12)
        return f"INTERVAL '{'-' if value < 0 else ''}{years}-{months}' YEAR TO MONTH"
    return _plain(kind, value)


def _plain(kind: pa.DataType, value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, datetime):
        local = value.replace(tzinfo=None).isoformat(timespec="milliseconds")
        return f"{local}Z" if kind.tz else local
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, timedelta):
        return _day_interval(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value


def _day_interval(value: timedelta) -> str:
    minutes, seconds = divmod(abs(value), timedelta(minutes=1))
    days, rest = divmod(minutes, 24 * 60)
    whole, micros = divmod(seconds, timedelta(seconds=1))
    fraction = f".{micros.microseconds:06}".rstrip("0").rstrip(".")
    sign = "-" if value < timedelta(0) else ""
    clock = f"{rest // 60:02}:{rest % 60:02}:{whole:02}{fraction}"
    return f"INTERVAL '{sign}{days} {clock}' DAY TO SECOND"
