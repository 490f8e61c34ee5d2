"""Small programs that make real Spark fail, each with the page that has to explain it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Provoke = Callable[[Any, Path], None]
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
PROVIDER = "spark.sql.streaming.stateStore.providerClass"


@dataclass(frozen=True)
class Provocation:
    """One way to make Spark fail."""

    page: str
    provoke: Provoke
    since: str = "3.5"
    until: str = "4.9"
    needs_jars: bool = False

    @property
    def name(self) -> str:
        """The function's name, with dashes."""
        return self.provoke.__name__.replace("_", "-")

    def fits(self, version: str, jars: bool) -> bool:
        """Tell whether this Spark can be provoked so; with jars only what needs them is run."""
        return self.since <= version[:3] <= self.until and self.needs_jars == jars


PROVOCATIONS: list[Provocation] = []


def provokes(
    page: str, *, since: str = "3.5", until: str = "4.9", needs_jars: bool = False
) -> Callable[[Provoke], Provoke]:
    """Register a provocation of the error that this page explains."""

    def register(function: Provoke) -> Provoke:
        PROVOCATIONS.append(Provocation(page, function, since, until, needs_jars))
        return function

    return register


def lines(folder: Path, name: str = "in", number: int = 3) -> Path:
    """Write a few files with words."""
    place = folder / name
    place.mkdir(exist_ok=True)
    for at in range(number):
        (place / f"{len(list(place.iterdir()))}-{at}.txt").write_text(f"a\nb{at}\n")
    return place


def texts(spark: Any, place: Path) -> Any:
    """Read the files as a stream, one a batch."""
    return spark.readStream.format("text").option("maxFilesPerTrigger", 1).load(str(place))


def run(
    stream: Any, folder: Path, *, mode: str = "append", sink: str = "noop", **options: str
) -> None:
    """Run a query until its input is used up."""
    writer = stream.writeStream.format(sink).outputMode(mode).trigger(availableNow=True)
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    for key, value in options.items():
        writer = writer.option(key, value)
    writer.start().awaitTermination()


def counted(spark: Any, folder: Path, *, sink: str = "noop") -> None:
    """Run a stateful query once."""
    run(texts(spark, lines(folder)).groupBy("value").count(), folder, mode="update", sink=sink)


def again(spark: Any, folder: Path) -> None:
    """Run the same stateful query with more input."""
    lines(folder)
    run(texts(spark, folder / "in").groupBy("value").count(), folder, mode="update")


def copied(spark: Any, folder: Path) -> None:
    """Run a stateless query once."""
    run(texts(spark, lines(folder)), folder)


def copied_again(spark: Any, folder: Path) -> None:
    """Run the same stateless query with more input."""
    run(texts(spark, lines(folder)), folder)


def remove(path: Path) -> None:
    """Remove a file with the checksum beside it."""
    path.unlink()
    path.with_name(f".{path.name}.crc").unlink(missing_ok=True)


@provokes("batch-does-not-exist")
def offsets_gap(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    remove(folder / "checkpoint/offsets/1")
    copied_again(spark, folder)


@provokes("offsets-gone-commits-kept", since="4.2")
def offsets_gone(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    for path in (folder / "checkpoint/offsets").iterdir():
        path.unlink()
    copied_again(spark, folder)


@provokes("offsets-entry-empty")
def offsets_empty(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    (folder / "checkpoint/offsets/2").write_text("")
    copied_again(spark, folder)


@provokes("commit-entry-empty")
def commit_empty(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    (folder / "checkpoint/commits/2").write_text("")
    copied_again(spark, folder)


@provokes("log-version-line")
def version_line(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    (folder / "checkpoint/offsets/2").write_text("one\n{}\n")
    copied_again(spark, folder)


@provokes("log-version-too-new")
def version_9(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    path = folder / "checkpoint/offsets/2"
    path.write_text(path.read_text().replace("v1", "v9", 1))
    copied_again(spark, folder)


@provokes("offsets-entry-not-json")
def offsets_cut(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    path = folder / "checkpoint/offsets/2"
    path.write_text(path.read_text()[:40])
    copied_again(spark, folder)


@provokes("offsets-entry-not-json")
def offsets_mapping(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    path = folder / "checkpoint/offsets/2"
    path.write_text(path.read_text().replace("logOffset", "lagOffset"))
    copied_again(spark, folder)


@provokes("log-entry-not-text")
def offsets_garbage(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    (folder / "checkpoint/offsets/2").write_bytes(bytes(range(128, 255)))
    copied_again(spark, folder)


@provokes("offsets-entry-without-settings")
def offsets_without_metadata(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    path = folder / "checkpoint/offsets/2"
    first, _, *rest = path.read_text().split("\n")
    path.write_text("\n".join([first, "null", *rest]))
    copied_again(spark, folder)


@provokes("commit-entry-null")
def commit_null(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    (folder / "checkpoint/commits/2").write_text("v1\nnull")
    copied_again(spark, folder)


@provokes("log-entry-file-missing")
def padded_name(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    (folder / "checkpoint/offsets/007").write_text("v1\n")
    copied_again(spark, folder)


@provokes("number-of-sources")
def source_added(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    run(texts(spark, lines(folder)).union(texts(spark, lines(folder, "other"))), folder)


@provokes("false-concurrent-update")
def offset_lost(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    remove(folder / "checkpoint/offsets/2")
    copied_again(spark, folder)


@provokes("false-concurrent-queries")
def crc_left(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    (folder / "checkpoint/commits/.3.crc").write_bytes(b"crc\0")
    copied_again(spark, folder)


@provokes("metadata-file-missing", since="4.2")
def metadata_missing(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    remove(folder / "checkpoint/metadata")
    copied_again(spark, folder)


@provokes("metadata-file-unreadable")
def metadata_empty(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    (folder / "checkpoint/metadata").write_text("")
    (folder / "checkpoint/.metadata.crc").unlink(missing_ok=True)
    copied_again(spark, folder)


@provokes("metadata-file-unreadable")
def metadata_no_uuid(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    (folder / "checkpoint/metadata").write_text('{"id":"orders"}')
    (folder / "checkpoint/.metadata.crc").unlink(missing_ok=True)
    copied_again(spark, folder)


@provokes("logs-lost-but-not-empty", since="4.1")
def logs_removed(spark: Any, folder: Path) -> None:
    counted(spark, folder)
    for name in ("offsets", "commits"):
        shutil.rmtree(folder / "checkpoint" / name)
    again(spark, folder)


@provokes("state-delta-missing")
def delta_missing(spark: Any, folder: Path) -> None:
    counted(spark, folder)
    for part in (0, 1):
        remove(folder / f"checkpoint/state/0/{part}/2.delta")
    again(spark, folder)


@provokes("state-file-cut")
def delta_empty(spark: Any, folder: Path) -> None:
    counted(spark, folder)
    for part in (0, 1):
        (folder / f"checkpoint/state/0/{part}/3.delta").write_bytes(b"")
        for name in (".3.delta.crc", "3.delta.crc"):
            (folder / f"checkpoint/state/0/{part}/{name}").unlink(missing_ok=True)
    again(spark, folder)


@provokes("state-file-corrupted")
def delta_garbage(spark: Any, folder: Path) -> None:
    counted(spark, folder)
    for part in (0, 1):
        (folder / f"checkpoint/state/0/{part}/3.delta").write_bytes(bytes(range(200)))
        for name in (".3.delta.crc", "3.delta.crc"):
            (folder / f"checkpoint/state/0/{part}/{name}").unlink(missing_ok=True)
    again(spark, folder)


@provokes("state-folder-missing", since="4.2")
def state_removed(spark: Any, folder: Path) -> None:
    counted(spark, folder)
    shutil.rmtree(folder / "checkpoint/state")
    again(spark, folder)


@provokes("state-file-missing-rocksdb", since="4.0")
def rocksdb_state_removed(spark: Any, folder: Path) -> None:
    spark.conf.set(PROVIDER, ROCKSDB)
    counted(spark, folder)
    for part in (0, 1):
        shutil.rmtree(folder / f"checkpoint/state/0/{part}")
    again(spark, folder)


@provokes("state-zip-unreadable", since="4.0")
def rocksdb_zip_garbage(spark: Any, folder: Path) -> None:
    spark.conf.set(PROVIDER, ROCKSDB)
    counted(spark, folder)
    for part in (0, 1):
        (folder / f"checkpoint/state/0/{part}/3.zip").write_bytes(bytes(range(200)))
        for name in (".3.zip.crc", "3.zip.crc"):
            (folder / f"checkpoint/state/0/{part}/{name}").unlink(missing_ok=True)
    again(spark, folder)


@provokes("state-key-schema", since="4.0")
def key_changed(spark: Any, folder: Path) -> None:
    counted(spark, folder)
    stream = texts(spark, lines(folder)).selectExpr("length(value) as value")
    run(stream.groupBy("value").count(), folder, mode="update")


@provokes("state-row-format")
def key_changed_without_schema(spark: Any, folder: Path) -> None:
    counted(spark, folder)
    shutil.rmtree(folder / "checkpoint/state/0/0/_metadata")
    stream = texts(spark, lines(folder)).selectExpr("length(value) as value")
    run(stream.groupBy("value").count(), folder, mode="update")


@provokes("state-value-schema", since="4.0")
def value_changed(spark: Any, folder: Path) -> None:
    counted(spark, folder)
    stream = texts(spark, lines(folder)).groupBy("value").agg({"value": "max"})
    run(stream, folder, mode="update")


@provokes("state-schema-unreadable", since="4.0")
def schema_empty(spark: Any, folder: Path) -> None:
    counted(spark, folder)
    place = folder / "checkpoint/state/0/0/_metadata"
    (place / "schema").write_bytes(b"")
    (place / ".schema.crc").unlink(missing_ok=True)
    again(spark, folder)


@provokes("operators-changed", since="4.0")
def operator_changed(spark: Any, folder: Path) -> None:
    counted(spark, folder)
    run(texts(spark, lines(folder)).dropDuplicates(["value"]), folder)


@provokes("unfinished-repartition", since="4.2")
def repartition_left(spark: Any, folder: Path) -> None:
    counted(spark, folder)
    newest = folder / "checkpoint/offsets"
    text = (newest / "2").read_text()
    (newest / "3").write_text(text.replace('partitions":"2"', 'partitions":"5"'))
    again(spark, folder)


@provokes("wrong-base-path")
def path_changed(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    run(texts(spark, lines(folder, "moved")), folder)


@provokes("source-log-entry-missing")
def source_log_gone(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    remove(folder / "checkpoint/sources/0/0")
    copied_again(spark, folder)


@provokes("batch-does-not-exist")
def sources_gone(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    shutil.rmtree(folder / "checkpoint/sources")
    copied_again(spark, folder)


@provokes("file-sink-log-missing")
def sink_log_gone(spark: Any, folder: Path) -> None:
    stream = texts(spark, lines(folder, number=9))
    run(stream, folder, sink="parquet", path=str(folder / "out"))
    lines(folder)
    run(stream, folder, sink="parquet", path=str(folder / "new"))


@provokes("checkpoint-location-not-given")
def no_checkpoint(spark: Any, folder: Path) -> None:
    stream = texts(spark, lines(folder))
    stream.writeStream.format("parquet").option("path", str(folder / "out")).start()


@provokes("output-mode-unknown")
def mode_unknown(spark: Any, folder: Path) -> None:
    run(texts(spark, lines(folder)), folder, mode="upsert")


@provokes("output-mode-of-sink")
def mode_of_sink(spark: Any, folder: Path) -> None:
    run(
        texts(spark, lines(folder)).groupBy("value").count(),
        folder,
        mode="update",
        sink="parquet",
        path=str(folder / "out"),
    )


@provokes("append-without-watermark")
def append_without_watermark(spark: Any, folder: Path) -> None:
    run(texts(spark, lines(folder)).groupBy("value").count(), folder)


@provokes("complete-without-aggregation")
def complete_without_aggregation(spark: Any, folder: Path) -> None:
    run(texts(spark, lines(folder)), folder, mode="complete")


@provokes("outer-join-without-watermark")
def outer_join(spark: Any, folder: Path) -> None:
    left, right = texts(spark, lines(folder)), texts(spark, lines(folder, "other"))
    run(left.join(right, "value", "left"), folder)


@provokes("sort-in-stream")
def sort(spark: Any, folder: Path) -> None:
    run(texts(spark, lines(folder)).orderBy("value"), folder)


@provokes("distinct-aggregation")
def distinct(spark: Any, folder: Path) -> None:
    from pyspark.sql.functions import count_distinct

    run(
        texts(spark, lines(folder)).groupBy("value").agg(count_distinct("value")),
        folder,
        mode="update",
    )


@provokes("window-function-in-stream")
def window_function(spark: Any, folder: Path) -> None:
    run(texts(spark, lines(folder)).selectExpr("row_number() over (order by value) as n"), folder)


@provokes("event-time-type")
def event_time_type(spark: Any, folder: Path) -> None:
    run(texts(spark, lines(folder)).withWatermark("value", "1 minute"), folder)


@provokes("read-a-stream-like-a-table")
def collected(spark: Any, folder: Path) -> None:
    texts(spark, lines(folder)).collect()


@provokes("write-a-table-like-a-stream")
def write_stream_of_batch(spark: Any, folder: Path) -> None:
    run(spark.range(3), folder)


@provokes("file-source-without-schema")
def no_schema(spark: Any, folder: Path) -> None:
    run(spark.readStream.format("json").load(str(lines(folder))), folder)


@provokes("connector-missing")
def kafka_missing(spark: Any, folder: Path) -> None:
    spark.readStream.format("kafka").option("subscribe", "orders").load()


@provokes("connector-missing")
def delta_connector_missing(spark: Any, folder: Path) -> None:
    spark.readStream.format("delta").load(str(folder))


@provokes("sink-cannot-stream")
def jdbc_sink(spark: Any, folder: Path) -> None:
    run(texts(spark, lines(folder)), folder, sink="jdbc", url="jdbc:h2:mem:x", dbtable="orders")


@provokes("foreach-batch-failed")
def foreach_batch(spark: Any, folder: Path) -> None:
    def deliver(batch: Any, batch_id: int) -> None:
        raise ValueError("the ledger is closed")

    writer = texts(spark, lines(folder)).writeStream.foreachBatch(deliver)
    writer.option("checkpointLocation", str(folder / "checkpoint")).start().awaitTermination()


@provokes("same-query-twice")
def same_query_twice(spark: Any, folder: Path) -> None:
    spark.conf.set("spark.sql.streaming.stopActiveRunOnRestart", "false")
    stream = texts(spark, lines(folder))
    for _ in range(2):
        writer = stream.writeStream.format("noop").option("checkpointLocation", str(folder / "c"))
        writer.start()


@provokes("same-name-twice")
def same_name_twice(spark: Any, folder: Path) -> None:
    stream = texts(spark, lines(folder))
    for at in range(2):
        writer = stream.writeStream.format("noop").queryName("orders")
        writer.option("checkpointLocation", str(folder / f"c{at}")).start()


@provokes("file-manager-class")
def file_manager(spark: Any, folder: Path) -> None:
    spark.conf.set("spark.sql.streaming.checkpointFileManagerClass", "org.example.Missing")
    copied(spark, folder)


@provokes("state-provider-class")
def provider_unknown(spark: Any, folder: Path) -> None:
    counted(spark, folder)
    path = folder / "checkpoint/offsets/2"
    path.write_text(path.read_text().replace("HDFSBackedStateStoreProvider", "Missing"))
    again(spark, folder)


@provokes("pinned-partitions-unusable")
def partitions_word(spark: Any, folder: Path) -> None:
    counted(spark, folder)
    path = folder / "checkpoint/offsets/2"
    path.write_text(path.read_text().replace('partitions":"2"', 'partitions":"two"'))
    again(spark, folder)


@provokes("source-naming-is-off", since="4.2")
def naming_off(spark: Any, folder: Path) -> None:
    place = str(lines(folder))
    run(spark.readStream.name("orders").format("text").load(place), folder)


@provokes("source-without-name", since="4.2")
def unnamed_source(spark: Any, folder: Path) -> None:
    spark.conf.set("spark.sql.streaming.queryEvolution.enableSourceEvolution", "true")
    copied(spark, folder)


@provokes("source-names-twice", since="4.2")
def names_twice(spark: Any, folder: Path) -> None:
    spark.conf.set("spark.sql.streaming.queryEvolution.enableSourceEvolution", "true")
    one, two = str(lines(folder)), str(lines(folder, "other"))
    left = spark.readStream.name("orders").format("text").load(one)
    run(left.union(spark.readStream.name("orders").format("text").load(two)), folder)


@provokes("source-name-characters", since="4.2")
def name_characters(spark: Any, folder: Path) -> None:
    spark.conf.set("spark.sql.streaming.queryEvolution.enableSourceEvolution", "true")
    run(spark.readStream.name("my-orders").format("text").load(str(lines(folder))), folder)


@provokes("evolution-on-existing-checkpoint", since="4.3")
def evolution_later(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    spark.conf.set("spark.sql.streaming.queryEvolution.enableSourceEvolution", "true")
    run(spark.readStream.name("orders").format("text").load(str(lines(folder))), folder)


@provokes("sources-should-be-named", since="4.2")
def evolution_off_again(spark: Any, folder: Path) -> None:
    spark.conf.set("spark.sql.streaming.queryEvolution.enableSourceEvolution", "true")
    run(spark.readStream.name("orders").format("text").load(str(lines(folder))), folder)
    spark.conf.set("spark.sql.streaming.queryEvolution.enableSourceEvolution", "false")
    copied_again(spark, folder)


@provokes("state-checkpoint-ids", since="4.0")
def format_two_on_hdfs(spark: Any, folder: Path) -> None:
    spark.conf.set("spark.sql.streaming.stateStore.checkpointFormatVersion", "2")
    counted(spark, folder)


def states(spark: Any, folder: Path, **options: object) -> None:
    """Read state with Spark's own reader."""
    assert spark.streams.active == []
    reader = spark.read.format("statestore")
    for key, value in options.items():
        reader = reader.option(key, str(value))
    reader.load(str(folder / "checkpoint")).collect()


@provokes("state-reader-no-commit", since="4.0")
def state_of_nothing(spark: Any, folder: Path) -> None:
    states(spark, folder)


@provokes("state-reader-option-value", since="4.0")
def state_negative_batch(spark: Any, folder: Path) -> None:
    counted(spark, folder)
    states(spark, folder, batchId=-1)


@provokes("state-reader-conflict", since="4.0")
def state_conflict(spark: Any, folder: Path) -> None:
    counted(spark, folder)
    states(spark, folder, joinSide="left", storeName="right-keyToNumValues")


@provokes("state-reader-option-missing", since="4.0")
def state_option_missing(spark: Any, folder: Path) -> None:
    counted(spark, folder)
    states(spark, folder, readChangeFeed="true")


@provokes("state-reader-offsets-missing", since="4.0")
def state_of_purged_batch(spark: Any, folder: Path) -> None:
    counted(spark, folder)
    remove(folder / "checkpoint/offsets/1")
    states(spark, folder, batchId=1)


@provokes("state-reader-schema", since="4.0")
def state_without_schema(spark: Any, folder: Path) -> None:
    counted(spark, folder)
    shutil.rmtree(folder / "checkpoint/state/0/0/_metadata")
    states(spark, folder)


@provokes("state-reader-schema", since="4.0")
def state_of_stateless(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    states(spark, folder)


@provokes("state-commit-failed", since="4.2", until="4.2")
def format_switched(spark: Any, folder: Path) -> None:
    spark.conf.set(PROVIDER, ROCKSDB)
    counted(spark, folder)
    spark.conf.set("spark.sql.streaming.stateStore.checkpointFormatVersion", "2")
    again(spark, folder)


@provokes("log-version-differs", since="4.0", until="4.1")
def format_switched_early(spark: Any, folder: Path) -> None:
    format_switched(spark, folder)


@provokes("state-file-checksum", since="4.1", until="4.1")
def delta_flipped(spark: Any, folder: Path) -> None:
    counted(spark, folder)
    for part in (0, 1):
        path = folder / f"checkpoint/state/0/{part}/3.delta"
        content = bytearray(path.read_bytes())
        content[-1] ^= 1
        path.write_bytes(bytes(content))
        path.with_name(".3.delta.crc").unlink(missing_ok=True)
    again(spark, folder)


@provokes("state-partition-beyond-ids", since="4.2")
def partitions_beyond_ids(spark: Any, folder: Path) -> None:
    spark.conf.set(PROVIDER, ROCKSDB)
    spark.conf.set("spark.sql.streaming.stateStore.checkpointFormatVersion", "2")
    counted(spark, folder)
    path = folder / "checkpoint/offsets/2"
    path.write_text(path.read_text().replace('partitions":"2"', 'partitions":"3"'))
    again(spark, folder)


@provokes("state-provider-class")
def provider_is_none(spark: Any, folder: Path) -> None:
    spark.conf.set(PROVIDER, "java.lang.String")
    counted(spark, folder)


@provokes("source-log-unreadable")
def source_log_cut(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    path = folder / "checkpoint/sources/0/2"
    path.write_text(path.read_text()[:-20])
    copied_again(spark, folder)


@provokes("file-sink-log-unreadable")
def sink_log_empty(spark: Any, folder: Path) -> None:
    out = folder / "out"
    run(texts(spark, lines(folder)), folder, sink="parquet", path=str(out))
    (out / "_spark_metadata/2").write_text("")
    spark.read.parquet(str(out)).count()


@provokes("join-without-equality")
def join_by_range(spark: Any, folder: Path) -> None:
    left, right = texts(spark, lines(folder)), texts(spark, lines(folder, "other"))
    run(left.join(right, left["value"] < right["value"]), folder)


@provokes("trigger-not-supported")
def continuous_trigger(spark: Any, folder: Path) -> None:
    writer = texts(spark, lines(folder)).writeStream.format("parquet")
    writer = writer.option("checkpointLocation", str(folder / "c")).trigger(continuous="1 second")
    writer.start(str(folder / "out")).awaitTermination()


@provokes("operation-not-streamed")
def pivot(spark: Any, folder: Path) -> None:
    run(texts(spark, lines(folder)).groupBy("value").pivot("value").count(), folder)


@provokes("memory-sink-without-name")
def memory_without_name(spark: Any, folder: Path) -> None:
    run(texts(spark, lines(folder)), folder, sink="memory")


@provokes("recovery-not-supported")
def memory_again(spark: Any, folder: Path) -> None:
    for _ in range(2):
        run(texts(spark, lines(folder)), folder, sink="memory", queryName="orders")


@provokes("watermark-missing")
def watermark_twice(spark: Any, folder: Path) -> None:
    timed = texts(spark, lines(folder)).selectExpr("current_timestamp() as at", "value")
    twice = timed.withWatermark("at", "1 minute").withWatermark("at", "2 minutes")
    run(twice.groupBy("at").count(), folder)


@provokes("repartition-refused", since="4.2")
def repartition_hdfs(spark: Any, folder: Path) -> None:
    counted(spark, folder)
    spark._streamingCheckpointManager.repartition(str(folder / "checkpoint"), 5)


@provokes("repartition-abandoned", since="4.2")
def repartition_back(spark: Any, folder: Path) -> None:
    try:
        repartition_hdfs(spark, folder)
    finally:
        spark._streamingCheckpointManager.repartition(str(folder / "checkpoint"), 2)


@provokes("state-reader-snapshot-partition", since="4.0")
def state_of_partition_beyond(spark: Any, folder: Path) -> None:
    counted(spark, folder)
    states(spark, folder, snapshotStartBatchId=0, snapshotPartitionId=7)


@provokes("state-snapshot-missing", since="4.0")
def state_without_snapshot(spark: Any, folder: Path) -> None:
    counted(spark, folder)
    states(spark, folder, snapshotStartBatchId=0, snapshotPartitionId=0)


@provokes("rate-source-state")
def rate_started_later(spark: Any, folder: Path) -> None:
    def rows(start: str) -> Any:
        reader = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 3)
        return reader.option("startTimestamp", start).option("numPartitions", 1).load()

    for start in ("1000", "900000"):
        writer = rows(start).writeStream.format("noop").trigger(once=True)
        writer.option("checkpointLocation", str(folder / "c")).start().awaitTermination()
        remove(folder / "c/commits/0")


def table(spark: Any, folder: Path, *, times: int = 3) -> str:
    """Make a Delta table with a few versions."""
    place = str(folder / "table")
    for _ in range(times):
        spark.range(5).write.format("delta").mode("append").save(place)
    return place


def deltas(spark: Any, place: str, **options: str) -> Any:
    """Read a Delta table as a stream."""
    reader = spark.readStream.format("delta")
    for key, value in options.items():
        reader = reader.option(key, value)
    return reader.load(place)


@provokes("delta-source-deleted-rows", needs_jars=True)
def delta_rows_deleted(spark: Any, folder: Path) -> None:
    place = table(spark, folder)
    run(deltas(spark, place), folder)
    spark.sql(f"delete from delta.`{place}`")
    run(deltas(spark, place), folder)


@provokes("delta-source-changed-rows", needs_jars=True)
def delta_rows_updated(spark: Any, folder: Path) -> None:
    place = table(spark, folder)
    run(deltas(spark, place), folder)
    spark.sql(f"update delta.`{place}` set id = 9 where id = 1")
    run(deltas(spark, place), folder)


@provokes("delta-source-another-table", needs_jars=True)
def delta_recreated(spark: Any, folder: Path) -> None:
    place = table(spark, folder)
    run(deltas(spark, place), folder)
    shutil.rmtree(place)
    table(spark, folder, times=5)
    run(deltas(spark, place), folder)


@provokes("delta-source-schema-changed", needs_jars=True)
def delta_schema_changed(spark: Any, folder: Path) -> None:
    place = table(spark, folder)
    run(deltas(spark, place), folder)
    stream = deltas(spark, place)
    spark.sql(f"alter table delta.`{place}` add columns (more string)")
    spark.sql(f"insert into delta.`{place}` values (1, 'a')")
    run(stream, folder)


@provokes("delta-source-log-cleaned", needs_jars=True)
def delta_log_cleaned(spark: Any, folder: Path) -> None:
    place = table(spark, folder)
    run(deltas(spark, place, maxFilesPerTrigger="1", startingVersion="0"), folder)
    table(spark, folder, times=12)
    for path in (folder / "table/_delta_log").glob("0*.json"):
        if int(path.stem) < 8:
            path.unlink()
            path.with_name(f".{path.name}.crc").unlink(missing_ok=True)
    run(deltas(spark, place, maxFilesPerTrigger="1", startingVersion="0"), folder)


@provokes("delta-starting-version", needs_jars=True)
def delta_starting_version(spark: Any, folder: Path) -> None:
    run(deltas(spark, table(spark, folder), startingVersion="77"), folder)


@provokes("delta-sink-schema", needs_jars=True)
def delta_sink_schema(spark: Any, folder: Path) -> None:
    place = table(spark, folder)
    run(texts(spark, lines(folder)), folder, sink="delta", path=place)


@provokes("delta-sink-mode", needs_jars=True)
def delta_sink_mode(spark: Any, folder: Path) -> None:
    stream = texts(spark, lines(folder)).groupBy("value").count()
    run(stream, folder, mode="update", sink="delta", path=str(folder / "out"))


@provokes("delta-source-not-a-table", needs_jars=True)
def delta_no_table(spark: Any, folder: Path) -> None:
    run(deltas(spark, str(folder / "nowhere")), folder)


def topics(spark: Any, **options: str) -> Any:
    """Read Kafka where no broker is needed to be refused."""
    reader = spark.readStream.format("kafka").option("kafka.bootstrap.servers", "192.0.2.7:9092")
    for key, value in options.items():
        reader = reader.option(key.replace("__", "."), value)
    return reader.load()


@provokes("kafka-option", needs_jars=True)
def kafka_no_subscription(spark: Any, folder: Path) -> None:
    topics(spark)


@provokes("kafka-option", needs_jars=True)
def kafka_auto_offset_reset(spark: Any, folder: Path) -> None:
    topics(spark, subscribe="orders", kafka__auto__offset__reset="latest")


@provokes("kafka-sink-columns", needs_jars=True)
def kafka_sink_columns(spark: Any, folder: Path) -> None:
    stream = texts(spark, lines(folder)).selectExpr("value as body")
    run(
        stream,
        folder,
        sink="kafka",
        topic="orders",
        **{"kafka.bootstrap.servers": "192.0.2.7:9092"},
    )


@provokes("kafka-no-answer", needs_jars=True)
def kafka_no_answer(spark: Any, folder: Path) -> None:
    options = {"kafka__default__api__timeout__ms": "900", "kafka__request__timeout__ms": "800"}
    run(topics(spark, subscribe="orders", **options), folder)


@provokes("kafka-initial-offsets", needs_jars=True)
def kafka_other_source(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    options = {"kafka__default__api__timeout__ms": "900", "kafka__request__timeout__ms": "800"}
    run(topics(spark, subscribe="orders", **options), folder)
