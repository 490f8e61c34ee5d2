"""One row a key: null keys and doubled keys are found before anything is written."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.errors import SinkError
from holdfast.spark.sinks.rowchecks import one_row_a_key

pytestmark = pytest.mark.spark

SCHEMA = "`the key` string, n int, rank int, place string"
KEY = ("the key", "n")


def kept(spark: Any, order_by: str | None, *rows: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """Give the rows that would be upserted."""
    batch = spark.createDataFrame(list(rows), SCHEMA)
    chosen = one_row_a_key(batch, KEY, order_by, "holdfast.yaml:4")
    assert chosen.columns == batch.columns
    return sorted(tuple(row) for row in chosen.collect())


def test_clean_rows_pass(spark: Any) -> None:
    """Equal values in one of two key columns are no trouble."""
    rows = [("a", 1, 1, "x"), ("a", 2, 1, "y")]
    assert kept(spark, None, *rows) == rows
    assert kept(spark, None) == []


def test_the_greatest_wins(spark: Any) -> None:
    """Null is the smallest, and a key with one row keeps it."""
    rows = [("a", 1, None, "x"), ("a", 1, 3, "y"), ("a", 1, 2, "z"), ("b", 1, None, "only")]
    assert kept(spark, "rank", *rows) == [("a", 1, 3, "y"), ("b", 1, None, "only")]


@pytest.mark.parametrize(
    ("order_by", "rows", "code", "words"),
    [
        (None, [("a", 1, 1, "x"), ("a", 1, 1, "x")], "HF5007", "1 key (the key, n) with several"),
        (
            "rank",
            [("a", 1, 1, "x"), ("a", 1, 1, "y"), ("b", 1, None, "x"), ("b", 1, None, "y")],
            "HF5007",
            "2 keys (the key, n) with several rows that rank does not distinguish",
        ),
        (
            "rank",
            [("a", None, 1, "x"), (None, 1, 1, "x"), ("ok", 1, 1, "x")],
            "HF5008",
            "2 rows with null in the key (the key, n)",
        ),
    ],
)
def test_trouble_is_counted_without_values(
    spark: Any, order_by: str | None, rows: list[tuple[Any, ...]], code: str, words: str
) -> None:
    """Keys can be personal: columns and counts are shown, no values."""
    with pytest.raises(SinkError) as caught:
        kept(spark, order_by, *rows)
    assert caught.value.code.number == code
    assert words in caught.value.message
    assert "'a'" not in caught.value.message
