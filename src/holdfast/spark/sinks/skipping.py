"""Skips a batch that the sink holds already: nothing is written, yet the batch is computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.spark.sinks.sink import Delivery

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def skip(batch: DataFrame) -> Delivery:
    """Compute every row and write none.

    A stateful query commits its state while its rows are computed. Left out, Spark 4.2 stops with
    STATE_STORE_COMMIT_VALIDATION_FAILED; a release without that check would miss the state.
    """
    batch.write.format("noop").mode("overwrite").save()
    return Delivery(skipped=True)
