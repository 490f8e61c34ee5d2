"""Changes of a join of two streams: type, keys, condition, range, and what is selected of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pyspark.sql import functions as F  # noqa: N812

from tests.changes.inputs import BOTH_FIRST, BOTH_SECOND, ORDERS_FIRST, ORDERS_SECOND, Inputs, order
from tests.changes.pair import ABOVE, Pair, Query, grouped

LEFT = "user as lu, city as lc, amount, t as lt"
RIGHT = "user as ru, city as rc, weight, t as rt"
NEAR = "lu = ru and rt between lt - interval 5 minutes and lt + interval 5 minutes"
WIDE = "lu = ru and rt between lt - interval 15 minutes and lt + interval 15 minutes"
DELAY = "2 minutes"


def side(bench: Any, folder: str, columns: str, delay: str, where: str = "true") -> Any:
    """Return one side: a stream with its columns renamed and a watermark."""
    rows = bench.orders(folder).where(where).selectExpr(*columns.split(", "))
    time = "lt" if "as lt" in columns else "rt"
    return rows.withWatermark(time, delay) if delay else rows


def join(
    on: str = "lu = ru",
    kind: str = "inner",
    *,
    select: str = "lu, amount, ru, weight",
    left: str = LEFT,
    right: str = RIGHT,
    delay: str | None = None,
    left_where: str = "true",
    swapped: bool = False,
) -> Query:
    """Return a query that joins the streams and selects columns.

    Without a delay there are watermarks where the condition has a range of time.
    """
    late = delay if delay is not None else DELAY if "rt" in on else ""

    def build(bench: Any) -> Any:
        one = side(bench, "in", left, late, left_where)
        other = side(bench, "other", right, late)
        both = (other, one) if swapped else (one, other)
        return both[0].join(both[1], F.expr(on), kind).selectExpr(*select.split(", "))

    return Query(build, settings={"spark.sql.shuffle.partitions": "1"})


def change(name: str, how: str, before: Query, after: Query, **others: Any) -> Pair:
    """Return a pair that reads both streams."""
    return Pair(name, how, before, after, **{"first": BOTH_FIRST, "second": BOTH_SECOND, **others})


INNER = join()
RANGED = join(NEAR)
OUTER = join(NEAR, "left_outer")
NULL_FIRST: Inputs = {"in": (*ORDERS_FIRST, (order("a", "x", None, 1, 1.0, "10:07"),)),
                      "other": BOTH_FIRST["other"]}  # fmt: skip
NULL_SECOND: Inputs = {"in": (*ORDERS_SECOND, (order("c", "x", None, 1, 1.0, "10:22"),)),
                       "other": BOTH_SECOND["other"]}  # fmt: skip
NULLS: dict[str, Any] = {"first": NULL_FIRST, "second": NULL_SECOND}
FILLED = "user as lu, city as lc, coalesce(amount,0) as amount, t as lt"

PAIRS = grouped(
    "joins",
    (
        change("unchanged-join", "nothing", INNER, INNER, harmless=True),
        change("unchanged-outer-join", "nothing", OUTER, OUTER, harmless=True),
        change("join-inner-to-left", "inner → left outer", RANGED, OUTER),
        change("join-left-to-inner", "left outer → inner", OUTER, RANGED),
        change("join-left-to-right", "left outer → right outer", OUTER, join(NEAR, "right_outer")),
        change("join-left-to-full", "left outer → full outer", OUTER, join(NEAR, "full_outer")),
        change(
            "join-inner-to-semi",
            "inner → left semi",
            join(NEAR, select="lu, amount"),
            join(NEAR, "left_semi", select="lu, amount"),
        ),
        change(
            "join-inner-to-left-not-null",
            "inner → left outer, over columns that are never null",
            join(NEAR, left=FILLED),
            join(NEAR, "left_outer", left=FILLED),
        ),
        change(
            "join-key-of-the-same-type",
            "lu = ru → lc = rc, all columns used",
            join(select="*"),
            join("lc = rc", select="*"),
        ),
        change("join-key-of-the-same-type-pruned", "lu = ru → lc = ru", INNER, join("lc = ru")),
        change(
            "join-key-of-another-type", "lu = ru → amount = weight", INNER, join("amount = weight")
        ),
        change(
            "join-key-added",
            "lu = ru → lu = ru and lc = rc",
            join(select="*"),
            join("lu = ru and lc = rc", select="*"),
        ),
        change(
            "join-key-expression",
            "lu = ru → upper(lu) = upper(ru)",
            join(select="*"),
            join("upper(lu) = upper(ru)", select="*"),
        ),
        change(
            "join-condition-added",
            "lu = ru → and amount * 50 > weight * 30",
            INNER,
            join("lu = ru and amount * 50 > weight * 30"),
            right=ABOVE,
        ),
        change(
            "join-condition-changed",
            "amount > weight → amount < weight",
            join("lu = ru and amount > weight"),
            join("lu = ru and amount < weight"),
            right=ABOVE,
        ),
        change("join-range-widened", "5 minutes → 15 minutes", RANGED, join(WIDE)),
        change("join-range-narrowed", "15 minutes → 5 minutes", join(WIDE), RANGED, right=ABOVE),
        change(
            "join-column-no-longer-selected",
            "weight is dropped above the join",
            INNER,
            join(select="lu, amount, ru"),
            right=ABOVE,
        ),
        change(
            "join-column-selected",
            "lc is selected above the join, new",
            INNER,
            join(select="lu, amount, ru, weight, lc"),
        ),
        change(
            "join-sides-swapped", "left.join(right) → right.join(left)", INNER, join(swapped=True)
        ),
        change(
            "join-filter-below-added",
            "amount > 2 is new, on the left",
            INNER,
            join(left_where="amount > 2"),
            meant=True,
        ),
        change(
            "join-payload-changed",
            "amount → amount * 2, below the join",
            INNER,
            join(left="user as lu, city as lc, amount * 2 as amount, t as lt"),
            meant=True,
        ),
        change(
            "join-payload-nulls-filled",
            "amount → coalesce(amount, 0), below the join",
            INNER,
            join(left=FILLED),
            meant=True,
            **NULLS,
        ),
        change(
            "join-payload-nulls-no-longer-filled",
            "coalesce(amount, 0) → amount, below the join",
            join(left=FILLED),
            INNER,
            meant=True,
            **NULLS,
        ),
        change(
            "join-filter-above-changed",
            "amount > 3 is new on rows of an outer join, above it",
            OUTER,
            replace(OUTER, build=lambda b: OUTER.build(b).where("weight is null or weight < 6")),
            right=ABOVE,
        ),
        change(
            "join-output-computed",
            "amount → amount + weight, above the join",
            INNER,
            join(select="lu, amount + weight, ru, weight"),
            right=ABOVE,
        ),
        change(
            "join-columns-reordered",
            "the same columns in another order, above the join",
            INNER,
            join(select="weight, ru, amount, lu"),
            right=ABOVE,
            harmless=True,
        ),
        change(
            "join-columns-renamed",
            "other names, above the join",
            INNER,
            join(select="lu as customer, amount as total, ru as payer, weight as mass"),
            right=ABOVE,
            harmless=True,
        ),
        change("join-condition-turned", "lu = ru → ru = lu", INNER, join("ru = lu"), harmless=True),
        change(
            "join-range-spelled-otherwise",
            "between → >= and <=, in seconds",
            RANGED,
            join("rt <= lt + interval 300 seconds and rt >= lt - interval 300 seconds and lu = ru"),
            harmless=True,
        ),
        change(
            "join-outer-spelled-otherwise",
            "left_outer → left",
            OUTER,
            join(NEAR, "left"),
            harmless=True,
        ),
        change(
            "join-unused-column-below",
            "a column that nobody uses is selected below the join",
            INNER,
            join(left=f"{LEFT}, price"),
            harmless=True,
        ),
        change(
            "join-inside-names",
            "columns are called otherwise below the join",
            INNER,
            join(
                "u1 = ru",
                left="user as u1, city as c1, amount as a1, t as lt",
                select="u1 as lu, a1 as amount, ru, weight",
            ),
            harmless=True,
        ),
    ),
)
