"""Advice about where a checkpoint lies and which sources a job declares, followed."""

from __future__ import annotations

import shutil
import time
from typing import Any

from holdfast.diagnosis.doctor import wrongfixes
from tests.advice.bench import AdviceBench
from tests.advice.following import WRONG, follows, wrongly
from tests.diagnosis.doctor.trials.bench import Bench, remove
from tests.diagnosis.doctor.trials.kafka import messages, produce
from tests.diagnosis.doctor.trials.places import PARTITIONS, _asynchronously

_DECLARED = "needs a declared job, see tests/diagnosis/doctor/scenarios.py"


@follows(
    ("HF2301", "give the query one fixed path permanently; adopt this one as it is"),
    when="the path holds a date, and every start names the same one",
)
def changing_path_adopted(bench: AdviceBench) -> None:
    place = "run-2026-01-31T10-00-00"
    bench.put(0, 1)
    bench.deliver(bench.lines(), checkpoint=place)
    bench.ask_doctor(sink=None, checkpoint=place)
    bench.put(2)
    bench.deliver(bench.lines(), checkpoint=place)


_MOVE = "name a lasting checkpointLocation, and bring this checkpoint there while nothing runs"


@follows(
    ("HF2302", _MOVE),
    when="a checkpoint with state is moved out of a temporary folder",
)
def moved_out_of_temporary_folder(bench: AdviceBench) -> None:
    def run(place: str) -> None:
        counts = bench.lines().groupBy("value").count()
        bench.deliver(counts.select("value"), mode="update", checkpoint=place)

    bench.put(0, 1)
    run("tmp/temporary-1")
    bench.ask_doctor(sink=None, checkpoint="tmp/temporary-1")
    shutil.move(bench.folder / "tmp/temporary-1", bench.folder / "lasting")
    bench.put(2)
    run("lasting")


_TWINS = (
    "bring the one with the progress to the path that the query names, and the other to a place of "
    "its own, while nothing runs"
)
_TWIN = "my%252520orders"


@follows(
    ("HF2305", _TWINS),
    when="the twin that Spark 2.4 named has the batches, the named folder has none",
)
def progress_in_the_twin(bench: AdviceBench) -> None:
    bench.put(0, 1)
    bench.deliver(bench.lines(), checkpoint="my orders")
    (bench.folder / "my orders").rename(bench.folder / _TWIN)
    (bench.folder / "my orders/offsets").mkdir(parents=True)
    bench.ask_doctor(sink=None, checkpoint="my orders")
    bench.put(2)
    bench.failing(lambda: bench.deliver(bench.lines(), checkpoint="my orders"))
    (bench.folder / "my orders").rename(bench.folder / "aside")
    (bench.folder / _TWIN).rename(bench.folder / "my orders")
    bench.deliver(bench.lines(), checkpoint="my orders")


@follows(
    ("HF2305", _TWINS),
    when="the named folder has the newer batches, the twin is an old one",
)
def progress_in_the_named_folder(bench: AdviceBench) -> None:
    bench.put(0)
    bench.deliver(bench.lines(), checkpoint="my orders")
    bench.keep("my orders", _TWIN)
    bench.put(1)
    (bench.folder / _TWIN).rename(bench.folder / "later")
    bench.deliver(bench.lines(), checkpoint="my orders")
    (bench.folder / "later").rename(bench.folder / _TWIN)
    bench.ask_doctor(sink=None, checkpoint="my orders")
    (bench.folder / _TWIN).rename(bench.folder / "aside")
    bench.put(2)
    bench.deliver(bench.lines(), checkpoint="my orders")


def _tracked_each_batch(bench: Bench) -> None:
    reader = bench.spark.readStream.format("rate-micro-batch").option("rowsPerBatch", "2")
    stream = reader.option("numPartitions", "1").load()
    writer = stream.writeStream.format("noop").trigger(processingTime="100 milliseconds")
    writer = writer.option("checkpointLocation", str(bench.folder / "checkpoint"))
    writer = writer.option("asyncProgressTrackingEnabled", "true")
    query = writer.option("asyncProgressTrackingCheckpointIntervalMs", "0").start()
    before = max(int(one.name) for one in bench.path("commits").glob("[0-9]*"))
    for _ in range(200):
        newest = max(int(one.name) for one in bench.path("commits").glob("[0-9]*"))
        if not query.isActive or newest >= before + 3:
            break
        time.sleep(0.05)
    query.stop()


@follows(
    ("HF2206", "before async progress tracking is turned off: run two batches with "
     "asyncProgressTrackingCheckpointIntervalMs at 0"),
    ("HF2331", "before it is turned off: run two batches with "
     "asyncProgressTrackingCheckpointIntervalMs at 0"),
    when="async progress tracking, then batches with its interval at 0, then none",
)  # fmt: skip
def async_turned_off_after_two_batches(bench: AdviceBench) -> None:
    _asynchronously(bench, tracked=True)
    bench.ask_doctor(sink=None)
    _tracked_each_batch(bench)
    _asynchronously(bench, tracked=False)


_AGED = {"latestFirst": "true", "maxFilesPerTrigger": "1", "maxFileAge": "30m"}


def _until_second_batch(bench: Bench, **options: str) -> None:
    """Run one batch, and die in the next: a backlog of older files stays unread."""

    def keep(rows: Any, batch_id: int) -> None:
        if batch_id == 1:
            raise RuntimeError("killed")
        bench.delivered.update(str(row[0]) for row in rows.collect())

    bench.run(bench.lines(**options).writeStream.foreachBatch(keep))


@follows(
    ("HF2321", "after every file that is there was read: take latestFirst away, before the log has "
     "grown"),
    when="latestFirst is taken away after the backlog was read",
    unreported=_DECLARED,
)  # fmt: skip
def latest_first_taken_away_after(bench: AdviceBench) -> None:
    bench.put(0, 1, 2, every=3600)
    bench.deliver(bench.lines(**_AGED))
    bench.put(3, every=3600)
    bench.deliver(bench.lines(maxFileAge="30m"))


@wrongly(
    ("HF2321", "do not take latestFirst or the limit away before: files older than maxFileAge that "
     "were not read yet are then never read"),
    when="latestFirst is taken away while older files are unread",
)  # fmt: skip
def latest_first_taken_away_before(bench: AdviceBench) -> None:
    bench.put(0, 1, 2, 3, every=3600)
    bench.failing(lambda: _until_second_batch(bench, **_AGED))
    bench.deliver(bench.lines(maxFileAge="30m"))


_SOURCES_BACK = "put the sources back as they were"


@follows(
    ("HF2323", "give the job the sources that the checkpoint knows, in their order"),
    ("HF3002", _SOURCES_BACK),
    when="a start with one source more failed, and the sources are put back",
    unreported=_DECLARED,
)
def sources_put_back(bench: AdviceBench) -> None:
    bench.put(0, 1)
    bench.deliver(bench.lines())
    bench.put(2)
    (bench.folder / "more").mkdir()
    bench.failing(lambda: bench.deliver(bench.lines().union(bench.lines("more"))))
    bench.deliver(bench.lines())


@follows(
    ("HF2323", "give the job the sources that the checkpoint knows, in their order"),
    ("HF3003", "put the source back, or the sources back into their order"),
    when="a start with the two inputs of a union swapped failed, and their order is put back",
    unreported=_DECLARED,
)
def order_put_back(bench: AdviceBench) -> None:
    def both(first: str, second: str) -> Any:
        return bench.lines(first).union(bench.lines(second))

    bench.put(0, 1)
    bench.put(0, 1, into="more")
    bench.deliver(both("in", "more"))
    bench.put(2)
    bench.put(2, into="more")
    bench.failing(lambda: bench.deliver(both("more", "in")))
    bench.deliver(both("in", "more"))


@follows(
    ("HF3003", "put the source back, or the sources back into their order"),
    when="a start with a source of another kind failed, and the source is put back",
    unreported="a guard of holdfast run",
)
def kind_put_back(bench: AdviceBench) -> None:
    bench.put(0, 1)
    bench.deliver(bench.lines())
    bench.put(2)
    other = bench.spark.readStream.format("rate-micro-batch").option("rowsPerBatch", "1").load()
    bench.failing(lambda: bench.deliver(other.selectExpr("cast(value as string)")))
    bench.deliver(bench.lines())


@follows(
    ("HF2324", "declare the directory that was read before, at the same position"),
    when="a start with another folder failed, and the folder is put back",
    unreported=_DECLARED,
)
def folder_put_back(bench: AdviceBench) -> None:
    bench.put(0, 1)
    bench.deliver(bench.lines())
    (bench.folder / "moved").mkdir()
    (bench.folder / "moved/9.txt").write_text("moved-9\n", encoding="utf-8")
    bench.failing(lambda: bench.deliver(bench.lines("moved")))
    bench.put(2)
    bench.deliver(bench.lines())


@follows(
    ("HF3004", "put the transform back as it was"),
    when="a start with another aggregation failed, and the transform is put back",
    unreported="a guard of holdfast run",
)
def transform_put_back(bench: AdviceBench) -> None:
    bench.put(0, 1)
    counts = bench.lines().groupBy("value").count().select("value")
    bench.deliver(counts, mode="update")
    bench.put(2)
    other = bench.lines().dropDuplicates(["value"])
    bench.failing(lambda: bench.deliver(other, mode="update"))
    bench.deliver(counts, mode="update")


@follows(
    ("HF2322", "declare what is pinned, so that nobody relies on the other value"),
    ("HF3008", "write the checkpoint's value into the project, so that both say the same"),
    when="the session asked for other partitions, and then for those that are pinned",
    unreported=_DECLARED,
)
def pinned_value_declared(bench: AdviceBench) -> None:
    before = bench.spark.conf.get(PARTITIONS)
    bench.put(0)
    counts = bench.lines().groupBy("value").count().select("value")
    bench.deliver(counts, mode="update")
    try:
        bench.spark.conf.set(PARTITIONS, "5")
        bench.put(1)
        bench.deliver(counts, mode="update")
    finally:
        bench.spark.conf.set(PARTITIONS, before)
    bench.put(2)
    bench.deliver(counts, mode="update")


@follows(
    ("HF2325", "declare the topics that the checkpoint knows"),
    when="another topic was declared, and no start met it",
    unreported=_DECLARED,
    needs="broker",
)
def topics_kept(bench: AdviceBench) -> None:
    produce(bench, "kept", 0)
    bench.deliver(messages(bench, "kept"))
    produce(bench, "kept", 1)
    bench.deliver(messages(bench, "kept"))


@wrongly(
    ("HF2325", "do not start it with other topics, not even once: Spark plans a batch of theirs, "
     "and then fails with the former topics as well"),
    when="a start with another topic failed, and the topics are put back",
    needs="broker",
)  # fmt: skip
def topics_put_back(bench: AdviceBench) -> None:
    produce(bench, "put-back", 0)
    bench.deliver(messages(bench, "put-back"))
    produce(bench, "put-back", 1)
    expected = bench.expected.copy()
    produce(bench, "put-back-other", 0)
    bench.expected = expected
    bench.failing(lambda: bench.deliver(messages(bench, "put-back-other")))
    bench.deliver(messages(bench, "put-back"))


@follows(
    ("HF2325", "a topic may be added to them: it is read from its first record"),
    when="a second topic is subscribed, which has records already",
    unreported=_DECLARED,
    needs="broker",
)
def topic_added(bench: AdviceBench) -> None:
    produce(bench, "added-first", 0)
    bench.deliver(messages(bench, "added-first"))
    produce(bench, "added-second", 0)
    bench.deliver(messages(bench, "added-first,added-second"))


@follows(
    ("HF2327", "set failOnDataLoss to true: the query then stops where data is missing"),
    when="records were gone before they were read, failOnDataLoss is true",
    unreported=_DECLARED,
    needs="broker",
)
def loss_not_allowed(bench: AdviceBench) -> None:
    from tests.parts.kafka import delete_topic

    produce(bench, "loss-stops", 0, 1)
    stream = messages(bench, "loss-stops", failOnDataLoss="true")
    bench.deliver(stream)
    produce(bench, "loss-stops", 2)
    delete_topic(bench.broker, "loss-stops")
    produce(bench, "loss-stops", 3)
    bench.deliver(stream)


_NO_DELETE = (
    "do not delete other entries to make the numbers fit: a batch that is planned again is lost "
    "or duplicated in the sink"
)


@wrongly(
    *((code, _NO_DELETE) for code in ("HF2203", "HF2204", "HF2208", "HF2216")),
    (
        "HF2606",
        "do not delete other entries to close the gap: Spark would plan their batches again",
    ),
    (WRONG, wrongfixes.THE_COMMIT),
    when="the newest offsets entry is lost, its commit is deleted; a file sink",
)
def commit_deleted_file_sink(bench: AdviceBench) -> None:
    bench.put(0, 1, 2)
    bench.to("text", bench.lines())
    bench.remove("offsets/2", "commits/2")
    bench.put(3)
    bench.to("text", bench.lines(maxFilesPerTrigger=9))
    bench.read()


@wrongly(
    *((code, _NO_DELETE) for code in ("HF2203", "HF2204", "HF2208", "HF2216")),
    (WRONG, wrongfixes.THE_COMMIT),
    when="offsets, commit and source entry of the newest batch are deleted; foreachBatch",
)
def commit_deleted_append(bench: AdviceBench) -> None:
    bench.put(0, 1, 2)
    bench.deliver(bench.lines())
    bench.remove("offsets/2", "commits/2", "sources/0/2")
    bench.put(3)
    bench.deliver(bench.lines(maxFilesPerTrigger=9))


def _offsets_deleted(bench: AdviceBench, form: str) -> None:
    bench.put(0, 1, 2)
    bench.to(form, bench.lines())
    # The driver died between the sink and the commit.
    bench.remove("commits/2")
    bench.remove("offsets/2", "sources/0/2")
    bench.put(3)
    bench.to(form, bench.lines(maxFilesPerTrigger=9))
    bench.read(form)


@wrongly(
    (WRONG, wrongfixes.ONE_OFFSETS_FILE),
    when="the offsets of a pending batch that the file sink got are deleted",
)
def offsets_deleted_file_sink(bench: AdviceBench) -> None:
    _offsets_deleted(bench, "text")


@wrongly(
    (WRONG, wrongfixes.ONE_OFFSETS_FILE),
    when="the offsets of a pending batch that the Delta table got are deleted",
)
def offsets_deleted_delta(bench: AdviceBench) -> None:
    _offsets_deleted(bench, "delta")


@wrongly(
    (WRONG, wrongfixes.ONE_OFFSETS_FILE),
    when="the offsets of a pending batch that foreachBatch got are deleted",
)
def offsets_deleted_append(bench: AdviceBench) -> None:
    bench.put(0, 1, 2)
    bench.deliver(bench.lines())
    remove(bench.path("commits/2"))
    bench.remove("offsets/2", "sources/0/2")
    bench.put(3)
    bench.deliver(bench.lines(maxFilesPerTrigger=9))


@wrongly(
    (WRONG, wrongfixes.CHECKPOINT),
    when="the checkpoint of a query with state is deleted; foreachBatch",
)
def checkpoint_deleted(bench: AdviceBench) -> None:
    bench.put(0, 1, 2)
    bench.deliver(bench.lines())
    shutil.rmtree(bench.folder / "checkpoint")
    bench.put(3)
    bench.deliver(bench.lines())
