"""Changes of a query that keeps nothing: later rows follow the new code."""

from __future__ import annotations

from pyspark.sql import functions as F  # noqa: N812

from tests.changes.pair import LATER, Pair, Query, grouped


def select(*columns: str, where: str = "true") -> Query:
    """Return a query that filters and selects."""
    return Query(lambda b: b.orders().where(where).selectExpr(*columns))


ROWS = select("user", "amount")

PAIRS = grouped(
    "stateless",
    tuple(
        Pair(name, how, before, after, right=LATER, harmless=harmless)
        for name, how, before, after, harmless in (
            ("stateless-unchanged", "nothing", ROWS, ROWS, True),
            ("column-added", "city is new", ROWS, select("user", "amount", "city"), False),
            ("column-removed", "amount is gone", ROWS, select("user"), False),
            ("column-renamed", "amount → total", ROWS, select("user", "amount as total"), True),
            ("column-computed", "amount → amount * 2", ROWS, select("user", "amount * 2"), False),
            (
                "column-type",
                "amount: long → string",
                ROWS,
                select("user", "cast(amount as string)"),
                False,
            ),
            (
                "columns-swapped",
                "user, amount → amount, user",
                ROWS,
                select("amount", "user"),
                False,
            ),
            (
                "filter-changed",
                "amount > 1 → amount > 3",
                select("user", where="amount > 1"),
                select("user", where="amount > 3"),
                False,
            ),
            (
                "filter-added",
                "amount > 3 is new",
                ROWS,
                select("user", "amount", where="amount > 3"),
                False,
            ),
            (
                "filter-removed",
                "amount > 3 is gone",
                select("user", "amount", where="amount > 3"),
                ROWS,
                False,
            ),
            (
                "constant-changed",
                "'v1' → 'v2'",
                select("user", "'v1'"),
                select("user", "'v2'"),
                False,
            ),
            (
                "explode-added",
                "each row twice",
                ROWS,
                Query(lambda b: b.orders().select("user", F.explode(F.array("amount", "weight")))),
                False,
            ),
            (
                "repartitioned",
                "repartition(3) is new",
                ROWS,
                Query(lambda b: b.orders().select("user", "amount").repartition(3)),
                True,
            ),
            (
                "filters-joined",
                "two filters → one",
                Query(lambda b: b.orders().where("amount > 1").where("weight < 60").select("user")),
                select("user", where="amount > 1 and weight < 60"),
                True,
            ),
            (
                "filter-spelled-otherwise",
                "amount between 2 and 5 → amount >= 2 and not amount > 5",
                select("user", where="amount between 2 and 5"),
                select("user", where="amount >= 2 and not amount > 5"),
                True,
            ),
        )
    ),
)
