"""Schemas of stores, as far as they can be told without Spark."""

from __future__ import annotations

import pytest

from holdfast.records.facts import ColumnFacts
from holdfast.spark.facts.plan.tree import Node
from holdfast.spark.facts.state import _as_scanned, attributes
from tests.spark.facts.plan.test_normal import recorded

KEY, AT, VALUE, MATCHED = (
    ColumnFacts("key", "string"),
    ColumnFacts("at", "timestamp"),
    ColumnFacts("value", "bigint"),
    ColumnFacts("matched", "boolean"),
)


def side(number: int) -> Node:
    """Give a side of the recorded join."""
    _, planned = recorded("join")
    return planned.children[number]


@pytest.mark.parametrize(
    ("number", "wanted"),
    [
        (0, (KEY, AT, VALUE, MATCHED)),
        # A filter right above the source leaves the key nullable, one above the watermark does not.
        (1, (KEY, ColumnFacts("at", "timestamp", nullable=False), VALUE, MATCHED)),
    ],
)
def test_a_filter_above_a_source_leaves_columns_nullable(
    number: int, wanted: tuple[ColumnFacts, ...]
) -> None:
    """As the checkpoints of real batches have it."""
    strict = tuple(ColumnFacts(one.name, one.type, nullable=False) for one in wanted[:-1])
    assert _as_scanned((*strict, MATCHED), side(number)) == wanted


def test_other_columns_stay_as_spark_has_them() -> None:
    """Where a side is no plain source, nothing is guessed."""
    other = (ColumnFacts("key", "string", nullable=False), MATCHED)
    assert _as_scanned(other, side(1)) == other
    _, planned = recorded("agg")
    assert _as_scanned(other, planned) == other


def test_attributes_are_columns() -> None:
    """With Spark's short spelling of their types."""
    _, planned = recorded("window")
    node = next(one for one in planned.walk() if one.name == "StateStoreSaveExec")
    assert attributes(node.trees("keyExpressions")) == (
        ColumnFacts("window", "struct<start:timestamp,end:timestamp>", nullable=False),
        KEY,
    )
