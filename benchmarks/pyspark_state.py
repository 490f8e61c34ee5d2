"""What a PySpark user would write to see state, or to keep it as Parquet; run in a cold process.

`python -m benchmarks.pyspark_state CHECKPOINT [OUTPUT]`; without an output the first row is shown.
"""

from __future__ import annotations

import sys

from benchmarks.spark_state import open_session


def main(checkpoint: str, output: str | None) -> None:
    """Print a row, or write all of them."""
    spark = open_session()
    # Spark 4.1 and 4.2 read no state before something in the session has asked for its queries.
    assert not spark.streams.active
    rows = spark.read.format("statestore").load(checkpoint)
    if output is None:
        sys.stdout.write(f"{rows.first()}\n")
    else:
        rows.write.mode("overwrite").parquet(output)
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None)
