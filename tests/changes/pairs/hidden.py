"""Changes that a plan shows badly: in constants, types, settings and places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import functions as F  # noqa: N812

from tests.changes.inputs import Inputs, order
from tests.changes.pair import Build, Pair, Query, grouped, updating
from tests.changes.pairs.aggregation import SMALL, by

TYPED = """
from pyspark.sql.functions import udf

@udf("{type}")
def third_of(price):
    return price / 3
"""
NULL_FIRST: Inputs = {
    "in": ((order(None, "x", 1, 1, 0.5, "10:00"), order("a", None, 1, 1, 0.5, "10:01")),)
}
NULL_SECOND: Inputs = {
    "in": ((order(None, "x", 1, 1, 0.5, "10:02"), order("a", None, 1, 1, 0.5, "10:03")),)
}
FUTURE: Inputs = {
    "in": (
        (order("a", "x", 1, 1, 0.5, "10:00"), order("b", "x", 2, 1, 0.5, "10:01")),
        (order("a", "x", 1, 1, 0.5, "23:00"), order("b", "x", 2, 1, 0.5, "10:02")),
    )
}
LATE: Inputs = {
    "in": (
        (order("a", "x", 5, 1, 0.5, "10:03"), order("a", "x", 1, 1, 0.5, "23:30")),
        (order("b", "x", 7, 1, 0.5, "10:04"), order("b", "x", 1, 1, 0.5, "10:30")),
        (order("b", "x", 7, 1, 0.5, "11:30"), order("b", "x", 1, 1, 0.5, "11:31")),
    )
}
CITIES = [f"c{number}" for number in range(12)]
NULLS_IN_JSON = "spark.sql.jsonGenerator.ignoreNullFields"


def typed(kind: str) -> Query:
    """Return a query that sums what a Python function of a type returns."""
    code = {"rules": TYPED.format(type=kind)}
    return updating(
        lambda b: (
            b.orders().groupBy("user").agg(F.sum(b.code["rules"].third_of("price")).alias("n"))
        ),
        code=code,
    )


def as_json(without_nulls: str) -> Query:
    """Return a query that groups by a JSON text."""
    key = "to_json(struct(user, city))"
    return updating(
        lambda b: b.orders().groupBy(F.expr(key).alias("k")).count(),
        settings={NULLS_IN_JSON: without_nulls},
    )


def among(cities: Sequence[str]) -> Query:
    """Return a query that groups by whether a city is one of many."""
    return updating(lambda b: b.orders().groupBy(F.col("city").isin(*cities).alias("k")).count())


def piped(command: str) -> Build:
    """Return a query whose rows go through another program."""
    text = f"select transform(user) using '{command}' as (u string) from orders"
    return lambda b: b.view().sql(text).groupBy("u").count()


def late(*, filtered_first: bool) -> Query:
    """Return windows whose watermark counts rows of the future, or does not."""

    def build(bench: Any) -> Any:
        orders = bench.orders()
        if filtered_first:
            orders = orders.where("hour(t) < 12").withWatermark("t", "10 minutes")
        else:
            orders = orders.withWatermark("t", "10 minutes").where("hour(t) < 12")
        return orders.groupBy(F.window("t", "1 minute"), "user").agg(F.expr("sum(amount)"))

    return Query(build)


def sessions(gap: str) -> Query:
    """Return sessions whose gap depends on the user."""
    text = f"case when city = 'x' then '{gap}' else '5 minutes' end"
    return Query(
        lambda b: (
            b.orders()
            .withWatermark("t", "10 minutes")
            .groupBy(F.session_window("t", F.expr(text)), "user")
            .count()
        )
    )


def when(condition: str) -> Query:
    """Return a query that sums amounts under a condition."""
    return by("user", n=f"sum(case when {condition} then amount else 0 end)")


MAPPED = """
from pyspark.sql.functions import udf
{text}
@udf("long")
def mapped(n):
    return value_of(n)
"""
PLACES = """
def more(n):
    return n + 1
def times(n):
    return n * 10
first, second = {}
def value_of(n):
    return second(first(n))
"""
WRAPPED = """
class Scaled:
    def __init__(self, inner, factor):
        self.inner, self.factor = inner, factor
        self.__wrapped__ = inner
    def __call__(self, n):
        return self.inner(n) * self.factor
def scaled(factor):
    return lambda inner: Scaled(inner, factor)
@scaled({})
def value_of(n):
    return n + 1
"""
CHOSEN = """
from enum import IntEnum
class Rate(IntEnum):
    LOW = {}
def value_of(n, rate=Rate.LOW):
    return n * rate
"""
MISSING = """
class Rates(dict):
    def __missing__(self, n):
        return {}
RATES = Rates({{1: 2}})
def value_of(n):
    return RATES[n]
"""
ROUNDED = """
from math import {} as whole
def value_of(n):
    return whole(n / 2)
"""
ORDERED = """
RATES = {}
def value_of(n):
    return RATES.get(n, 7)
"""


def mapped(text: str) -> Query:
    """Return a query that sums what a Python function of a text gives."""
    return updating(
        lambda b: b.orders().groupBy("user").agg(F.sum(b.code["rules"].mapped("amount"))),
        code={"rules": MAPPED.format(text=text)},
    )


NAMED = """
from pyspark.sql.functions import udf
@udf("string")
def {name}(user):
    return user.{method}()
"""


def named(name: str, method: str = "upper") -> Query:
    """Return a query whose key a Python function of a name makes."""
    return updating(
        lambda b: b.orders().groupBy(getattr(b.code["rules"], name)("user").alias("k")).count(),
        code={"rules": NAMED.format(name=name, method=method)},
    )


NULLS: dict[str, Any] = {"first": NULL_FIRST, "second": NULL_SECOND}
MOVED: dict[str, Any] = {"first": FUTURE, "second": LATE}

PAIRS = grouped(
    "hidden",
    [
        Pair(
            "maxima-to-average",
            "two maxima become one average, whose buffers are of the same types",
            by("user", n="max(price)", m="max(amount)"),
            by("user", n="avg(price)"),
            second=SMALL,
        ),
        Pair("udf-result-narrower", "a Python function gives float, not double",
             typed("double"), typed("float")),
        Pair("nulls-in-json", "the keys are JSON, which has fields of nulls from now on",
             as_json("true"), as_json("false"), **NULLS),
        Pair("one-of-many-constants", "the last of thirteen constants is another one",
             among([*CITIES, "x"]), among([*CITIES, "y"])),
        Pair("many-constants-reordered", "the same thirteen constants in another order",
             among([*CITIES, "x"]), among(["x", *CITIES]), harmless=True),
        Pair("bytes-constant", "a key is compared with other bytes",
             by("cast(user as binary) = X'61'", n="count(1)"),
             by("cast(user as binary) = X'62'", n="count(1)")),
        Pair("script-changed", "rows go through another program",
             updating(piped("cat")), updating(piped("sed -e y/abc/xyz/"))),
        Pair("watermark-above-filter", "the watermark counts rows of the future, left out before",
             late(filtered_first=True), late(filtered_first=False), **MOVED),
        Pair("watermark-below-filter", "the watermark no longer counts rows of the future",
             late(filtered_first=False), late(filtered_first=True), **MOVED),
        Pair("dynamic-gap-spelled-otherwise", "2 minutes are written as 120 seconds",
             sessions("2 minutes"), sessions("interval 120 seconds"), harmless=True),
        Pair("dynamic-gap", "2 minutes become 3", sessions("2 minutes"), sessions("3 minutes")),
        Pair("or-to-in", "an OR of two values is written as IN",
             when("city = 'x' or city = 'z'"), when("city in ('z', 'x')"), harmless=True),
        Pair("not-greater", "NOT greater is written as at most",
             when("not (amount > 3)"), when("amount <= 3"), harmless=True),
        Pair("unit-in-capitals", "the unit of date_trunc is written in capitals",
             by("date_trunc('hour', t)", n="count(1)"), by("date_trunc('HOUR', t)", n="count(1)"),
             harmless=True),
        Pair("whole-number-as-decimal", "a price is multiplied by 2.0, not by 2",
             by("user", n="sum(price * 2)"), by("user", n="sum(price * 2.0)"), harmless=True),
        Pair("udf-helpers-change-places", "two helpers change places under their names",
             mapped(PLACES.format("more, times")), mapped(PLACES.format("times, more"))),
        Pair("udf-decorated-otherwise", "the argument of what decorates a function is another one",
             mapped(WRAPPED.format(2)), mapped(WRAPPED.format(3))),
        Pair("udf-other-enumeration", "a default of an enumeration has another value",
             mapped(CHOSEN.format(2)), mapped(CHOSEN.format(3))),
        Pair("udf-other-missing-key", "a mapping gives something else for a missing key",
             mapped(MISSING.format(2)), mapped(MISSING.format(3))),
        Pair("udf-other-library-function", "floor is imported as ceil was",
             mapped(ROUNDED.format("floor")), mapped(ROUNDED.format("ceil"))),
        Pair("udf-renamed", "a function has another name", named("group_of"), named("spelled"),
             harmless=True),
        Pair("udf-renamed-and-changed", "a function has another name, and gives something else",
             named("group_of"), named("spelled", "lower")),
        Pair("udf-mapping-in-another-order", "a mapping has its entries in another order",
             mapped(ORDERED.format("{1: 2, 3: 4}")), mapped(ORDERED.format("{3: 4, 1: 2}")),
             harmless=True),
    ],
)  # fmt: skip
