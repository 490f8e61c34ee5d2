"""Changes of a watermark: delay, column, added, removed."""

from __future__ import annotations

from typing import Any

from pyspark.sql import functions as F  # noqa: N812

from tests.changes.inputs import ORDERS_FIRST, Inputs, order
from tests.changes.pair import LATER, Pair, Query, grouped, updating
from tests.changes.pairs import joins

LATE_FIRST: Inputs = {
    "in": (*ORDERS_FIRST, (order("a", "x", 2, 1, 1.0, "10:30"),)),
}
"""Ends at 10:30: a delay of five minutes drops what is older than 10:25 from then on."""
LATE_SECOND: Inputs = {
    "in": (
        (
            order("b", "x", 1, 1, 1.0, "10:31"),
            order("a", "y", 8, 8, 1.0, "10:12"),
            order("a", "y", 9, 8, 1.0, "10:27"),
        ),
        (order("c", "x", 1, 1, 1.0, "11:30"),),
    )
}
PUNCTUAL_SECOND: Inputs = {
    "in": (
        (
            order("b", "x", 1, 1, 1.0, "10:31"),
            order("a", "y", 8, 8, 1.0, "10:28"),
            order("a", "y", 9, 8, 1.0, "10:29"),
        ),
        (order("c", "x", 1, 1, 1.0, "11:30"),),
    )
}
LATE: dict[str, Any] = {"first": LATE_FIRST, "second": LATE_SECOND}
PUNCTUAL: dict[str, Any] = {"first": LATE_FIRST, "second": PUNCTUAL_SECOND}


def closed(delay: str, time: str = "t") -> Query:
    """Return a query that counts orders per window, once it is over."""

    def build(bench: Any) -> Any:
        orders = bench.orders().withColumn("later", F.expr("t + interval 10 minutes"))
        return orders.withWatermark(time, delay).groupBy(F.window(time, "5 minutes")).count()

    return Query(build)


def open_windows(delay: str | None) -> Query:
    """Return a query that counts orders per window, at every change."""

    def build(bench: Any) -> Any:
        orders = bench.orders()
        orders = orders if delay is None else orders.withWatermark("t", delay)
        return orders.groupBy(F.window("t", "5 minutes")).count()

    return updating(build)


def once(delay: str | None) -> Query:
    """Return a query that lets one order per user and time pass."""

    def build(bench: Any) -> Any:
        orders = bench.orders()
        orders = orders if delay is None else orders.withWatermark("t", delay)
        return orders.dropDuplicates(["user", "t"]).select("user", "amount")

    return Query(build)


PAIRS = grouped(
    "watermarks",
    (
        Pair(
            "delay-raised",
            "5 → 25 minutes, an order comes 18 minutes late",
            closed("5 minutes"),
            closed("25 minutes"),
            **LATE,
        ),
        Pair(
            "delay-raised-without-late-rows",
            "5 → 25 minutes, no order is late",
            closed("5 minutes"),
            closed("25 minutes"),
            **PUNCTUAL,
        ),
        Pair(
            "delay-lowered",
            "25 → 5 minutes, an order comes 18 minutes late",
            closed("25 minutes"),
            closed("5 minutes"),
            **LATE,
        ),
        Pair(
            "delay-lowered-without-late-rows",
            "25 → 5 minutes, no order is late",
            closed("25 minutes"),
            closed("5 minutes"),
            **PUNCTUAL,
        ),
        Pair(
            "delay-raised-in-update-mode",
            "5 → 25 minutes, an order comes 18 minutes late",
            open_windows("5 minutes"),
            open_windows("25 minutes"),
            **LATE,
        ),
        Pair(
            "watermark-column-changed",
            "watermark and windows over t → over t + 10 minutes",
            closed("5 minutes"),
            closed("5 minutes", "later"),
            **LATE,
        ),
        Pair(
            "watermark-removed",
            "no watermark any more, in update mode",
            open_windows("5 minutes"),
            open_windows(None),
            **LATE,
        ),
        Pair(
            "watermark-added",
            "a watermark of 5 minutes is new, in update mode",
            open_windows(None),
            open_windows("5 minutes"),
            **LATE,
        ),
        Pair(
            "watermark-added-without-late-rows",
            "a watermark of 5 minutes is new, in update mode",
            open_windows(None),
            open_windows("5 minutes"),
            **PUNCTUAL,
        ),
        Pair(
            "deduplication-watermark-removed",
            "keys are never forgotten any more",
            once("5 minutes"),
            once(None),
            **PUNCTUAL,
        ),
        Pair(
            "deduplication-watermark-added",
            "keys are forgotten from now on",
            once(None),
            once("5 minutes"),
            **PUNCTUAL,
        ),
        Pair(
            "deduplication-delay-raised",
            "5 → 25 minutes, an order comes 18 minutes late",
            once("5 minutes"),
            once("25 minutes"),
            **LATE,
        ),
        joins.change(
            "join-delay-raised",
            "2 → 20 minutes on both sides of an outer join",
            joins.OUTER,
            joins.join(joins.NEAR, "left_outer", delay="20 minutes"),
        ),
        joins.change(
            "join-delay-lowered",
            "20 → 2 minutes on both sides of an outer join",
            joins.join(joins.NEAR, "left_outer", delay="20 minutes"),
            joins.OUTER,
        ),
        joins.change(
            "join-watermarks-removed",
            "an inner join keeps its rows forever from now on",
            joins.RANGED,
            joins.join(joins.NEAR, delay=""),
        ),
        Pair(
            "delay-spelled-otherwise",
            "5 minutes → 300 seconds",
            closed("5 minutes"),
            closed("300 seconds"),
            harmless=True,
            **LATE,
        ),
        Pair(
            "watermark-moved",
            "withWatermark before → after a filter and a projection",
            closed("5 minutes"),
            Query(
                lambda b: (
                    b.orders()
                    .where("amount > 0")
                    .select("t")
                    .withWatermark("t", "5 minutes")
                    .groupBy(F.window("t", "5 minutes"))
                    .count()
                )
            ),
            harmless=True,
            **LATE,
        ),
        Pair(
            "delay-of-a-stateless-query",
            "5 → 25 minutes where nothing is kept",
            Query(lambda b: b.orders().withWatermark("t", "5 minutes").select("user", "t")),
            Query(lambda b: b.orders().withWatermark("t", "25 minutes").select("user", "t")),
            right=LATER,
            harmless=True,
            **LATE,
        ),
    ),
)
