"""Values that people write become values of the state's types, or a plain refusal."""

from __future__ import annotations

from datetime import datetime, timezone
from decimal import Decimal

import pyarrow as pa
import pytest

from holdfast.errors import UsageError
from holdfast.format.rows.types import typed_row


@pytest.mark.parametrize(
    ("value", "kind", "typed"),
    [
        ("alder", pa.string(), "alder"),
        (None, pa.string(), None),
        ("7", pa.int64(), 7),
        (7, pa.int16(), 7),
        (7.0, pa.int16(), 7),
        (0.5, pa.float32(), 0.5),
        (b"\xff", pa.binary(), b"\xff"),
        ("1.50", pa.decimal128(5, 2), Decimal("1.50")),
        ("2026-01-01T00:00:01Z", pa.timestamp("us", tz="UTC"), datetime(2026, 1, 1, 0, 0, 1)),
        ({"a": 1}, pa.struct({"a": pa.int32()}), {"a": 1}),
        ([1, None], pa.list_(pa.int64()), [1, None]),
    ],
)
def test_values_are_typed(value: object, kind: pa.DataType, typed: object) -> None:
    """Text is parsed where the column is no text."""
    if isinstance(typed, datetime):
        typed = typed.replace(tzinfo=timezone.utc)
    assert typed_row([value], pa.schema({"a": kind})).to_pylist() == [{"a": typed}]


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("x", pa.int64()),
        (300, pa.int8()),
        (2**70, pa.int64()),
        (1.5, pa.int64()),
        (float("inf"), pa.int64()),
        ({"a": 1.5}, pa.struct({"a": pa.int32()})),
        ([1, 1.5], pa.list_(pa.int64())),
        ([1], pa.int64()),
        ("noon", pa.timestamp("us", tz="UTC")),
        ("text", pa.binary()),
        ("text", pa.struct({"a": pa.int32()})),
        (7, pa.string()),
        ("12.345", pa.decimal128(4, 2)),
    ],
)
def test_what_is_no_such_value_is_refused(value: object, kind: pa.DataType) -> None:
    """With the column, its type and the value."""
    with pytest.raises(UsageError, match="column 'a' is of type") as caught:
        typed_row([value], pa.schema({"a": kind}))
    assert (caught.value.code.number, caught.value.exit_status) == ("HF2739", 2)


def test_there_is_a_value_for_each_column() -> None:
    """Neither fewer nor more."""
    with pytest.raises(UsageError, match=r"(?m)2 values are given for 1 column$"):
        typed_row(["a", "b"], pa.schema({"a": pa.string()}))
