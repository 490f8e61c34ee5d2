"""Conditions on rows: what passes is what Python would let pass; what is wrong is located."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import HoldfastError, UsageError
from holdfast.state.query.conditions import Condition

SCHEMA = pa.schema(
    [
        ("partition", pa.int32()),
        ("key", pa.struct([("device", pa.string()), ("at", pa.timestamp("us", tz="UTC"))])),
        (
            "value",
            pa.struct(
                [
                    ("count", pa.int64()),
                    ("sum", pa.int64()),
                    ("sum#2", pa.float64()),
                    ("price", pa.decimal128(10, 2)),
                    ("hot", pa.bool_()),
                    ("warmth", pa.float32()),
                    ("raw", pa.binary()),
                    ("tags", pa.list_(pa.string())),
                    ("device", pa.string()),
                    ("MS[0]", pa.int64()),
                    ("inner", pa.struct([("deep", pa.int32())])),
                ]
            ),
        ),
    ]
)


def row(number: int, device: str | None, /, **value: Any) -> dict[str, Any]:
    """One row; columns of the value that are not named are null."""
    at = datetime(2026, 1, 1, number, tzinfo=timezone.utc)
    return {"partition": number % 2, "key": {"device": device, "at": at}, "value": value}


ROWS = [
    row(0, "a", count=1, sum=10, price=Decimal("1.50"), hot=True, raw=b"x", device="other"),
    row(1, "b", count=20, sum=-5, **{"sum#2": 2.5, "MS[0]": 7}),
    row(2, "a's", count=300, hot=False, tags=["t"], inner={"deep": 9}),
    row(3, None, count=None, sum=10, price=Decimal("9.99"), warmth=0.1, **{"MS[0]": 2**60 + 1}),
]


def passing(condition: str) -> list[int]:
    """Name the rows that pass."""
    array = pa.array(ROWS, pa.struct(SCHEMA))
    batch = pa.RecordBatch.from_struct_array(array)
    hours = Condition(condition, SCHEMA).among(batch).column("key").field("at").to_pylist()
    return [at.hour for at in hours]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("count > 10", [1, 2]),
        ("count >= 20 and count < 300", [1]),
        ("count<>20", [0, 2]),
        ("count == 1 or device = 'b'", [0, 1]),
        ("device = 'a''s'", [2]),
        ('device = "a\'s"', [2]),
        ("device != 'a'", [1, 2]),
        ("device is null", [3]),
        ("device IS NOT NULL AND sum = 10", [0]),
        ("not device = 'a'", [1, 2]),
        ("not (count > 10 or sum = 10)", []),
        ("not (sum = 5 and count = 1)", [0, 1, 2, 3]),
        ("not (device = 'b' or count = 1)", [2]),
        ("device in ('a', 'b')", [0, 1]),
        ("count not in (1, 20)", [2]),
        ("device like 'a%'", [0, 2]),
        ("device not like 'a%'", [1]),
        ("key.device = 'a'", [0]),
        ("value.device = 'other'", [0]),
        ("sum#2 > 2", [1]),
        ("`sum#2` = 2.5", [1]),
        ("`MS[0]` = 7", [1]),
        ("inner.deep = 9", [2]),
        ("value.inner.deep is null", [0, 1, 3]),
        ("tags is not null", [2]),
        ("sum = -5", [1]),
        ("count > 1.5", [1, 2]),
        ("`MS[0]` > 7.5", [3]),
        ("`MS[0]` = 1152921504606846977", [3]),
        ("warmth = 0.1", [3]),
        ("warmth > 0", [3]),
        ("price > 1.49", [0, 3]),
        ("price = 9.99", [3]),
        ("hot = true", [0]),
        ("hot = false", [2]),
        ("raw = 'eA=='", [0]),
        ("partition = 1", [1, 3]),
        ("at >= '2026-01-01 02:00'", [2, 3]),
        ("at = '2026-01-01T01:00:00Z'", [1]),
        ("at < '2026-01-01T03:00:00+02:00'", [0]),
        ("at > '2026-01-01'", [1, 2, 3]),
        ("count > 10 and device = 'b' or sum = 10", [0, 1, 3]),
        ("count > 10 and (device = 'b' or sum = 10)", [1]),
    ],
)
def test_what_passes(condition: str, expected: list[int]) -> None:
    """As in SQL, nulls as well."""
    assert passing(condition) == expected


@pytest.mark.parametrize(
    ("condition", "character", "said"),
    [
        ("", 1, "a column is expected, not the end"),
        ("count >", 8, "a value is expected, not the end"),
        ("count > 10 andd sum = 1", 12, "not andd"),
        ("count > and", 9, "a value is expected"),
        ("device = b", 10, "strings must be quoted"),
        ("device = 'b", 10, "not closed"),
        ("device = null", 10, "is null"),
        ("count ; 1", 7, "';'"),
        ("(count = 1", 11, ") is expected"),
        ("count = 1)", 10, "the end is expected"),
        ("count", 6, "a comparison is expected"),
        ("count not = 1", 11, "a comparison is expected"),
        ("count is 1", 10, "`null` is expected"),
        ("device like 5", 13, "a quoted string"),
        ("count like 'a'", 1, "`like` requires a string"),
        ("count = 'many'", 9, "'many' is not"),
        ("count = true", 9, "int64"),
        ("device = 5", 10, "string"),
        ("count = 99999999999999999999", 9, "is not"),
        ("tags = 'a'", 1, "only `is null` is supported"),
        ("at = 'yesterday'", 6, "'yesterday' is not"),
        ("and = 1", 1, "a column is expected"),
        ("key. = 1", 6, "a column is expected"),
        ("(" * 500, 52, "nested too deeply"),
        ("not " * 500, 205, "nested too deeply"),
        ("count in 5", 10, "( is expected"),
        ("count in (5", 12, ") is expected"),
        ("__import__('os')", 11, "a comparison is expected"),
    ],
)
def test_what_is_wrong_is_located(condition: str, character: int, said: str) -> None:
    """At the character, counted from 1."""
    with pytest.raises(UsageError) as failure:
        Condition(condition, SCHEMA)
    assert failure.value.code.number == "HF2771"
    assert failure.value.message.startswith(f"at character {character}: ")
    assert said in failure.value.message
    assert failure.value.at == f"character {character} of the condition {condition}"


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("sum = 1 and nobody = 1", "there is no column nobody; the columns are: partition, key."),
        ("conut = 1", "did you mean value.count?"),
        ("inner = 1", "inner is a struct; its fields are value.inner.deep"),
        ("key = 1", "key is a struct; its fields are key.device, key.at"),
    ],
)
def test_an_unknown_column_is_told_with_those_that_are_there(condition: str, said: str) -> None:
    """With the nearest one, or its fields."""
    with pytest.raises(UsageError) as failure:
        Condition(condition, SCHEMA)
    assert failure.value.code.number == "HF2772"
    assert said in failure.value.message
    assert failure.value.at is not None
    assert failure.value.at.startswith("character ")


@given(st.text(alphabet="count device'\"`()<>=!.,#0123 andornotis null;\\\n-", max_size=60))
def test_no_text_breaks_it(condition: str) -> None:
    """It is a condition, or it is refused with a code."""
    try:
        passing(condition)
    except HoldfastError as error:
        assert error.code.number in ("HF2771", "HF2772")


COMPARE: dict[str, Callable[[int, int], bool]] = {
    "=": int.__eq__,
    "!=": int.__ne__,
    "<": int.__lt__,
    "<=": int.__le__,
    ">": int.__gt__,
    ">=": int.__ge__,
}


@given(st.sampled_from(sorted(COMPARE)), st.integers(-5, 25))
def test_numbers_compare_as_python_does(operator: str, number: int) -> None:
    """Every operator."""
    counts = [(at, one["value"]["count"]) for at, one in enumerate(ROWS)]
    expected = [at for at, one in counts if one is not None and COMPARE[operator](one, number)]
    assert passing(f"count {operator} {number}") == expected
