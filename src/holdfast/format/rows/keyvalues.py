"""Values that a person asks for, as one row typed like the columns of the state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from holdfast.errors import UsageError
from holdfast.format.arrowarrays import arrow_text
from holdfast.format.arrowkernels import cast
from holdfast.plurals import counted

_CODE = "HF2739"


def typed_row(values: Sequence[object], columns: pa.Schema) -> pa.StructArray:
    """Give one row of these values, in the order of the columns; text is parsed where need be."""
    if len(values) != len(columns):
        given = counted(len(values), "value is", "values are")
        raise UsageError(_CODE, f"{given} given for {counted(len(columns), 'column')}")
    children = [_typed(value, field) for value, field in zip(values, columns, strict=True)]
    return pa.Array.from_buffers(pa.struct(columns), 1, [None], children=children)


def _typed(value: object, field: pa.Field) -> pa.Array:
    try:
        if _would_change(value, field.type):
            raise ValueError(value)
        if value is None:
            return pa.nulls(1, field.type)
        if isinstance(value, str) or (type(value) is int and pa.types.is_integer(field.type)):
            return cast(arrow_text(str(value)), field.type)
        return pa.array([value], field.type)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        message = f"column {field.name!r} is of type {field.type}, and {value!r} is none"
        raise UsageError(_CODE, message) from error


def _would_change(value: object, kind: pa.DataType) -> bool:
    """Tell what Arrow would take, but as something else: it cuts fractions, and encodes text."""
    if isinstance(value, Mapping) and pa.types.is_struct(kind):
        return any(_would_change(value.get(field.name), field.type) for field in kind)
    if isinstance(value, list) and pa.types.is_list(kind):
        return any(_would_change(item, kind.value_type) for item in value)
    if isinstance(value, float):
        return bool(pa.types.is_integer(kind)) and not value.is_integer()
    return isinstance(value, str) and bool(pa.types.is_binary(kind))
