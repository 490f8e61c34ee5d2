"""Starts a trivial Delta stream as a plain PySpark script does, with jars or with packages."""

from __future__ import annotations

import sys
from pathlib import Path

from pyspark.sql import SparkSession

from holdfast.spark.jars.cache import obtain
from holdfast.spark.jars.lock import locked_jars

PACKAGE = "io.delta:delta-spark_4.2_2.13:4.4.0"


def main(way: str, folder: Path) -> None:
    """Start, run what is there, stop."""
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
        .config(
            "spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog"
        )
        .config("spark.databricks.delta.snapshotPartitions", "2")
    )
    if way == "jars":
        jars = obtain(locked_jars(frozenset({"delta"}), "4.2.0"), offline=True)
        builder = builder.config("spark.jars", ",".join(map(str, jars)))
    else:
        builder = builder.config("spark.jars.packages", PACKAGE)
        builder = builder.config("spark.jars.ivy", str(folder / "ivy"))
    session = builder.getOrCreate()
    session.readStream.schema("n long").json(str(folder / "in")).createOrReplaceTempView("source")
    query = (
        session.sql("select * from source")
        .writeStream.format("delta")
        .option("checkpointLocation", str(folder / way / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(folder / way / "table"))
    )  # fmt: skip
    query.awaitTermination()
    session.stop()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
