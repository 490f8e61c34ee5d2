"""What a PySpark user would write to learn what `holdfast inspect` tells; run in a cold process.

It reads `state-metadata` and the two logs. The logs are listed through Hadoop's file system and
only their newest entries are read: spark.read.text over every entry takes several times longer.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from pyspark.sql import SparkSession


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
    entry = lines(spark, f"{checkpoint}/offsets/{offsets[-1]}")
    metadata = json.loads(entry[1])
    rows = spark.read.format("state-metadata").load(checkpoint).collect()
    answer = {
        "first_kept": offsets[0],
        "last_planned": offsets[-1],
        "last_committed": commits[-1],
        "pending": offsets[-1] if offsets[-1] > commits[-1] else None,
        "offset": json.loads(entry[2]),
        "settings": metadata["conf"],
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


def lines(spark: SparkSession, path: str) -> list[str]:
    """Read one entry."""
    return [row.value for row in spark.read.text(path).collect()]


if __name__ == "__main__":
    main(sys.argv[1])
