"""What a PySpark user would write to learn what `holdfast inspect` tells; run in a cold process.

It reads `state-metadata` and the two logs. The logs are listed through Hadoop's file system, and
only the newest entries, those that `inspect` shows, are read.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.functions import input_file_name

SHOWN = 10


def main(checkpoint: str) -> None:
    """Print the answer as JSON."""
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    offsets, commits = ids(spark, f"{checkpoint}/offsets"), ids(spark, f"{checkpoint}/commits")
    planned = entries(spark, checkpoint, "offsets", offsets[-SHOWN:])
    committed = entries(spark, checkpoint, "commits", commits[-SHOWN:])
    entry = planned[offsets[-1]].split("\n")
    metadata = json.loads(entry[1])
    rows = spark.read.format("state-metadata").load(checkpoint).collect()
    answer = {
        "first_kept": offsets[0],
        "last_planned": offsets[-1],
        "last_committed": commits[-1],
        "pending": offsets[-1] if offsets[-1] > commits[-1] else None,
        "offset": json.loads(entry[2]),
        "settings": metadata["conf"],
        "timeline": [[one, *times(planned[one]), one in committed] for one in offsets[-SHOWN:]],
        "operators": [[row.operatorId, row.operatorName, row.numPartitions] for row in rows],
    }
    sys.stdout.write(json.dumps(answer))
    spark.stop()


def ids(spark: SparkSession, folder: str) -> list[int]:
    """List a log's batch ids."""
    jvm: Any = spark._jvm
    path = jvm.org.apache.hadoop.fs.Path(folder)
    system = path.getFileSystem(spark._jsc.hadoopConfiguration())
    names = [status.getPath().getName() for status in system.listStatus(path)]
    return sorted(int(name) for name in names if name.isdecimal())


def entries(spark: SparkSession, checkpoint: str, log: str, ids: list[int]) -> dict[int, str]:
    """Read some entries of a log in one job."""
    paths = [f"{checkpoint}/{log}/{one}" for one in ids]
    read = spark.read.text(paths, wholetext=True).select("value", input_file_name().alias("path"))
    return {int(row.path.rpartition("/")[2]): row.value for row in read.collect()}


def times(entry: str) -> tuple[int, int]:
    """Give when a batch was planned, and its watermark."""
    metadata = json.loads(entry.split("\n")[1])
    return metadata["batchTimestampMs"], metadata["batchWatermarkMs"]


if __name__ == "__main__":
    main(sys.argv[1])
