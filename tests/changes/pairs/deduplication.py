"""Changes of a deduplication."""

from __future__ import annotations

from pyspark.sql import functions as F  # noqa: N812

from tests.changes.inputs import order
from tests.changes.pair import ABOVE, Pair, Query, grouped


def once(*columns: str) -> Query:
    """Return a query that lets one order per key pass."""
    return Query(lambda b: b.orders().dropDuplicates(list(columns)).select(*sorted(columns)))


def within(delay: str) -> Query:
    """Return a query that lets one order per user pass, as long as the watermark knows it."""
    return Query(
        lambda b: b.orders().withWatermark("t", delay).dropDuplicatesWithinWatermark(["user"])
    )


USER = once("user")
WHOLE = Query(lambda b: b.orders().dropDuplicates(["user"]).select("user"))

PAIRS = grouped(
    "deduplication",
    (
        Pair("unchanged-deduplication", "nothing", USER, USER, harmless=True),
        Pair("deduplication-key-added", "user → user, city", USER, once("user", "city")),
        Pair("deduplication-key-removed", "user, city → user", once("user", "city"), USER),
        Pair("deduplication-key-of-another-type", "user → amount", USER, once("amount")),
        Pair("deduplication-key-of-the-same-type", "user → city", USER, once("city")),
        Pair(
            "deduplication-keys-swapped",
            "user, city → city, user",
            once("user", "city"),
            once("city", "user"),
        ),
        Pair(
            "deduplication-key-expression",
            "user → lower(user)",
            USER,
            Query(
                lambda b: (
                    b.orders()
                    .withColumn("user", F.lower("user"))
                    .dropDuplicates(["user"])
                    .select("user")
                )
            ),
        ),
        Pair(
            "deduplication-filter-below",
            "amount > 4 is new, below",
            USER,
            Query(lambda b: b.orders().where("amount > 4").dropDuplicates(["user"]).select("user")),
            meant=True,
        ),
        Pair(
            "deduplication-filter-below-removed",
            "amount > 4 is gone, below",
            Query(lambda b: b.orders().where("amount > 4").dropDuplicates(["user"]).select("user")),
            USER,
            second={"in": ((order("a", "x", 6, 1, 0.5, "10:08"),),)},
            meant=True,
        ),
        Pair(
            "deduplication-filter-above",
            "user <> 'c' is new, above",
            USER,
            Query(
                lambda b: (
                    b.orders()
                    .dropDuplicates(["user"])
                    .select("user", "city")
                    .where("city <> 'y'")
                    .select("user")
                )
            ),
            right=ABOVE,
        ),
        Pair(
            "deduplication-column-added-above",
            "city is delivered too",
            USER,
            Query(lambda b: b.orders().dropDuplicates(["user"]).select("user", "city")),
            right=ABOVE,
        ),
        Pair(
            "deduplication-to-within-watermark",
            "dropDuplicates → dropDuplicatesWithinWatermark",
            Query(lambda b: b.orders().withWatermark("t", "3 minutes").dropDuplicates(["user"])),
            within("3 minutes"),
        ),
        Pair(
            "within-watermark-longer",
            "a key is kept for 2 → 30 minutes",
            within("2 minutes"),
            within("30 minutes"),
        ),
        Pair(
            "within-watermark-shorter",
            "a key is kept for 30 → 2 minutes",
            within("30 minutes"),
            within("2 minutes"),
        ),
        Pair(
            "unchanged-within-watermark",
            "nothing",
            within("2 minutes"),
            within("2 minutes"),
            harmless=True,
        ),
        Pair(
            "distinct-spelled-otherwise",
            "dropDuplicates() → distinct()",
            Query(lambda b: b.orders().select("user", "city").dropDuplicates()),
            Query(lambda b: b.orders().select("user", "city").distinct()),
            harmless=True,
        ),
        Pair(
            "deduplication-after-projection",
            "select, then dropDuplicates",
            USER,
            Query(lambda b: b.orders().select("user").dropDuplicates(["user"])),
            harmless=True,
        ),
        Pair(
            "distinct-columns-swapped",
            "distinct of user, city → of city, user",
            Query(lambda b: b.orders().select("user", "city").distinct().select("user", "city")),
            Query(lambda b: b.orders().select("city", "user").distinct().select("user", "city")),
        ),
    ),
)
