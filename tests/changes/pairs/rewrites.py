"""The same query, written otherwise: what a refactoring does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pyspark.sql import functions as F  # noqa: N812

from tests.changes.pair import LATER, Pair, Query, grouped, updating

SQL = (
    "select user, city, count(*) as n, sum(amount) as s"
    " from orders where amount > 1 group by user, city"
)


def by_sql(text: str, keys: int = 2, view: str = "orders") -> Query:
    """Return a query in SQL."""
    return updating(lambda b: b.view(view).sql(text), keys)


def in_steps(bench: Any) -> Any:
    """Return the same as the SQL, in many small steps with names of their own."""
    everything = bench.orders()
    only_large = everything.filter(F.col("amount") > 1)
    per_customer = only_large.groupBy("user", "city")
    return per_customer.agg(F.count("*").alias("n"), F.sum("amount").alias("s"))


def filtered(frame: Any) -> Any:
    """Keep large orders."""
    return frame.where(frame.amount > F.lit(1))


def totals(frame: Any) -> Any:
    """Count and sum."""
    return frame.groupBy(frame["user"], frame["city"]).agg(
        F.count(F.lit(1)).alias("n"), F.sum(frame.amount).alias("s")
    )


def by_attribute(bench: Any) -> Any:
    """Name columns as attributes and items of the frame."""
    orders = bench.orders()
    return orders.groupBy(orders.user).agg(F.max(orders["amount"]))


MODULE = """
from pyspark.sql import functions as F

LARGE = 1

def query(orders):
    large = orders.where(F.col("amount") > LARGE)
    return large.groupBy("user", "city").agg(F.count("*").alias("n"), F.sum("amount").alias("s"))
"""
MOVED = """
from rules import is_large
from pyspark.sql import functions as F

def query(source_rows):
    '''Totals per customer and city.'''
    # Small orders are noise.
    chosen = source_rows.filter(is_large())
    n = F.count("*").alias("n")
    return chosen.groupBy("user", "city").agg(n, F.sum("amount").alias("s"))
"""
RULES = """
from pyspark.sql import functions as F

THRESHOLD = 1

def is_large():
    return F.col("amount") > THRESHOLD
"""


def own(bench: Any) -> Any:
    """Ask the user's module for its query."""
    return bench.code["job"].query(bench.orders())


BASE = by_sql(SQL)
JOB = updating(own, 2, code={"job": MODULE})
ROWS = Query(lambda b: b.orders().select("user", (F.col("amount") * 2).alias("double")))
PRICED = Query(
    lambda b: b.orders().select(
        "user", F.when(F.col("price") > 2, "high").when(F.col("price") > 1, "mid").otherwise("low")
    )
)


def same(name: str, how: str, before: Query, after: Query, **others: Any) -> Pair:
    """Return a pair that changes nothing."""
    return Pair(name, how, before, after, harmless=True, **others)


PAIRS = grouped(
    "rewrites",
    (
        same("sql-to-dataframe", "SQL → DataFrame", BASE, updating(in_steps, 2)),
        same("dataframe-to-sql", "DataFrame → SQL", updating(in_steps, 2), BASE),
        same(
            "transform-functions",
            "one expression → transform() of two functions",
            updating(in_steps, 2),
            updating(lambda b: b.orders().transform(filtered).transform(totals), 2),
        ),
        same(
            "sql-reformatted",
            "line breaks, capitals and comments",
            BASE,
            by_sql("""
        -- totals per customer
        SELECT user, city,
               COUNT(1)    AS n,   /* orders */
               SUM(amount) AS s
        FROM   orders
        WHERE  amount > 1
        GROUP  BY user, city"""),
        ),
        same(
            "sql-aliased",
            "the table has an alias",
            BASE,
            by_sql(
                "select o.user, o.city, count(*) as n, sum(o.amount) as s from orders as o"
                " where o.amount > 1 group by o.user, o.city"
            ),
        ),
        same(
            "sql-with",
            "a subquery → with",
            BASE,
            by_sql(
                "with large as (select * from orders where amount > 1)"
                " select user, city, count(*) as n, sum(amount) as s from large group by user, city"
            ),
        ),
        same(
            "sql-subquery",
            "the filter is in a subquery",
            BASE,
            by_sql(
                "select user, city, count(*) as n, sum(amount) as s"
                " from (select user, city, amount from orders where 1 < amount) group by user, city"
            ),
        ),
        same(
            "sql-group-by-position",
            "group by names → by positions",
            BASE,
            by_sql(
                "select user, city, count(*) as n, sum(amount) as s from orders"
                " where amount > 1 group by 1, 2"
            ),
        ),
        same(
            "sql-view-renamed",
            "the view has another name",
            BASE,
            by_sql(SQL.replace("orders", "incoming"), view="incoming"),
        ),
        same(
            "code-moved",
            "a filter moves to another module, names change, comments are new",
            JOB,
            updating(own, 2, code={"rules": RULES, "job": MOVED}),
        ),
        same(
            "code-commented",
            "comments and a docstring",
            JOB,
            updating(
                own,
                2,
                code={
                    "job": MODULE.replace(
                        "    large =", "    # Small orders are noise.\n    large ="
                    )
                },
            ),
        ),
        same(
            "variables-renamed",
            "large → chosen",
            JOB,
            updating(own, 2, code={"job": MODULE.replace("large", "chosen")}),
        ),
        same(
            "constant-named",
            "LARGE → 1 in place",
            JOB,
            updating(own, 2, code={"job": MODULE.replace("> LARGE", "> 1")}),
        ),
        same(
            "logging-added",
            "a line is logged",
            JOB,
            updating(
                own,
                2,
                code={
                    "job": "import logging\n"
                    + MODULE.replace(
                        "    large =", "    logging.getLogger('job').info('building')\n    large ="
                    )
                },
            ),
        ),
        same(
            "with-column",
            "select → withColumn and drop",
            ROWS,
            Query(
                lambda b: (
                    b.orders()
                    .withColumn("double", F.col("amount") * 2)
                    .drop("city", "amount", "weight", "price", "t")
                )
            ),
            right=LATER,
        ),
        same(
            "select-expression",
            "select → selectExpr",
            ROWS,
            Query(lambda b: b.orders().selectExpr("user", "amount * 2 as double")),
            right=LATER,
        ),
        same(
            "operands-turned",
            "amount * 2 → 2 * amount",
            ROWS,
            Query(lambda b: b.orders().selectExpr("user", "2 * amount as double")),
            right=LATER,
        ),
        same(
            "case-in-sql",
            "when() → case",
            PRICED,
            Query(
                lambda b: b.orders().selectExpr(
                    "user",
                    "case when price > 2 then 'high' when price > 1 then 'mid' else 'low' end",
                )
            ),
            right=LATER,
        ),
        same(
            "column-by-attribute",
            "'user' → frame.user → frame['user']",
            updating(lambda b: b.orders().groupBy("user").agg(F.max("amount"))),
            updating(by_attribute),
        ),
        same(
            "max-by-dictionary",
            "agg(max()) → agg({…})",
            updating(lambda b: b.orders().groupBy("user").agg(F.max("amount"))),
            updating(lambda b: b.orders().groupBy("user").agg({"amount": "max"})),
        ),
        same(
            "conditions-reordered",
            "a and b → b and a, below a count",
            updating(
                lambda b: b.orders().where("amount > 1 and weight < 80").groupBy("user").count()
            ),
            updating(
                lambda b: b.orders().where("weight < 80 and amount > 1").groupBy("user").count()
            ),
        ),
        same(
            "conditions-chained",
            "a and b → two filters, below a count",
            updating(
                lambda b: b.orders().where("amount > 1 and weight < 80").groupBy("user").count()
            ),
            updating(
                lambda b: (
                    b.orders().where("weight < 80").where("amount > 1").groupBy("user").count()
                )
            ),
        ),
        same(
            "in-to-or",
            "in (…) → or, below a count",
            updating(lambda b: b.orders().where("city in ('x', 'y')").groupBy("user").count()),
            updating(
                lambda b: b.orders().where("city = 'x' or city = 'y'").groupBy("user").count()
            ),
        ),
        same(
            "not-spelled-otherwise",
            "amount <= 4 → not (amount > 4), below a count",
            updating(lambda b: b.orders().where("amount <= 4").groupBy("user").count()),
            updating(lambda b: b.orders().where("not (amount > 4)").groupBy("user").count()),
        ),
        same(
            "useless-filter",
            "where true, below a count",
            updating(lambda b: b.orders().groupBy("user").count()),
            updating(lambda b: b.orders().where("1 = 1").groupBy("user").count()),
        ),
        same(
            "constant-folded",
            "amount > 1 → amount > 3 - 2, below a count",
            updating(lambda b: b.orders().where("amount > 1").groupBy("user").count()),
            updating(lambda b: b.orders().where("amount > 3 - 2").groupBy("user").count()),
        ),
        same(
            "renamed-and-back",
            "a column is renamed and renamed back, below a count",
            updating(lambda b: b.orders().groupBy("user").count()),
            updating(
                lambda b: (
                    b.orders()
                    .withColumnRenamed("user", "u")
                    .withColumnRenamed("u", "user")
                    .groupBy("user")
                    .count()
                )
            ),
        ),
        same("trigger-once", "available now → once", BASE, replace(BASE, trigger={"once": True})),
        same(
            "trigger-interval",
            "available now → every 50 ms",
            BASE,
            replace(BASE, trigger={"processingTime": "50 milliseconds"}),
        ),
        same(
            "trigger-interval-stateless",
            "every 50 ms → available now",
            replace(ROWS, trigger={"processingTime": "50 milliseconds"}),
            ROWS,
            right=LATER,
        ),
        same(
            "job-renamed",
            "the query has another name",
            replace(BASE, options={"queryName": "one"}),
            replace(BASE, options={"queryName": "two"}),
        ),
        same(
            "hint-added",
            "a hint on partitions, below a count",
            updating(lambda b: b.orders().groupBy("user").count()),
            updating(lambda b: b.orders().hint("rebalance").groupBy("user").count()),
        ),
        same(
            "struct-unpacked",
            "columns go through a struct, below a count",
            updating(lambda b: b.orders().groupBy("user").agg(F.sum("amount"))),
            updating(
                lambda b: (
                    b.orders()
                    .select(F.struct("user", "amount").alias("o"))
                    .groupBy("o.user")
                    .agg(F.sum("o.amount"))
                )
            ),
        ),
    ),
)
