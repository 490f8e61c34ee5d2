"""Changes of what is read: path, order, number, kind, schema, options."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyspark.sql import functions as F  # noqa: N812

from tests.changes.inputs import (
    BOTH_FIRST,
    BOTH_SECOND,
    ORDERS_FIRST,
    ORDERS_SECOND,
    OTHERS_SECOND,
    SCHEMA,
    order,
)
from tests.changes.pair import ALL, AS_BEFORE, LATER, Pair, Query, grouped, updating


def rows(folder: str = "in", **options: Any) -> Query:
    """Return a query that reads a folder and keeps nothing."""
    return Query(lambda b: b.orders(folder, **options).select("user", "amount"))


def counts(folder: str = "in", **options: Any) -> Query:
    """Return a query that counts what it reads of a folder."""
    return updating(lambda b: b.orders(folder, **options).groupBy("user").count())


def counted(column: str) -> Query:
    """Return a query that counts the amounts of each user, read as a type."""
    schema = f"user string, {column}"
    return updating(
        lambda b: b.orders(schema=schema).groupBy("user").agg(F.count("amount").alias("n"))
    )


def keyed(expression: str, column: str) -> Query:
    """Return a query that counts by an expression of the amount, read as a type."""
    return updating(
        lambda b: b.orders(schema=column).groupBy(F.expr(expression).alias("key")).count()
    )


def union(*folders: str) -> Query:
    """Return a query that reads folders in an order."""

    def build(bench: Any) -> Any:
        frames = [bench.orders(one).select("user", "amount") for one in folders]
        whole = frames[0]
        for frame in frames[1:]:
            whole = whole.union(frame)
        return whole

    return Query(build)


def union_of_windows(*folders: str) -> Query:
    """Return a query over folders that ends on a batch without data, for its watermark."""

    def build(bench: Any) -> Any:
        rows = [bench.orders(one).select("user", "t") for one in folders]
        both = rows[0].union(rows[1]).withWatermark("t", "1 minute")
        return both.groupBy(F.window("t", "5 minutes")).count()

    return updating(build)


def halves(bench: Any) -> Any:
    """Read a folder once, and use it twice."""
    orders = bench.orders().select("user", "amount")
    return orders.where("amount > 2").union(orders.where("amount <= 2"))


def halves_read_twice(bench: Any) -> Any:
    """Read a folder twice."""
    large = bench.orders().select("user", "amount").where("amount > 2")
    return large.union(bench.orders().select("user", "amount").where("amount <= 2"))


def from_text(bench: Any) -> Any:
    """Read lines, and take the columns out of them."""
    lines = bench.orders(schema="value string", form="text")
    return lines.select(F.from_json("value", SCHEMA).alias("o")).select("o.user", "o.amount")


def rename_folder(folder: Path) -> None:
    """Give the folder that is read another name, with everything in it."""
    if (folder / "in").exists():
        (folder / "in").rename(folder / "moved")


BOTH: dict[str, Any] = {"first": BOTH_FIRST, "second": BOTH_SECOND, "right": LATER}
NARROW = "user string, amount long"
TOO_LARGE = (order("a", "x", 3_000_000_000, 10, 0.5, "10:23"),)

PAIRS = grouped(
    "sources",
    (
        Pair("unchanged-source", "nothing", rows(), rows(), right=LATER, harmless=True),
        Pair(
            "unchanged-union",
            "nothing",
            union("in", "other"),
            union("in", "other"),
            harmless=True,
            **BOTH,
        ),
        Pair(
            "path-changed",
            "in → fresh, where the new files are",
            rows(),
            rows("fresh"),
            second={"fresh": ORDERS_SECOND},
            right=LATER,
        ),
        Pair(
            "path-changed-to-its-beginning",
            "in-v2 → in, where other files are",
            rows("in-v2"),
            rows(),
            first={"in-v2": ORDERS_FIRST},
            right=LATER,
        ),
        Pair(
            "path-changed-below-a-count",
            "in-v2 → in, where other files are",
            counts("in-v2"),
            counts(),
            first={"in-v2": ORDERS_FIRST},
            reference=counts(),
            whole={"in": (*ORDERS_FIRST, *ORDERS_SECOND)},
        ),
        Pair(
            "path-to-parent-pattern",
            "in → i*, which matches the same folder",
            rows(),
            rows("i*"),
            right=LATER,
            harmless=True,
        ),
        Pair(
            "folder-renamed",
            "the folder is renamed with its files, and the code reads the new name",
            rows(),
            rows("moved"),
            second={"moved": ORDERS_SECOND},
            between=rename_folder,
            right=LATER,
        ),
        Pair(
            "union-swapped",
            "in union other → other union in",
            union("in", "other"),
            union("other", "in"),
            **BOTH,
        ),
        Pair(
            "union-swapped-after-an-idle-batch",
            "in union other → other union in, other was idle at last",
            union("in", "other"),
            union("other", "in"),
            first={"in": ORDERS_FIRST, "other": BOTH_FIRST["other"][:1]},
            second=BOTH_SECOND,
            right=LATER,
        ),
        Pair(
            "union-swapped-after-a-batch-without-data",
            "in union other → other union in, below windows with a watermark",
            union_of_windows("in", "other"),
            union_of_windows("other", "in"),
            first=BOTH_FIRST,
            second=BOTH_SECOND,
        ),
        Pair(
            "union-swapped-of-similar-names",
            "in union in2 → in2 union in",
            union("in", "in2"),
            union("in2", "in"),
            first={"in": ORDERS_FIRST, "in2": BOTH_FIRST["other"]},
            second={"in": ORDERS_SECOND, "in2": OTHERS_SECOND},
            right=LATER,
        ),
        Pair("source-added", "in → in union other", union("in"), union("in", "other"), **BOTH),
        Pair("source-removed", "in union other → in", union("in", "other"), union("in"), **BOTH),
        Pair(
            "source-replaced",
            "in union other → in union fresh",
            union("in", "other"),
            union("in", "fresh"),
            first=BOTH_FIRST,
            second={"in": ORDERS_SECOND, "fresh": OTHERS_SECOND},
            right=LATER,
        ),
        Pair(
            "source-used-twice",
            "in → both halves of it, filtered",
            rows(),
            Query(halves),
            right=LATER,
        ),
        Pair(
            "source-no-longer-used-twice",
            "both halves of it, filtered → in",
            Query(halves),
            rows(),
            right=LATER,
        ),
        Pair(
            "source-read-twice",
            "one reader used twice → two readers",
            Query(halves),
            Query(halves_read_twice),
            right=LATER,
        ),
        Pair(
            "kind-changed",
            "files → generated rows",
            rows(),
            Query(lambda b: b.rates().selectExpr("cast(value as string)", "value")),
            right=LATER,
        ),
        Pair(
            "format-changed",
            "json → text, parsed by the query",
            rows(),
            Query(from_text),
            right=LATER,
            harmless=True,
        ),
        Pair(
            "schema-column-added",
            "another column of the same files is read",
            rows(schema=NARROW),
            rows(),
            right=LATER,
            harmless=True,
        ),
        Pair(
            "schema-columns-reordered",
            "the columns of the schema in another order",
            counts(schema=NARROW),
            counts(schema="amount long, user string"),
            harmless=True,
        ),
        Pair(
            "schema-type-changed",
            "amount: long → string, nothing is kept",
            rows(schema=NARROW),
            rows(schema="user string, amount string"),
            right=LATER,
        ),
        Pair(
            "schema-type-changed-below-a-key",
            "amount: long → string, it is the key",
            updating(lambda b: b.orders(schema=NARROW).groupBy("amount").count()),
            updating(
                lambda b: b.orders(schema="user string, amount string").groupBy("amount").count()
            ),
        ),
        Pair(
            "schema-type-changed-below-a-sum",
            "amount: int → long, it is summed",
            updating(
                lambda b: b.orders(schema="user string, amount int").groupBy("user").sum("amount")
            ),
            updating(lambda b: b.orders(schema=NARROW).groupBy("user").sum("amount")),
            harmless=True,
        ),
        Pair(
            "schema-type-narrowed-below-a-count",
            "amount: long → int, its values are counted, and one is too large for an int",
            counted("amount long"),
            counted("amount int"),
            first={"in": (*ORDERS_FIRST, TOO_LARGE)},
            second={"in": (*ORDERS_SECOND, TOO_LARGE)},
        ),
        Pair(
            "schema-type-widened-below-a-count",
            "amount: int → long, its values are counted, and one is too large for an int",
            counted("amount int"),
            counted("amount long"),
            first={"in": (*ORDERS_FIRST, TOO_LARGE)},
            second={"in": (*ORDERS_SECOND, TOO_LARGE)},
        ),
        Pair(
            "schema-type-narrowed-of-what-is-not-counted",
            "amount: long → int, rows are counted, and one amount is too large for an int",
            counts(schema=NARROW),
            counts(schema="user string, amount int"),
            first={"in": (*ORDERS_FIRST, TOO_LARGE)},
            second={"in": (*ORDERS_SECOND, TOO_LARGE)},
            harmless=True,
        ),
        Pair(
            "schema-type-changed-below-a-hashed-key",
            "amount: int → long, its hash is the key",
            keyed("xxhash64(amount)", "amount int"),
            keyed("xxhash64(amount)", "amount long"),
        ),
        Pair(
            "schema-type-changed-below-a-key-of-text",
            "amount: long → double, its text is the key",
            keyed("cast(amount as string)", "amount long"),
            keyed("cast(amount as string)", "amount double"),
        ),
        Pair(
            "schema-column-renamed",
            "the key is read from city instead, under the name user",
            counts(schema=NARROW),
            updating(
                lambda b: (
                    b.orders(schema="city string").groupBy(F.col("city").alias("user")).count()
                )
            ),
        ),
        Pair(
            "rate-limit-raised",
            "1 → 10 files per batch",
            rows(),
            rows(maxFilesPerTrigger=10),
            right=LATER,
            harmless=True,
        ),
        Pair(
            "rate-limit-below-a-count",
            "1 → 10 files per batch",
            counts(),
            counts(maxFilesPerTrigger=10),
            harmless=True,
        ),
        Pair(
            "rate-limit-by-size",
            "1 file → 100 bytes per batch",
            counts(),
            updating(
                lambda b: (
                    b.spark.readStream.schema(SCHEMA)
                    .option("maxBytesPerTrigger", "100")
                    .json(str(b.folder / "in"))
                    .groupBy("user")
                    .count()
                )
            ),
            harmless=True,
        ),
        Pair(
            "newest-files-first",
            "latestFirst is new",
            rows(),
            rows(latestFirst="true"),
            right=LATER,
            harmless=True,
        ),
        Pair(
            "file-names-alone",
            "fileNameOnly is new",
            rows(),
            rows(fileNameOnly="true"),
            right=LATER,
            harmless=True,
        ),
        Pair(
            "path-as-url",
            "/… → file:///…",
            rows(),
            Query(
                lambda b: (
                    b.spark.readStream.schema(SCHEMA)
                    .option("maxFilesPerTrigger", "1")
                    .json(f"file://{b.folder}/in")
                    .select("user", "amount")
                )
            ),
            right=LATER,
            harmless=True,
        ),
        Pair("path-with-slash", "…/in → …/in/", rows(), rows("in/"), right=LATER, harmless=True),
        Pair(
            "path-option",
            "load(path) → option('path').load()",
            rows(),
            Query(
                lambda b: (
                    b.spark.readStream.format("json")
                    .schema(SCHEMA)
                    .option("maxFilesPerTrigger", "1")
                    .option("path", str(b.folder / "in"))
                    .load()
                    .select("user", "amount")
                )
            ),
            right=LATER,
            harmless=True,
        ),
        Pair(
            "union-by-name",
            "union → unionByName",
            union("in", "other"),
            Query(
                lambda b: (
                    b.orders("in")
                    .select("user", "amount")
                    .unionByName(b.orders("other").select("amount", "user"))
                )
            ),
            harmless=True,
            **BOTH,
        ),
        Pair(
            "start-moved",
            "startTimestamp is an hour later",
            Query(lambda b: b.rates(startTimestamp=0)),
            Query(lambda b: b.rates(startTimestamp=3_600_000)),
            first={},
            second={},
            right=AS_BEFORE,
        ),
        Pair(
            "rows-per-batch",
            "2 → 3 rows per batch of the generator",
            Query(lambda b: b.rates(rowsPerBatch=2).select("value")),
            Query(lambda b: b.rates(rowsPerBatch=3).select("value")),
            first={},
            second={},
            right=ALL,
            reference=Query(lambda b: b.rates(rowsPerBatch=5).select("value")),
            whole={},
            harmless=True,
        ),
    ),
)
