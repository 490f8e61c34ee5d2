"""Operators with state that are added, removed, replaced or moved."""

from __future__ import annotations

from typing import Any

from pyspark.sql import functions as F  # noqa: N812

from tests.changes.inputs import BOTH_FIRST, BOTH_SECOND
from tests.changes.pair import ABOVE, LATER, Pair, Query, grouped, updating

COUNTS = updating(lambda b: b.orders().groupBy("user").count())
ROWS = Query(lambda b: b.orders().select("user", "city"))
ONCE = Query(lambda b: b.orders().dropDuplicates(["user"]).select("user", "city"))
ONCE_COUNTED = updating(
    lambda b: b.orders().dropDuplicates(["user", "city"]).groupBy("user").count()
)
BOTH: dict[str, Any] = {"first": BOTH_FIRST, "second": BOTH_SECOND}


def chained(bench: Any) -> Any:
    """Count windows, then count how often a count occurs."""
    orders = bench.orders().withWatermark("t", "3 minutes")
    windows = orders.groupBy(F.window("t", "5 minutes"), "user").count()
    return windows.groupBy(F.window(F.window_time("window"), "10 minutes")).count()


def single(bench: Any) -> Any:
    """Count windows."""
    orders = bench.orders().withWatermark("t", "3 minutes")
    return orders.groupBy(F.window("t", "5 minutes"), "user").count()


def two_keys(first: str, second: str) -> Query:
    """Return a query over two streams, each with a deduplication of its own."""

    def build(bench: Any) -> Any:
        one = bench.orders("in").dropDuplicates([first]).select("user", "city")
        other = bench.orders("other").dropDuplicates([second]).select("user", "city")
        return one.union(other)

    return Query(build)


PAIRS = grouped(
    "operators",
    (
        Pair("count-to-deduplication", "count per user → one row per user", COUNTS, ONCE),
        Pair("deduplication-to-count", "one row per user → count per user", ONCE, COUNTS),
        Pair("count-removed", "count per user → rows", COUNTS, ROWS, right=LATER),
        Pair("count-added", "rows → count per user", ROWS, COUNTS),
        Pair("deduplication-added", "rows → one row per user", ROWS, ONCE),
        Pair("deduplication-removed", "one row per user → rows", ONCE, ROWS, right=LATER),
        Pair(
            "deduplication-added-below",
            "a deduplication is new below a count",
            COUNTS,
            ONCE_COUNTED,
        ),
        Pair(
            "deduplication-removed-below",
            "a deduplication is gone below a count",
            ONCE_COUNTED,
            COUNTS,
        ),
        Pair(
            "second-count-added", "windows → windows counted again", Query(single), Query(chained)
        ),
        Pair(
            "second-count-removed", "windows counted again → windows", Query(chained), Query(single)
        ),
        Pair(
            "limit-added",
            "limit(5) is new",
            ROWS,
            Query(lambda b: b.orders().select("user", "city").limit(5)),
        ),
        Pair(
            "limit-changed",
            "limit(4) → limit(8)",
            Query(lambda b: b.orders().select("user", "city").limit(4)),
            Query(lambda b: b.orders().select("user", "city").limit(8)),
        ),
        Pair(
            "operators-swapped",
            "one row per user of the first stream, per city of the second → the other way round",
            two_keys("user", "city"),
            two_keys("city", "user"),
            **BOTH,
        ),
        Pair("unchanged-two-operators", "nothing", ONCE_COUNTED, ONCE_COUNTED, harmless=True),
        Pair("unchanged-chain", "nothing", Query(chained), Query(chained), harmless=True),
        Pair(
            "unchanged-two-branches",
            "nothing",
            two_keys("user", "city"),
            two_keys("user", "city"),
            harmless=True,
            **BOTH,
        ),
        Pair(
            "sorted",
            "orderBy is new, above a complete count",
            Query(lambda b: b.orders().groupBy("user").count(), "complete"),
            Query(lambda b: b.orders().groupBy("user").count().orderBy("user"), "complete"),
            harmless=True,
        ),
        Pair(
            "repartitioned-below",
            "repartition(3) is new, below a count",
            COUNTS,
            updating(lambda b: b.orders().repartition(3).groupBy("user").count()),
            harmless=True,
        ),
        Pair(
            "filter-moved-over-a-deduplication",
            "a filter on the key: above → below",
            Query(
                lambda b: b.orders().dropDuplicates(["user"]).where("user <> 'b'").select("user")
            ),
            Query(
                lambda b: b.orders().where("user <> 'b'").dropDuplicates(["user"]).select("user")
            ),
            harmless=True,
        ),
        Pair(
            "filter-moved-under-a-deduplication",
            "a filter on another column: above → below",
            Query(lambda b: b.orders().dropDuplicates(["user"]).where("amount > 4").select("user")),
            Query(lambda b: b.orders().where("amount > 4").dropDuplicates(["user"]).select("user")),
        ),
        Pair(
            "stateless-branch-filtered",
            "a filter above a deduplication is new, in one branch",
            two_keys("user", "city"),
            Query(lambda b: two_keys("user", "city").build(b).where("city <> 'y'")),
            right=ABOVE,
            **BOTH,
        ),
    ),
)
