"""Changes of time windows and sessions."""

from __future__ import annotations

from typing import Any

from pyspark.sql import functions as F  # noqa: N812

from tests.changes.pair import ABOVE, Pair, Query, grouped, updating


def windows(*arguments: str, keys: tuple[str, ...] = ()) -> Query:
    """Return a query that counts orders per window, with more keys after it."""
    return updating(
        lambda b: b.orders().groupBy(F.window("t", *arguments), *keys).count(), 1 + len(keys)
    )


def sessions(gap: str, *keys: str) -> Query:
    """Return a query that counts orders per session, when it is over."""

    def build(bench: Any) -> Any:
        orders = bench.orders().withWatermark("t", "3 minutes")
        return orders.groupBy(F.session_window("t", gap), *keys).count()

    return Query(build)


FIVE = windows("5 minutes")

PAIRS = grouped(
    "windows",
    (
        Pair("unchanged-window", "nothing", FIVE, FIVE, harmless=True),
        Pair("window-longer", "5 minutes → 10 minutes", FIVE, windows("10 minutes")),
        Pair(
            "window-slides",
            "5 minutes → 5 minutes every minute",
            FIVE,
            windows("5 minutes", "1 minute"),
        ),
        Pair(
            "slide-changed",
            "10 minutes every 5 → every 2 minutes",
            windows("10 minutes", "5 minutes"),
            windows("10 minutes", "2 minutes"),
        ),
        Pair(
            "window-start-moved",
            "windows begin one minute later",
            FIVE,
            windows("5 minutes", "5 minutes", "1 minute"),
        ),
        Pair(
            "window-key-added",
            "per window → per window and user",
            FIVE,
            windows("5 minutes", keys=("user",)),
        ),
        Pair(
            "window-keys-swapped",
            "window, user → user, window",
            windows("5 minutes", keys=("user",)),
            updating(lambda b: b.orders().groupBy("user", F.window("t", "5 minutes")).count(), 2),
        ),
        Pair(
            "truncation-changed",
            "group by date_trunc('hour') → date_trunc('minute')",
            updating(lambda b: b.orders().groupBy(F.date_trunc("hour", "t")).count()),
            updating(lambda b: b.orders().groupBy(F.date_trunc("minute", "t")).count()),
        ),
        Pair(
            "window-to-truncation",
            "window of one hour → date_trunc('hour')",
            windows("1 hour"),
            updating(lambda b: b.orders().groupBy(F.date_trunc("hour", "t")).count()),
        ),
        Pair(
            "window-column-changed",
            "windows over t → over t + 1 minute",
            FIVE,
            updating(
                lambda b: (
                    b.orders()
                    .withColumn("t", F.expr("t + interval 1 minute"))
                    .groupBy(F.window("t", "5 minutes"))
                    .count()
                )
            ),
        ),
        Pair(
            "unchanged-session",
            "nothing",
            sessions("2 minutes", "user"),
            sessions("2 minutes", "user"),
            harmless=True,
        ),
        Pair(
            "session-gap-longer",
            "gap of 2 → 8 minutes",
            sessions("2 minutes", "user"),
            sessions("8 minutes", "user"),
        ),
        Pair(
            "session-gap-shorter",
            "gap of 8 → 1 minutes",
            sessions("8 minutes", "user"),
            sessions("1 minute", "user"),
        ),
        Pair(
            "session-key-added",
            "sessions per user → per user and city",
            sessions("2 minutes", "user"),
            sessions("2 minutes", "user", "city"),
        ),
        Pair(
            "session-to-window",
            "sessions → windows of 2 minutes",
            sessions("2 minutes", "user"),
            Query(
                lambda b: (
                    b.orders()
                    .withWatermark("t", "3 minutes")
                    .groupBy(F.window("t", "2 minutes"), "user")
                    .count()
                )
            ),
        ),
        Pair(
            "session-gap-spelled-otherwise",
            "2 minutes → 120 seconds",
            sessions("2 minutes", "user"),
            sessions("120 seconds", "user"),
            harmless=True,
        ),
        Pair(
            "window-spelled-otherwise",
            "5 minutes → 300 seconds",
            FIVE,
            windows("300 seconds"),
            harmless=True,
        ),
        Pair(
            "window-with-its-own-slide",
            "5 minutes → 5 minutes every 5 minutes",
            FIVE,
            windows("5 minutes", "5 minutes"),
            harmless=True,
        ),
        Pair(
            "window-in-sql",
            "DataFrame → SQL",
            FIVE,
            updating(
                lambda b: b.view().sql(
                    "select window(t, '5 minutes') as window, count(*) as count from orders"
                    " group by 1"
                )
            ),
            harmless=True,
        ),
        Pair(
            "window-shown-by-its-start",
            "window → window.start, above the count",
            FIVE,
            updating(
                lambda b: (
                    b.orders()
                    .groupBy(F.window("t", "5 minutes"))
                    .count()
                    .select("window.start", "count")
                )
            ),
            right=ABOVE,
        ),
    ),
)
