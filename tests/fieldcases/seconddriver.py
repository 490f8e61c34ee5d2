"""A driver of its own: runs the rows of a folder through a checkpoint, with Spark alone.

`python seconddriver.py INPUT CHECKPOINT OUTPUT` writes one line per row that it delivered.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

SCHEMA = "user string, city string, amount long"


def main(folder: str, checkpoint: str, output: str) -> None:
    """Run until the input is used up."""
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.driver.host", "127.0.0.1").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")

    def deliver(rows: Any, _batch_id: int) -> None:
        with Path(output).open("a", encoding="utf-8") as lines:
            lines.writelines(f"{' '.join(map(str, row))}\n" for row in rows.collect())

    reader = spark.readStream.format("json").schema(SCHEMA).option("maxFilesPerTrigger", "1")
    writer = reader.load(folder).writeStream.foreachBatch(deliver)
    writer = writer.option("checkpointLocation", checkpoint).trigger(availableNow=True)
    writer.start().awaitTermination()
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
