"""Changes of what is read from Delta tables."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from tests.changes.inputs import ORDERS_FIRST, ORDERS_SECOND, OTHERS_FIRST, Inputs, write_inputs
from tests.changes.pair import AS_BEFORE, LATER, Pair, Query, grouped, updating

FIRST: Inputs = {"delta:table": ORDERS_FIRST}
SECOND: Inputs = {"delta:table": ORDERS_SECOND}


def rows(table: str = "table", **options: Any) -> Query:
    """Return a query that gives the rows as they are."""
    return Query(lambda b: b.versions(table, **options).select("user", "amount"))


def counts(table: str = "table", **options: Any) -> Query:
    """Return a query that counts the rows of each user."""
    return updating(lambda b: b.versions(table, **options).groupBy("user").count())


def delete_table(folder: Path) -> None:
    """Delete the table; what is written next creates it again."""
    shutil.rmtree(folder / "table", ignore_errors=True)


def replace_table(folder: Path) -> None:
    """Create the table again with more versions than were read."""
    if (folder / "table").exists():
        delete_table(folder)
        write_inputs(folder, {"delta:table": (*OTHERS_FIRST, *ORDERS_FIRST)})


def move_table(folder: Path) -> None:
    """Move the table, with its log."""
    if (folder / "table").exists():
        (folder / "table").rename(folder / "moved")


def update_rows(folder: Path) -> None:
    """Commit a version that changes a row."""
    from pyspark.sql import SparkSession

    if (folder / "table").exists():
        place = f"delta.`{folder / 'table'}`"
        SparkSession.builder.getOrCreate().sql(f"update {place} set amount = 0 where user = 'b'")


READ: dict[str, Any] = {"first": FIRST, "second": SECOND, "right": LATER}
COUNTED: dict[str, Any] = {"first": FIRST, "second": SECOND}
CHANGES: dict[str, Any] = {"readChangeFeed": "true"}

PAIRS = grouped(
    "delta",
    (
        Pair("table-read-unchanged", "nothing", rows(), rows(), harmless=True, **READ),
        Pair("table-created-again", "the table is deleted and created again under its path",
             rows(), rows(), between=delete_table, **READ),
        Pair("table-created-again-and-longer", "the same, with more versions than were read",
             rows(), rows(), between=replace_table, **READ),
        Pair("table-moved", "the table is moved, and the code reads the new path",
             rows(), rows("moved"), between=move_table, first=FIRST, right=LATER,
             second={"delta:moved": ORDERS_SECOND}),
        Pair("table-replaced", "table → other, another table",
             rows(), rows("other"), first={**FIRST, "delta:other": OTHERS_FIRST}, right=LATER,
             second={"delta:other": ORDERS_SECOND}),
        Pair("table-path-with-slash", "…/table → …/table/", rows(), rows("table/"),
             harmless=True, **READ),
        Pair("starting-version", "startingVersion: none → 1",
             rows(), rows(startingVersion=1), right=AS_BEFORE, **COUNTED),
        Pair("starting-version-dropped", "startingVersion: 0 → none",
             counts(startingVersion=0), counts(), harmless=True, **COUNTED),
        Pair("starting-version-latest", "startingVersion: none → latest",
             counts(), counts(startingVersion="latest"), right=AS_BEFORE, **COUNTED),
        Pair("change-feed-added", "readChangeFeed is new", rows(), rows(**CHANGES), **READ),
        Pair("change-feed-from-a-version", "readChangeFeed and startingVersion are new",
             rows(), rows(startingVersion=0, **CHANGES), **READ),
        Pair("change-feed-below-a-count", "readChangeFeed is new",
             counts(), counts(**CHANGES), **COUNTED),
        Pair("change-feed-removed", "readChangeFeed is gone",
             rows(startingVersion=0, **CHANGES), rows(startingVersion=0), **READ),
        Pair("files-per-trigger", "maxFilesPerTrigger: 1 → 10",
             counts(), counts(maxFilesPerTrigger=10), harmless=True, **COUNTED),
        Pair("bytes-per-trigger", "maxBytesPerTrigger is new",
             counts(), counts(maxBytesPerTrigger=100), harmless=True, **COUNTED),
        Pair("changed-rows-skipped", "skipChangeCommits is new",
             counts(), counts(skipChangeCommits="true"), harmless=True, **COUNTED),
        Pair("changed-rows-no-longer-skipped", "skipChangeCommits is gone, and a row was changed",
             rows(skipChangeCommits="true"), rows(), between=update_rows, **READ),
        Pair("change-feed-that-was-not-kept", "readChangeFeed is new, and the table keeps none",
             rows("plain"), rows("plain", **CHANGES), first={"delta:plain": ORDERS_FIRST},
             second={"delta:plain": ORDERS_SECOND}, right=AS_BEFORE),
        Pair("deletes-ignored", "ignoreDeletes is new",
             rows(), rows(ignoreDeletes="true"), harmless=True, **READ),
    ),
)  # fmt: skip
