"""Trials of Spark's file sink and its log, `_spark_metadata`."""

from __future__ import annotations

import shutil

from tests.diagnosis.doctor.trials.bench import Bench, remove
from tests.diagnosis.doctor.trials.trial import tries

SINK_INTERVAL = "spark.sql.streaming.fileSink.log.compactInterval"
SOURCE_INTERVAL = "spark.sql.streaming.fileSource.log.compactInterval"


def copied(bench: Bench, batches: int) -> None:
    """Copy some files, one a batch, into the file sink."""
    bench.put(*range(batches))
    bench.to("text", bench.lines())


@tries("a new checkpoint writes new files to an old output")
def new_checkpoint_old_output(bench: Bench) -> None:
    copied(bench, 4)
    bench.put(0, 1, 2, into="more")
    bench.to("text", bench.lines("more"), checkpoint="new")
    bench.read()


@tries("a new checkpoint on an old output is started a second time")
def new_checkpoint_second_start(bench: Bench) -> None:
    copied(bench, 4)
    bench.put(0, 1, into="more")
    bench.to("text", bench.lines("more"), checkpoint="new")
    bench.put(2, into="more")
    bench.to("text", bench.lines("more"), checkpoint="new")
    bench.read()


@tries("a new checkpoint has passed the batch ids of the old output, and goes on")
def new_checkpoint_passed(bench: Bench) -> None:
    copied(bench, 2)
    bench.put(0, 1, 2, into="more")
    bench.to("text", bench.lines("more"), checkpoint="new")
    bench.read()
    lost = sum((bench.expected - bench.delivered).values())
    bench.put(3, into="more")
    bench.to("text", bench.lines("more"), checkpoint="new")
    bench.read()
    after = sum((bench.expected - bench.delivered).values())
    bench.note = f"{lost} rows were lost before the judged start, {after - lost} more in it"


@tries("the checkpoint was rolled back by two batches, and a batch takes more files now")
def rolled_back(bench: Bench) -> None:
    copied(bench, 4)
    bench.remove("offsets/2", "offsets/3", "commits/2", "commits/3", "sources/0/2", "sources/0/3")
    bench.put(4)
    bench.to("text", bench.lines(maxFilesPerTrigger=9))
    bench.read()


@tries("the first entries of the sink's log are lost; the next batch does not compact")
def sink_log_lost_early(bench: Bench) -> None:
    copied(bench, 4)
    for number in range(3):
        remove(bench.folder / f"out/_spark_metadata/{number}")
    bench.put(4)
    bench.to("text", bench.lines())
    bench.reads()


@tries("the first entries of the sink's log are lost, and the run comes to batch 9")
def sink_log_lost_at_compaction(bench: Bench) -> None:
    copied(bench, 4)
    for number in range(3):
        remove(bench.folder / f"out/_spark_metadata/{number}")
    bench.put(*range(4, 11))
    bench.to("text", bench.lines())


@tries("an entry of the sink's log is lost, and the very next batch compacts")
def sink_log_lost_before_compaction(bench: Bench) -> None:
    copied(bench, 9)
    remove(bench.folder / "out/_spark_metadata/8")
    bench.put(9)
    bench.to("text", bench.lines())


@tries("the newest entry of the sink's log is lost")
def newest_sink_entry_lost(bench: Bench) -> None:
    copied(bench, 4)
    remove(bench.folder / "out/_spark_metadata/3")
    bench.put(4)
    bench.to("text", bench.lines())
    bench.reads()


@tries("the sink's whole log is removed")
def sink_log_removed(bench: Bench) -> None:
    copied(bench, 4)
    shutil.rmtree(bench.folder / "out/_spark_metadata")
    bench.put(4)
    bench.to("text", bench.lines())
    bench.reads()


@tries("an entry of the sink's log is damaged, and the output is read")
def sink_entry_damaged(bench: Bench) -> None:
    copied(bench, 4)
    remove(bench.folder / "out/_spark_metadata/3")
    (bench.folder / "out/_spark_metadata/3").write_text("v1\n{", encoding="utf-8")
    bench.read()


@tries("an entry of the sink's log is damaged, and the query goes on")
def sink_entry_damaged_before_start(bench: Bench) -> None:
    copied(bench, 4)
    remove(bench.folder / "out/_spark_metadata/3")
    (bench.folder / "out/_spark_metadata/3").write_text("v1\n{", encoding="utf-8")
    bench.put(4)
    bench.to("text", bench.lines())
    bench.reads()


@tries("two queries, each with its own checkpoint, write files to one folder")
def two_queries_one_output(bench: Bench) -> None:
    copied(bench, 3)
    bench.put(0, 1, 2, into="more")
    bench.to("text", bench.lines("more"), checkpoint="other")
    bench.read()


@tries("the compaction interval of source and sink was 3, then 2")
def interval_changed(bench: Bench) -> None:
    try:
        for key in (SINK_INTERVAL, SOURCE_INTERVAL):
            bench.spark.conf.set(key, "3")
        copied(bench, 7)
        for key in (SINK_INTERVAL, SOURCE_INTERVAL):
            bench.spark.conf.set(key, "2")
        bench.put(*range(7, 12))
        bench.to("text", bench.lines())
    finally:
        for key in (SINK_INTERVAL, SOURCE_INTERVAL):
            bench.spark.conf.unset(key)
    bench.read()
    names = sorted(one.name for one in bench.path("sources/0").glob("*.compact"))
    bench.note = f"compact entries of the source: {', '.join(names)}"
