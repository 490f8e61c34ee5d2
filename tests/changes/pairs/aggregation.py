"""Changes of an aggregation: keys, functions, their order and arguments, filters around it."""

from __future__ import annotations

from typing import Any

from pyspark.sql import functions as F  # noqa: N812

from tests.changes.inputs import ORDERS_FIRST, ORDERS_SECOND, Inputs, order
from tests.changes.pair import ABOVE, Build, Pair, Query, grouped, updating

NULL_FIRST: Inputs = {
    "in": (
        *ORDERS_FIRST,
        (order(None, "x", None, 1, 0.5, "10:07"), order("a", "x", 3, 1, 0.5, "10:07")),
    )
}
NULL_SECOND: Inputs = {
    "in": (
        *ORDERS_SECOND,
        (order(None, "x", None, 1, 0.5, "10:23"), order("a", "x", None, 1, 0.5, "10:23")),
    )
}
SMALL: Inputs = {
    "in": ((order("a", "x", 0, 5, 0.1, "10:08"), order("c", "y", 1, 5, 0.1, "10:09")),)
}
"""Smaller than all before, and of few users."""
NULLS: dict[str, Any] = {"first": NULL_FIRST, "second": NULL_SECOND}


def by(*keys: str, **functions: str) -> Query:
    """Return a query that groups orders by expressions and names each function's result."""
    return updating(
        lambda b: (
            b.orders()
            .groupBy(*map(F.expr, keys))
            .agg(*(F.expr(function).alias(name) for name, function in functions.items()))
        ),
        len(keys),
    )


def counts(build: Build) -> Query:
    """Return a query that counts by its first column."""
    return updating(build)


COUNT = "count(1)"
BY_USER = by("user", n=COUNT)
SUM = by("user", n="sum(amount)")


def summed(bench: Any) -> Any:
    """Return sum and count by user."""
    return bench.orders().groupBy("user").agg(F.expr("sum(amount) as s"), F.expr("count(1) as n"))


def extremes(bench: Any) -> Any:
    """Return sum and maximum by user, of one type."""
    return (
        bench.orders().groupBy("user").agg(F.expr("sum(amount) as s"), F.expr("max(weight) as m"))
    )


PAIRS = grouped(
    "aggregation",
    (
        Pair("unchanged", "nothing", BY_USER, BY_USER, harmless=True),
        Pair("key-added", "group by user → user, city", BY_USER, by("user", "city", n=COUNT)),
        Pair("key-removed", "group by user, city → user", by("user", "city", n=COUNT), BY_USER),
        Pair("key-of-another-type", "group by user → amount", BY_USER, by("amount", n=COUNT)),
        Pair("key-of-the-same-type", "group by user → city", BY_USER, by("city", n=COUNT)),
        Pair("key-expression", "group by user → upper(user)", BY_USER, by("upper(user)", n=COUNT)),
        Pair(
            "keys-swapped",
            "group by user, city → city, user",
            by("user", "city", n=COUNT),
            by("city", "user", n=COUNT),
        ),
        Pair(
            "key-nulls-filled",
            "group by user → coalesce(user, 'none')",
            BY_USER,
            by("coalesce(user, 'none')", n=COUNT),
            **NULLS,
        ),
        Pair(
            "key-nulls-no-longer-filled",
            "group by coalesce(user, 'none') → user",
            by("coalesce(user, 'none')", n=COUNT),
            BY_USER,
            **NULLS,
        ),
        Pair(
            "key-to-global",
            "group by user → no key",
            BY_USER,
            updating(lambda b: b.orders().groupBy().count(), 0),
        ),
        Pair("function-added", "count → count, sum", BY_USER, by("user", n=COUNT, s="sum(amount)")),
        Pair(
            "function-removed", "count, sum → count", by("user", n=COUNT, s="sum(amount)"), BY_USER
        ),
        Pair("sum-to-max", "sum(amount) → max(amount)", SUM, by("user", n="max(amount)")),
        Pair(
            "min-to-max",
            "min(amount) → max(amount)",
            by("user", n="min(amount)"),
            by("user", n="max(amount)"),
            second=SMALL,
        ),
        Pair(
            "first-to-last",
            "first(city) → last(city)",
            by("user", n="first(city)"),
            by("user", n="last(city)"),
            second=SMALL,
        ),
        Pair("count-to-sum", "count(*) → sum(amount)", BY_USER, SUM),
        Pair("sum-to-count", "sum(amount) → count(*)", SUM, BY_USER),
        Pair("sum-to-average", "sum(amount) → avg(amount)", SUM, by("user", n="avg(amount)")),
        Pair(
            "set-to-list",
            "sort_array(collect_set(city)) → sort_array(collect_list(city))",
            by("user", n="sort_array(collect_set(city))"),
            by("user", n="sort_array(collect_list(city))"),
        ),
        Pair(
            "deviation-to-variance",
            "stddev(amount) → variance(amount), which keep the same",
            by("user", n="round(stddev(amount), 6)"),
            by("user", n="round(variance(amount), 6)"),
            right=ABOVE,
        ),
        Pair(
            "sum-and-count-to-average",
            "sum and count, divided above → sum, count and their difference",
            updating(lambda b: summed(b).select("user", (F.col("s") / F.col("n")).alias("mean"))),
            updating(lambda b: summed(b).select("user", (F.col("s") - F.col("n")).alias("mean"))),
            right=ABOVE,
        ),
        Pair(
            "functions-swapped",
            "sum(amount), max(weight) → max(weight), sum(amount)",
            by("user", s="sum(amount)", m="max(weight)"),
            by("user", m="max(weight)", s="sum(amount)"),
        ),
        Pair(
            "functions-of-different-types-swapped",
            "sum(price), max(weight) → max(weight), sum(price)",
            by("user", s="sum(price)", m="max(weight)"),
            by("user", m="max(weight)", s="sum(price)"),
        ),
        Pair(
            "result-columns-swapped",
            "the same functions, selected above in another order",
            updating(lambda b: summed(b).select("user", "s", "n")),
            updating(lambda b: summed(b).select("user", "n", "s")),
            right=ABOVE,
        ),
        Pair(
            "result-columns-of-one-type-swapped",
            "two functions of one type, selected above in another order",
            updating(lambda b: extremes(b).select("user", "s", "m")),
            updating(lambda b: extremes(b).select("user", "m", "s")),
            right=ABOVE,
        ),
        Pair(
            "result-no-longer-selected",
            "one of two functions is dropped above",
            updating(lambda b: extremes(b).select("user", "s", "m")),
            updating(lambda b: extremes(b).select("user", "m")),
            right=ABOVE,
        ),
        Pair(
            "argument-of-the-same-type",
            "sum(amount) → sum(weight)",
            SUM,
            by("user", n="sum(weight)"),
        ),
        Pair(
            "argument-of-another-type", "sum(amount) → sum(price)", SUM, by("user", n="sum(price)")
        ),
        Pair(
            "argument-expression",
            "sum(amount) → sum(amount * 2)",
            SUM,
            by("user", n="sum(amount * 2)"),
        ),
        Pair(
            "argument-unit",
            "sum(amount) → sum(amount) * 2, computed above the state",
            SUM,
            by("user", n="sum(amount) * 2"),
            right=ABOVE,
        ),
        Pair(
            "count-of-column",
            "count(*) → count(amount), with nulls",
            BY_USER,
            by("user", n="count(amount)"),
            **NULLS,
        ),
        Pair(
            "decimal-precision",
            "sum of decimal(10,2) → decimal(12,2)",
            by("user", n="sum(cast(amount as decimal(10,2)))"),
            by("user", n="sum(cast(amount as decimal(12,2)))"),
        ),
        Pair(
            "distinct-precision",
            "approx_count_distinct, rsd 0.05 → 0.1",
            by("user", n="approx_count_distinct(amount, 0.05)"),
            by("user", n="approx_count_distinct(amount, 0.1)"),
        ),
        Pair(
            "condition-of-function",
            "count filter (amount > 2) → (amount > 3)",
            by("user", n="count(case when amount > 2 then 1 end)"),
            by("user", n="count(case when amount > 3 then 1 end)"),
        ),
        Pair(
            "filter-below-changed",
            "amount > 1 → amount > 3, then count",
            counts(lambda b: b.orders().where("amount > 1").groupBy("user").count()),
            counts(lambda b: b.orders().where("amount > 3").groupBy("user").count()),
            meant=True,
        ),
        Pair(
            "filter-below-added",
            "amount > 3 is new, then count",
            BY_USER,
            counts(lambda b: b.orders().where("amount > 3").groupBy("user").count()),
            meant=True,
        ),
        Pair(
            "filter-below-removed",
            "amount > 3 is gone, then count",
            counts(lambda b: b.orders().where("amount > 3").groupBy("user").count()),
            BY_USER,
            meant=True,
        ),
        Pair(
            "explode-below-added",
            "each order counts twice from now on",
            BY_USER,
            counts(
                lambda b: (
                    b.orders()
                    .select("user", F.explode(F.array(F.lit(1), F.lit(2))))
                    .groupBy("user")
                    .count()
                )
            ),
            meant=True,
        ),
        Pair(
            "filter-above-changed",
            "n > 1 → n > 2, above the count",
            counts(lambda b: b.orders().groupBy("user").count().where("count > 1")),
            counts(lambda b: b.orders().groupBy("user").count().where("count > 2")),
            right=ABOVE,
        ),
        Pair(
            "projection-above-changed",
            "n → n * 10, above the count",
            counts(lambda b: b.orders().groupBy("user").count()),
            counts(lambda b: b.orders().groupBy("user").count().selectExpr("user", "count * 10")),
            right=ABOVE,
        ),
        Pair(
            "column-above-added",
            "length(user) is new, above the count",
            counts(lambda b: b.orders().groupBy("user").count()),
            counts(lambda b: b.orders().groupBy("user").count().selectExpr("*", "length(user)")),
            right=ABOVE,
        ),
        Pair(
            "result-renamed",
            "the count is called total",
            BY_USER,
            by("user", total=COUNT),
            right=ABOVE,
            harmless=True,
        ),
        Pair(
            "key-renamed",
            "the key is called customer",
            BY_USER,
            by("user as customer", n=COUNT),
            harmless=True,
        ),
        Pair(
            "key-cast-to-its-own-type",
            "group by user → cast(user as string)",
            BY_USER,
            by("cast(user as string)", n=COUNT),
            harmless=True,
        ),
        Pair(
            "equal-arithmetic",
            "sum(amount + amount) → sum(amount * 2)",
            by("user", n="sum(amount + amount)"),
            by("user", n="sum(amount * 2)"),
            harmless=True,
        ),
        Pair(
            "filter-on-key-moved-below",
            "a filter on the key, above → below the count",
            counts(lambda b: b.orders().groupBy("user").count().where("user <> 'b'")),
            counts(lambda b: b.orders().where("user <> 'b'").groupBy("user").count()),
            harmless=True,
        ),
        Pair(
            "unused-column-dropped-below",
            "only the needed columns are selected below the count",
            SUM,
            counts(lambda b: b.orders().select("user", "amount").groupBy("user").sum("amount")),
            harmless=True,
        ),
        Pair(
            "unused-column-added-below",
            "a column that nobody uses is added below the count",
            BY_USER,
            counts(lambda b: b.orders().withColumn("note", F.lit("x")).groupBy("user").count()),
            harmless=True,
        ),
        Pair(
            "count-spelled-otherwise",
            "agg(count(lit(1))) → count()",
            BY_USER,
            counts(lambda b: b.orders().groupBy("user").count()),
            harmless=True,
        ),
        Pair(
            "condition-spelled-otherwise",
            "count(when(amount > 2)) → count(when(2 < amount))",
            by("user", n="count(case when amount > 2 then 1 end)"),
            by("user", n="count(case when 2 < amount then 1 end)"),
            harmless=True,
        ),
    ),
)
