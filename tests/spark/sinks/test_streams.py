"""Delta in a real stream with state: a batch that is run again is skipped, its state is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from holdfast.ledgers.identity import BatchIdentity, digest_of_offsets
from tests.spark.sinks.deliveries import delta_sink, rows_of

pytestmark = pytest.mark.spark


def run(frame: Any, sink: Any, checkpoint: Path) -> dict[int, bool]:
    """Run what is available through the sink, as a runner does; tell which batches were skipped."""
    skipped: dict[int, bool] = {}

    def deliver(batch: Any, batch_id: int) -> None:
        query_id = (checkpoint / "metadata").read_text(encoding="utf-8").split('"')[3]
        digest = digest_of_offsets((checkpoint / "offsets" / str(batch_id)).read_bytes())
        identity = BatchIdentity(query_id, batch_id, 1, digest)
        skipped[batch_id] = sink.write(batch, identity).skipped

    writer = frame.writeStream.foreachBatch(deliver).outputMode("update")
    writer = writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True)
    writer.start().awaitTermination()
    return skipped


def test_a_lost_commit_is_skipped_and_the_totals_go_on(spark: Any, tmp_path: Path) -> None:
    """Spark dies after the sink: the batch is run again, written once, and its state is kept."""
    source, checkpoint, table = (tmp_path / name for name in ("source", "checkpoint", "table"))
    source.mkdir()
    frame = spark.readStream.schema("key string").option("maxFilesPerTrigger", 1).json(str(source))
    evaluated = spark.sparkContext.accumulator(0)

    def counted(rows: Any) -> Any:
        for row in rows:
            evaluated.add(row.num_rows)
            yield row

    totals = frame.mapInArrow(counted, "key string").groupBy("key").count()
    sink = delta_sink(spark, table, "upsert", key=("key",))
    sink.prepare(totals.schema, begun=False)
    for number in range(2):
        (source / f"{number}.json").write_text('{"key":"a"}\n{"key":"b"}', encoding="utf-8")
        assert run(totals, sink, checkpoint) == {number: False}
    assert evaluated.value == 4, "an upsert computes its batch once"
    (checkpoint / "commits" / "1").unlink()
    (checkpoint / "commits" / ".1.crc").unlink()
    (source / "2.json").write_text('{"key":"a"}', encoding="utf-8")
    again = delta_sink(spark, table, "upsert", key=("key",))
    assert run(totals, again, checkpoint) == {1: True, 2: False}
    assert rows_of(spark, table) == [("a", 3), ("b", 2)]
