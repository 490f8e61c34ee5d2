"""Named sinks, real-time mode, asynchronous progress, clauses: what new features refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.diagnosis.explain.pages.provocations.provocation import provokes
from tests.diagnosis.explain.pages.provocations.queries import having, lines, run, texts

EVOLUTION = "spark.sql.streaming.queryEvolution"
SINKS = {f"{EVOLUTION}.enableSinkEvolution": "true"}


def named(spark: Any, folder: Path, name: str, **options: str) -> None:
    """Run a query whose sink has a name; Python has no method for it."""
    writer = texts(spark, lines(folder)).writeStream.format("noop")
    writer._jwrite = writer._jwrite.name(name)
    for key, value in options.items():
        writer = writer.option(key, value)
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    writer.start().processAllAvailable()


@provokes("sink-evolution-switched-off", since="4.3")
def sink_evolution_off_again(spark: Any, folder: Path) -> None:
    with having(spark, SINKS):
        named(spark, folder, "bronze")
    for query in spark.streams.active:
        query.stop()
    run(texts(spark, lines(folder)), folder)


@provokes("evolution-with-async-progress", since="4.2")
def sink_evolution_with_async(spark: Any, folder: Path) -> None:
    with having(spark, SINKS):
        named(spark, folder, "bronze", asyncProgressTrackingEnabled="true")


@provokes("source-without-name", since="4.2")
def sink_without_name(spark: Any, folder: Path) -> None:
    with having(spark, SINKS):
        run(texts(spark, lines(folder)), folder)


@provokes("source-name-characters", since="4.2")
def sink_name_characters(spark: Any, folder: Path) -> None:
    with having(spark, SINKS):
        named(spark, folder, "my-orders")


@provokes("real-time-mode", since="4.2")
def real_time_of_files(spark: Any, folder: Path) -> None:
    writer = texts(spark, lines(folder)).writeStream.format("noop").outputMode("update")
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    writer.trigger(realTime="5 minutes").start().awaitTermination()


@provokes("real-time-mode", since="4.2")
def real_time_in_append_mode(spark: Any, folder: Path) -> None:
    writer = spark.readStream.format("rate").load().writeStream.format("noop")
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    writer.outputMode("append").trigger(realTime="5 minutes").start().awaitTermination()


@provokes("real-time-mode", since="4.2")
def real_time_too_often(spark: Any, folder: Path) -> None:
    writer = spark.readStream.format("rate").load().writeStream.format("noop")
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    writer.outputMode("update").trigger(realTime="1 millisecond").start().awaitTermination()


@provokes("offset-map-format", since="4.2")
def offset_map(spark: Any, folder: Path) -> None:
    with having(spark, {"spark.sql.streaming.offsetLog.formatVersion": "2"}):
        run(texts(spark, lines(folder)), folder)
        path = folder / "checkpoint/offsets/2"
        path.write_text(path.read_text() + "\n\n")
        run(texts(spark, lines(folder)), folder)


@provokes("watermark-clause", since="4.1")
def watermark_clause(spark: Any, folder: Path) -> None:
    texts(spark, lines(folder)).createOrReplaceTempView("words")
    spark.sql(
        "select * from stream words watermark timestamp_seconds(1) delay of interval 1 minute"
    )


@provokes("watermark-clause", since="4.1")
def watermark_clause_aliases(spark: Any, folder: Path) -> None:
    texts(spark, lines(folder)).createOrReplaceTempView("words")
    spark.sql(
        "select * from stream words watermark stack(1, value, value) as (a, b) "
        "delay of interval 1 minute"
    )


@provokes("checkpoint-path-escaped")
def escaped_twin(spark: Any, folder: Path) -> None:
    (folder / "my%252520orders").mkdir()
    writer = texts(spark, lines(folder)).writeStream.format("noop")
    writer.option("checkpointLocation", str(folder / "my orders")).start().awaitTermination()


@provokes("file-sink-log-escaped")
def escaped_sink(spark: Any, folder: Path) -> None:
    (folder / "my%20output/_spark_metadata").mkdir(parents=True)
    run(texts(spark, lines(folder)), folder, sink="parquet", path=str(folder / "my output"))


@provokes("source-files-gone")
def input_removed(spark: Any, folder: Path) -> None:
    place = lines(folder)

    def deliver(batch: Any, _batch_id: int) -> None:
        batch.isEmpty()
        for path in place.iterdir():
            path.unlink()
        batch.collect()

    writer = texts(spark, place).writeStream.foreachBatch(deliver).trigger(availableNow=True)
    writer.option("checkpointLocation", str(folder / "checkpoint")).start().awaitTermination()


@provokes("clean-source-of-sink")
def clean_own_output(spark: Any, folder: Path) -> None:
    out = folder / "out"
    run(texts(spark, lines(folder)), folder, sink="text", path=str(out))
    reader = spark.readStream.format("text").option("cleanSource", "delete")
    stream = reader.load(str(out))
    writer = stream.writeStream.format("noop").option("checkpointLocation", str(folder / "c"))
    writer.trigger(availableNow=True).start().awaitTermination()
