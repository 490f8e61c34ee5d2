"""Trials of where a checkpoint lies, which copy is used, and what a job declares of it."""

from __future__ import annotations

import shutil
import time

from tests.diagnosis.doctor.trials.bench import Bench
from tests.diagnosis.doctor.trials.trial import tries

PARTITIONS = "spark.sql.shuffle.partitions"
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def _twin(bench: Bench, name: str) -> None:
    bench.put(0, 1)
    bench.deliver(bench.lines(), checkpoint="my orders")
    (bench.folder / name).mkdir()
    bench.put(2)
    bench.deliver(bench.lines(), checkpoint="my orders")


@tries("a folder with the once escaped name of the checkpoint lies beside it")
def escaped_twin(bench: Bench) -> None:
    _twin(bench, "my%20orders")


@tries("a folder with the three times escaped name, which Spark 2.4 gave it, lies beside it")
def escaped_twin_of_old_spark(bench: Bench) -> None:
    _twin(bench, "my%252520orders")


@tries("the folder around the checkpoint has a blank, and a twin that Spark 2.4 gave that name")
def escaped_twin_of_parent(bench: Bench) -> None:
    bench.put(0, 1)
    bench.deliver(bench.lines(), checkpoint="my lake/orders")
    (bench.folder / "my%252520lake/orders").mkdir(parents=True)
    bench.put(2)
    bench.deliver(bench.lines(), checkpoint="my lake/orders")


@tries("the next start has another checkpoint path")
def another_path(bench: Bench) -> None:
    bench.put(0, 1)
    bench.deliver(bench.lines(), checkpoint="run-1")
    bench.put(2)
    bench.deliver(bench.lines(), checkpoint="run-2")


@tries("two starts without any checkpointLocation")
def no_path(bench: Bench) -> None:
    bench.put(0, 1)
    bench.deliver(bench.lines(), checkpoint=None)
    bench.put(2)
    bench.deliver(bench.lines(), checkpoint=None)


@tries("a copy of the checkpoint goes on alone")
def copy_alone(bench: Bench) -> None:
    bench.put(0, 1)
    bench.deliver(bench.lines())
    shutil.copytree(bench.folder / "checkpoint", bench.folder / "copy")
    bench.put(2)
    bench.deliver(bench.lines(), checkpoint="copy")


@tries("a checkpoint and its copy read different files and write one Delta table", needs="jars")
def copies_on_one_table(bench: Bench) -> None:
    bench.put(0, 1)
    bench.to("delta", bench.lines())
    shutil.copytree(bench.folder / "checkpoint", bench.folder / "copy")
    bench.put(2)
    bench.to("delta", bench.lines())
    bench.put(3)
    bench.to("delta", bench.lines(maxFilesPerTrigger=9), checkpoint="copy")
    bench.read("delta")


@tries("the query has one source more than the checkpoint")
def source_added(bench: Bench) -> None:
    bench.put(0, 1)
    bench.deliver(bench.lines())
    bench.put(2)
    bench.put(0, into="more")
    bench.deliver(bench.lines().union(bench.lines("more")))


@tries("the query uses its one source three times")
def source_used_thrice(bench: Bench) -> None:
    bench.put(0, 1)
    bench.deliver(bench.lines())
    bench.put(2)
    bench.lines().createOrReplaceTempView("thrice")
    bench.deliver(bench.spark.sql(" union all ".join(["select * from thrice"] * 3)))


@tries("a Kafka source gets the offsets of a file source", needs="jars")
def kafka_instead_of_files(bench: Bench) -> None:
    bench.put(0, 1)
    bench.deliver(bench.lines())
    reader = bench.spark.readStream.format("kafka").option("subscribe", "orders")
    reader = reader.option("kafka.bootstrap.servers", "127.0.0.1:9")
    for key in ("kafka.default.api.timeout.ms", "kafka.request.timeout.ms"):
        reader = reader.option(key, "900")
    bench.deliver(reader.load())


@tries("the file source reads another folder")
def folder_changed(bench: Bench) -> None:
    bench.put(0, 1)
    bench.deliver(bench.lines())
    bench.put(0, into="moved")
    bench.deliver(bench.lines("moved"))


@tries("the session asks for 5 partitions, 2 are pinned")
def partitions_changed(bench: Bench) -> None:
    bench.put(0, 1)
    counts = bench.lines().groupBy("value").count()
    bench.deliver(counts.select("value"), mode="update")
    before = bench.spark.conf.get(PARTITIONS)
    bench.put(2)
    try:
        bench.spark.conf.set(PARTITIONS, "5")
        bench.deliver(counts.select("value"), mode="update")
    finally:
        bench.spark.conf.set(PARTITIONS, before)
    folders = [one.name for one in bench.path("state/0").iterdir() if one.name.isdigit()]
    bench.note = f"{len(folders)} partitions are kept"


@tries("the session asks for RocksDB, the HDFS-backed provider is pinned")
def provider_changed(bench: Bench) -> None:
    bench.put(0, 1)
    counts = bench.lines().groupBy("value").count()
    bench.deliver(counts.select("value"), mode="update")
    bench.put(2)
    try:
        bench.spark.conf.set(PROVIDER, ROCKSDB)
        bench.deliver(counts.select("value"), mode="update")
    finally:
        bench.spark.conf.unset(PROVIDER)
    newest = bench.newest("state/0/0/*.*")
    bench.note = f"the newest state file is a .{newest.suffix.lstrip('.')}"


@tries("RocksDB is pinned, and the session does not ask for it any more")
def provider_dropped(bench: Bench) -> None:
    bench.put(0, 1)
    counts = bench.lines().groupBy("value").count()
    try:
        bench.spark.conf.set(PROVIDER, ROCKSDB)
        bench.deliver(counts.select("value"), mode="update")
    finally:
        bench.spark.conf.unset(PROVIDER)
    bench.put(2)
    bench.deliver(counts.select("value"), mode="update")
    newest = bench.newest("state/0/0/*.*")
    bench.note = f"the newest state file is a .{newest.suffix.lstrip('.')}"


@tries("latestFirst with a limit, and files that lag by more than maxFileAge")
def latest_first(bench: Bench) -> None:
    options = {"latestFirst": "true", "maxFilesPerTrigger": "1", "maxFileAge": "30m"}
    bench.put(2, 3, every=3600)
    bench.deliver(bench.lines(**options))
    bench.put(0, 1, every=3600)
    bench.deliver(bench.lines(**options))


@tries("no latestFirst, and files come later that lag by more than maxFileAge")
def late_files(bench: Bench) -> None:
    bench.put(2, 3, every=3600)
    bench.deliver(bench.lines(maxFileAge="30m"))
    bench.put(0, 1, every=3600)
    bench.deliver(bench.lines(maxFileAge="30m"))


@tries("a file from the future was read, and then files come with the time of today")
def future_file(bench: Bench) -> None:
    bench.put(1000, every=86_400)
    bench.deliver(bench.lines())
    bench.put(1, 2)
    bench.deliver(bench.lines())


@tries("a file from the future was read, and the next start has a maxFileAge beyond it")
def future_file_and_max_age(bench: Bench) -> None:
    bench.put(1000, every=86_400)
    bench.deliver(bench.lines())
    bench.put(1, 2)
    bench.deliver(bench.lines(maxFileAge="2000d"))


@tries("a plain append in foreachBatch, and the newest commit is lost")
def append_again(bench: Bench) -> None:
    bench.put(0, 1)
    bench.deliver(bench.lines())
    bench.remove("commits/1")
    bench.put(2)
    bench.deliver(bench.lines())


def _asynchronously(bench: Bench, *, tracked: bool) -> None:
    """Run a few batches that are not all written down."""
    reader = bench.spark.readStream.format("rate-micro-batch").option("rowsPerBatch", "2")
    stream = reader.option("numPartitions", "1").load()
    writer = stream.writeStream.format("noop").trigger(processingTime="100 milliseconds")
    writer = writer.option("checkpointLocation", str(bench.folder / "checkpoint"))
    if tracked:
        writer = writer.option("asyncProgressTrackingEnabled", "true")
        writer = writer.option("asyncProgressTrackingCheckpointIntervalMs", "350")
    query = writer.start()
    before = len(list(bench.path("commits").glob("[0-9]*")))
    for _ in range(200):
        if not query.isActive or len(list(bench.path("commits").glob("[0-9]*"))) >= before + 3:
            break
        time.sleep(0.05)
    # Its own stop interrupts it, which may look like a failure.
    failure = query.exception()
    query.stop()
    if failure is not None:
        raise failure


@tries("asynchronous progress tracking at both starts")
def async_goes_on(bench: Bench) -> None:
    _asynchronously(bench, tracked=True)
    _asynchronously(bench, tracked=True)


@tries("asynchronous progress tracking, then none")
def async_turned_off(bench: Bench) -> None:
    _asynchronously(bench, tracked=True)
    _asynchronously(bench, tracked=False)
