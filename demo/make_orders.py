"""Makes the sample checkpoint `demo/orders` anew with real Spark: `python demo/make_orders.py`.

Needs Java 17 and the development environment (pyspark). `make demo` does not run this; the
checkpoint that it wrote is committed beside it, byte for byte as Spark left it.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

WORK = Path("/tmp/holdfast-demo/orders")
"""Recorded in the source's log, so it is the same on every machine."""
SAMPLE = Path(__file__).resolve().parent / "orders"
SHOPS = ("harbour", "market", "station")
OPENING = datetime(2026, 11, 2, 8, 0, tzinfo=timezone.utc)
FAILING_BATCH = 5
SCHEMA = "shop string, amount decimal(9,2), ordered_at timestamp"
SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}


def write_orders(folder: Path, number: int) -> None:
    """Write one file of orders; its time of change puts it at its place."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for position, shop in enumerate(SHOPS):
        ordered_at = OPENING + timedelta(minutes=10 * number + position)
        amount = f"{12 + 3 * number + position}.50"
        order = {"shop": shop, "amount": amount, "ordered_at": ordered_at.isoformat()}
        lines.append(json.dumps(order) + "\n")
    path = folder / f"orders-{number}.json"
    path.write_text("".join(lines), encoding="utf-8")
    changed = (OPENING + timedelta(minutes=10 * number + 5)).timestamp()
    os.utime(path, (changed, changed))


def takings(orders: DataFrame) -> DataFrame:
    """Sum the orders of each shop by windows of ten minutes; five minutes late is in time."""
    windows = f.window("ordered_at", "10 minutes")
    grouped = orders.withWatermark("ordered_at", "5 minutes").groupBy(windows, "shop")
    return grouped.agg(f.count("*").alias("orders"), f.sum("amount").alias("takings"))


def failing_sink() -> Callable[[DataFrame, int], None]:
    """Give a sink that takes every batch, and loses its connection after the last one."""

    def deliver(batch: DataFrame, number: int) -> None:
        batch.collect()
        if number == FAILING_BATCH:
            raise ConnectionError("the database went away before it answered")

    return deliver


def main() -> None:
    """Run the query into its failing batch and keep the checkpoint."""
    shutil.rmtree(WORK, ignore_errors=True)
    for number in range(FAILING_BATCH + 1):
        write_orders(WORK / "in", number)
    builder = SparkSession.builder.master("local[2]").appName("orders")
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", "1")
    writer = takings(reader.json(str(WORK / "in"))).writeStream.foreachBatch(failing_sink())
    writer = writer.option("checkpointLocation", str(WORK / "checkpoint")).outputMode("append")
    query = writer.trigger(availableNow=True).start()
    try:
        query.awaitTermination()
    except StreamingQueryException:
        logging.getLogger(__name__).info("batch %s failed, as it is meant to", FAILING_BATCH)
    spark.stop()
    shutil.rmtree(SAMPLE, ignore_errors=True)
    shutil.copytree(WORK / "checkpoint", SAMPLE)


if __name__ == "__main__":
    main()
