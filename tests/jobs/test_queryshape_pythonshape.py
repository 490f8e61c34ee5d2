"""What is certain of a transform in Python, which is never executed."""

from __future__ import annotations

import pytest

from holdfast.jobs.queryshape import UNCERTAIN, QueryShape, python_shape

HEAD = (
    "from pyspark.sql import functions as F\nfrom pyspark.sql.functions import col, sum as total\n"
)
SUM = QueryShape(None, ("stateStoreSave",), frozenset({"user"}), frozenset({"sum"}))


def shape(body: str, head: str = HEAD) -> QueryShape:
    """Return the shape of a function with this body."""
    return python_shape(f"{head}def transform(source):\n    '''Text.'''\n    {body}\n", "transform")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return source.select('a').where(col('b') > 1)", QueryShape(operators=())),
        ("return source.groupBy('user').agg(F.sum('x').alias('y'))", SUM),
        ("return source.groupBy(col('User')).agg(total('x'))", SUM),
        ("rows = source.drop('b')\n    return rows.groupBy('user').sum('x')", SUM),
        ("return source.dropDuplicates(['A', 'b'])",
         QueryShape(None, ("dedupe",), frozenset({"a", "b"}))),
        ("return source.dropDuplicates()", QueryShape(None, ("dedupe",))),
        ("return source.withWatermark('t', '1 hour').dropDuplicatesWithinWatermark(['a'])",
         QueryShape(None, ("dedupeWithinWatermark",), frozenset({"a"}))),
        ("return source.groupBy(F.window('t', '1 hour'), 'a').count()",
         QueryShape(None, ("stateStoreSave",), None, frozenset({"count"}))),
    ],
)  # fmt: skip
def test_plain_chains_have_a_shape(body: str, expected: QueryShape) -> None:
    """Operators, keys and the columns of aggregates."""
    assert shape(body) == expected


@pytest.mark.parametrize(
    "body",
    [
        "return helper(source)",
        "return source.transform(helper)",
        "return source.select(helper('a'))",
        "return source.select(COLUMNS)",
        "return source.select(F.sum('a'))",
        "return source.selectExpr('sum(a)')",
        "if source: return source\n    return source.select('a')",
        "return source.groupBy('a').count().dropDuplicates(['a'])",
        "return source.dropDuplicates(KEYS)",
        "return source.join(source, 'a')",
        "source",
        "return (",
    ],
)
def test_other_functions_have_none(body: str) -> None:
    """Silence is better than a guess."""
    assert shape(body) == UNCERTAIN


def test_a_function_is_found_once_or_not_at_all() -> None:
    """Decorated, defined twice, with several frames, or elsewhere: not certain."""
    one = "def transform(source):\n    return source\n"
    assert python_shape(one, "transform") == QueryShape(operators=())
    assert python_shape(one + one, "transform") == UNCERTAIN
    assert python_shape(f"@cache\n{one}", "transform") == UNCERTAIN
    assert python_shape(one, "other") == UNCERTAIN
    assert python_shape("def transform(a, b):\n    return a\n", "transform") == UNCERTAIN
