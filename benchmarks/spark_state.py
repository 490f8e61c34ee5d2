"""Lets Spark keep a count, a sum and a maximum by a text key, and reads them back, warm.

`python benchmarks/spark_state.py FOLDER KEYS` writes a checkpoint for each provider, with Spark's
own settings, and prints how long its `statestore` source takes in the session that is warm by then.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as f

PROVIDERS = {"hdfs": "HDFSBacked", "rocksdb": "RocksDB"}
PARTITIONS = 4
BATCHES = 4
WARMING, SCANS = 2, 3
_CLASS = "org.apache.spark.sql.execution.streaming.state.{}StateStoreProvider"
_PROVIDER = "spark.sql.streaming.stateStore.providerClass"


def main(folder: Path, keys: int) -> None:
    """Write both checkpoints, then read each several times."""
    spark = open_session()
    write_input(spark, folder / "input", keys)
    told = {}
    for name, provider in PROVIDERS.items():
        spark.conf.set(_PROVIDER, _CLASS.format(provider))
        run_totals(spark, folder / "input", folder / name)
    for name in PROVIDERS:
        seconds = [scan(spark, folder / name) for _ in range(WARMING + SCANS)]
        told[name] = seconds[WARMING:]
    spark.stop()
    sys.stdout.write(json.dumps(told) + "\n")


def open_session() -> Any:
    """Start what a script on two cores would start."""
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.memory", "2g")
        .config("spark.sql.shuffle.partitions", str(PARTITIONS))
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    return spark


def write_input(spark: Any, folder: Path, keys: int) -> None:
    """Write a file for each batch; every batch brings new keys, and some of the ones before."""
    share = -(-keys // BATCHES)
    for batch in range(BATCHES):
        first, end = batch * share, min((batch + 1) * share, keys)
        again = spark.range(max(first - share // 20, 0), first)
        rows = spark.range(first, end).union(again).coalesce(1)
        name = f.format_string("key-%012d", f.col("id"))
        rows.select(name.alias("key"), f.col("id").alias("n")).write.mode("append").parquet(
            str(folder)
        )


def run_totals(spark: Any, arrived: Path, checkpoint: Path) -> None:
    """Run a streaming aggregation to its end, a file a batch."""
    frame = (
        spark.readStream.schema("key string, n long")
        .option("maxFilesPerTrigger", 1)
        .parquet(str(arrived))
    )
    totals = frame.groupBy("key").agg(
        f.count("n").alias("count"), f.sum("n").alias("sum"), f.max("n").alias("max")
    )
    query = (
        totals.writeStream.format("noop")
        .outputMode("update")
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()


def scan(spark: Any, checkpoint: Path) -> float:
    """Read every row and keep none."""
    started = time.perf_counter()
    rows = spark.read.format("statestore").load(str(checkpoint))
    rows.write.format("noop").mode("overwrite").save()
    return time.perf_counter() - started


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
