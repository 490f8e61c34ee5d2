"""Changes of a table that is joined in and is no stream."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import functions as F  # noqa: N812

from tests.changes.pair import LATER, Pair, Query, grouped, updating

OLD = {"a": 1, "b": 2, "A": 1, "c": 2}
NEW = {"a": 2, "b": 2, "A": 1, "c": 1}


def keep(levels: dict[str, int], folder: Path) -> None:
    """Write the table again."""
    (folder / "table").mkdir(parents=True, exist_ok=True)
    rows = [{"user": user, "level": level} for user, level in levels.items()]
    text = "".join(f"{json.dumps(row)}\n" for row in rows)
    (folder / "table" / "rows.json").write_text(text, encoding="utf-8")


def changes_to(levels: dict[str, int]) -> Callable[[Path], None]:
    """Return what writes the table, between the runs."""
    return lambda folder: keep(levels, folder)


def table(bench: Any) -> Any:
    """Read the table; the first run finds the old one."""
    if not (bench.folder / "table").exists():
        keep(OLD, bench.folder)
    return bench.static()


def enriched(kind: str = "inner") -> Query:
    """Return a query that adds a column of the table to each order."""
    return Query(
        lambda b: b.orders().join(table(b), "user", kind).select("user", "amount", "level")
    )


def per_level(kind: str = "inner") -> Query:
    """Return a query that counts by a column of the table."""
    return updating(lambda b: b.orders().join(table(b), "user", kind).groupBy("level").count())


def listed(*users: str) -> Query:
    """Return a query that counts orders of listed users."""
    return updating(lambda b: b.orders().where(F.col("user").isin(*users)).groupBy("city").count())


PAIRS = grouped(
    "statics",
    (
        Pair(
            "table-changed-below-a-count",
            "rows of the table change, and it gives the key",
            per_level(),
            per_level(),
            between=changes_to(NEW),
            meant=True,
        ),
        Pair(
            "table-changed",
            "rows of the table change, and nothing is kept",
            enriched(),
            enriched(),
            between=changes_to(NEW),
            right=LATER,
        ),
        Pair(
            "table-written-again",
            "the table is written again with the same rows",
            per_level(),
            per_level(),
            between=changes_to(OLD),
            harmless=True,
        ),
        Pair(
            "table-join-type-below-a-count",
            "inner → left join with the table, below a count",
            per_level(),
            per_level("left"),
            between=changes_to({"a": 1, "b": 2}),
            meant=True,
        ),
        Pair(
            "table-join-type",
            "inner → left join with the table, nothing is kept",
            enriched(),
            enriched("left"),
            between=changes_to({"a": 1, "b": 2}),
            right=LATER,
        ),
        Pair(
            "table-join-added",
            "a join with the table is new, nothing is kept",
            Query(lambda b: b.orders().select("user", "amount")),
            enriched(),
            between=changes_to(OLD),
            right=LATER,
        ),
        Pair(
            "table-join-added-below-a-count",
            "a join with the table is new, below a count",
            updating(lambda b: b.orders().groupBy("city").count()),
            updating(
                lambda b: (
                    b.orders().join(table(b), "user").where("level = 2").groupBy("city").count()
                )
            ),
            between=changes_to(OLD),
            meant=True,
        ),
        Pair(
            "table-broadcast",
            "broadcast(table) is new",
            per_level(),
            updating(
                lambda b: b.orders().join(F.broadcast(table(b)), "user").groupBy("level").count()
            ),
            between=changes_to(OLD),
            harmless=True,
        ),
        Pair(
            "list-changed-below-a-count",
            "isin('a', 'b') → isin('a', 'c'), below a count",
            listed("a", "b"),
            listed("a", "c"),
            meant=True,
        ),
        Pair(
            "list-reordered",
            "isin('a', 'b') → isin('b', 'a')",
            listed("a", "b"),
            listed("b", "a"),
            harmless=True,
        ),
        Pair(
            "unchanged-table-join",
            "nothing",
            per_level(),
            per_level(),
            between=changes_to(OLD),
            harmless=True,
        ),
    ),
)
