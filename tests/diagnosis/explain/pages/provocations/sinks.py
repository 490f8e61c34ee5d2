"""Sinks that forget, refuse or fail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.diagnosis.explain.pages.provocations.provocation import provokes
from tests.diagnosis.explain.pages.provocations.queries import lines, run, texts


@provokes("file-sink-log-missing")
def sink_log_gone(spark: Any, folder: Path) -> None:
    stream = texts(spark, lines(folder, number=9))
    run(stream, folder, sink="parquet", path=str(folder / "out"))
    lines(folder)
    run(stream, folder, sink="parquet", path=str(folder / "new"))


@provokes("file-sink-log-unreadable")
def sink_log_empty(spark: Any, folder: Path) -> None:
    out = folder / "out"
    run(texts(spark, lines(folder)), folder, sink="parquet", path=str(out))
    (out / "_spark_metadata/2").write_text("")
    spark.read.parquet(str(out)).count()


@provokes("output-mode-of-sink")
def mode_of_sink(spark: Any, folder: Path) -> None:
    run(
        texts(spark, lines(folder)).groupBy("value").count(),
        folder,
        mode="update",
        sink="parquet",
        path=str(folder / "out"),
    )


@provokes("sink-cannot-stream")
def jdbc_sink(spark: Any, folder: Path) -> None:
    run(texts(spark, lines(folder)), folder, sink="jdbc", url="jdbc:h2:mem:x", dbtable="orders")


@provokes("foreach-batch-failed")
def foreach_batch(spark: Any, folder: Path) -> None:
    def deliver(batch: Any, batch_id: int) -> None:
        raise ValueError("the ledger is closed")

    writer = texts(spark, lines(folder)).writeStream.foreachBatch(deliver)
    writer.option("checkpointLocation", str(folder / "checkpoint")).start().awaitTermination()


@provokes("memory-sink-without-name")
def memory_without_name(spark: Any, folder: Path) -> None:
    run(texts(spark, lines(folder)), folder, sink="memory")


@provokes("recovery-not-supported")
def memory_again(spark: Any, folder: Path) -> None:
    for _ in range(2):
        run(texts(spark, lines(folder)), folder, sink="memory", queryName="orders")
