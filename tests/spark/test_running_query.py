"""Reading a checkpoint while real Spark writes to it: one consistent moment each time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.answers import Answer
from holdfast.diagnosis.inspection.result import Inspection
from holdfast.findings import Severity, worst

pytestmark = pytest.mark.spark

BATCHES = 6


def test_every_look_is_consistent_and_leaves_no_trace(spark: Any, tmp_path: Path) -> None:
    """Batches only ever grow, nothing is warned of, and no name appears that Spark did not make."""
    checkpoint = tmp_path / "checkpoint"
    stream = (
        spark.readStream.format("rate-micro-batch")
        .option("rowsPerBatch", 10)
        .load()
        .groupBy((spark_column("value") % 5).alias("bucket"))
        .count()
        .writeStream.format("noop")
        .outputMode("update")
        .option("checkpointLocation", str(checkpoint))
        .trigger(processingTime="0 seconds")
        .start()
    )
    try:
        wait_for_batch(stream, 1)
        seen = looks_while_running(stream, checkpoint)
    finally:
        stream.stop()
    planned = [answer.result.batches.last_planned for answer in seen]
    committed = [answer.result.batches.last_committed for answer in seen]
    assert all(isinstance(one, int) for one in planned)
    assert planned == sorted(planned, key=lambda one: one or 0)
    assert committed == sorted(committed, key=lambda one: one or 0)
    for answer in seen:
        assert worst(answer.findings) in (None, Severity.INFO), answer.findings
    last = holdfast.inspect(checkpoint).result
    assert last.query_id == stream.id
    assert len(set(planned)) >= BATCHES


def looks_while_running(stream: Any, checkpoint: Path) -> list[Answer[Inspection]]:
    """Look again and again until several batches have passed; verify everything now and then."""
    seen: list[Answer[Inspection]] = []
    while len({one.result.batches.last_planned for one in seen}) < BATCHES:
        assert stream.isActive, stream.exception()
        seen.append(holdfast.inspect(checkpoint, verify=len(seen) % 10 == 0))
    return seen


def spark_column(name: str) -> Any:
    """Name a column."""
    from pyspark.sql.functions import col

    return col(name)


def wait_for_batch(stream: Any, batch_id: int) -> None:
    """Wait until the query has finished this batch."""
    while stream.lastProgress is None or stream.lastProgress["batchId"] < batch_id:
        assert stream.isActive, stream.exception()
        stream.awaitTermination(0.05)
