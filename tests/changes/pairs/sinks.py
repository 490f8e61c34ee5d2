"""Changes of where rows go, and how."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.changes.pair import LATER, Pair, Query, grouped, updating

COMPACTION = {"spark.sql.streaming.fileSink.log.compactInterval": "3"}


def files(*columns: str, **others: Any) -> Query:
    """Return a query with Spark's file sink."""
    wanted = columns or ("user", "amount")
    return Query(lambda b: b.orders().selectExpr(*wanted), **{"sink": "parquet", **others})


def per_city(*keys: int) -> Query:
    """Return a count per user and city, into a table with these keys."""
    return replace(updating(lambda b: b.orders().groupBy("user", "city").count(), 2), keys=keys)


PARQUET = files()
ROWS = Query(lambda b: b.orders().select("user", "amount"))

PAIRS = grouped(
    "sinks",
    (
        Pair("unchanged-files", "nothing", PARQUET, PARQUET, right=LATER, harmless=True),
        Pair("output-moved", "out → new-out", PARQUET, files(path="new-out"), right=LATER),
        Pair(
            "output-moved-until-compaction",
            "out → new-out, the sink's log is compacted soon",
            files(settings=COMPACTION),
            files(path="new-out", settings=COMPACTION),
            right=LATER,
        ),
        Pair(
            "output-format-changed",
            "parquet → json in the same folder",
            PARQUET,
            files(sink="json"),
            right=LATER,
        ),
        Pair(
            "output-partitioned",
            "partitionBy(city) is new",
            files("user", "city", "amount"),
            files("user", "city", "amount", partition_by=("city",)),
            right=LATER,
        ),
        Pair(
            "output-column-type-changed",
            "amount: long → string",
            PARQUET,
            files("user", "cast(amount as string) as amount"),
            right=LATER,
        ),
        Pair(
            "output-column-added",
            "city is new",
            PARQUET,
            files("user", "amount", "city"),
            right=LATER,
        ),
        Pair(
            "output-column-renamed",
            "amount → total",
            PARQUET,
            files("user", "amount as total"),
            right=LATER,
        ),
        Pair("output-column-removed", "amount is gone", PARQUET, files("user"), right=LATER),
        Pair(
            "table-keys-changed", "the table's key: user, city → user", per_city(0, 1), per_city(0)
        ),
        Pair(
            "table-keys-widened", "the table's key: user → user, city", per_city(0), per_city(0, 1)
        ),
        Pair(
            "table-key-removed", "rows are appended instead of replaced", per_city(0, 1), per_city()
        ),
        Pair("unchanged-table", "nothing", per_city(0, 1), per_city(0, 1), harmless=True),
        Pair(
            "output-columns-reordered",
            "user, amount → amount, user",
            PARQUET,
            files("amount", "user"),
            right=LATER,
            harmless=True,
        ),
        Pair(
            "output-compression",
            "snappy → gzip",
            PARQUET,
            files(options={"compression": "gzip"}),
            right=LATER,
            harmless=True,
        ),
        Pair(
            "output-path-with-slash",
            "out → out/",
            PARQUET,
            replace(PARQUET, path="out/"),
            right=LATER,
        ),
        Pair(
            "compaction-of-the-sink",
            "the sink's log is compacted every 10 → 3 batches",
            PARQUET,
            files(settings=COMPACTION),
            right=LATER,
            harmless=True,
        ),
        Pair(
            "query-named",
            "the query has a name now",
            ROWS,
            replace(ROWS, options={"queryName": "job"}),
            right=LATER,
            harmless=True,
        ),
    ),
)
