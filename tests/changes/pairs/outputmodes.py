"""Changes of the output mode."""

from __future__ import annotations

from typing import Any

from pyspark.sql import functions as F  # noqa: N812

from tests.changes.pair import LATER, Pair, Query, grouped


def windows(bench: Any) -> Any:
    """Count orders per window, with a watermark."""
    orders = bench.orders().withWatermark("t", "3 minutes")
    return orders.groupBy(F.window("t", "5 minutes")).count()


def counts(bench: Any) -> Any:
    """Count orders per user."""
    return bench.orders().groupBy("user").count()


def rows(bench: Any) -> Any:
    """Select columns."""
    return bench.orders().select("user", "amount")


UPDATE = Query(counts, "update", (0,))
COMPLETE = Query(counts, "complete")

PAIRS = grouped(
    "outputmodes",
    (
        Pair("update-to-complete", "update → complete", UPDATE, COMPLETE),
        Pair("complete-to-update", "complete → update, into a table with a key", COMPLETE, UPDATE),
        Pair(
            "complete-to-update-into-a-list",
            "complete → update, into a table without a key",
            COMPLETE,
            Query(counts, "update"),
        ),
        Pair(
            "append-to-update",
            "append → update, windows",
            Query(windows),
            Query(windows, "update", (0,)),
        ),
        Pair(
            "update-to-append",
            "update → append, windows, into a table without a key",
            Query(windows, "update", (0,)),
            Query(windows),
        ),
        Pair(
            "append-to-complete",
            "append → complete, windows",
            Query(windows),
            Query(windows, "complete"),
        ),
        Pair(
            "complete-to-append",
            "complete → append, windows",
            Query(windows, "complete"),
            Query(windows),
        ),
        Pair(
            "stateless-append-to-update",
            "append → update where nothing is kept",
            Query(rows),
            Query(rows, "update"),
            right=LATER,
            harmless=True,
        ),
        Pair("unchanged-append-windows", "nothing", Query(windows), Query(windows), harmless=True),
        Pair("unchanged-complete", "nothing", COMPLETE, COMPLETE, harmless=True),
    ),
)
