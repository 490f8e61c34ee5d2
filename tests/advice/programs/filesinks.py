"""Advice about Spark's file sink and its log, followed."""

from __future__ import annotations

import json
import re
import shutil

from holdfast.diagnosis.doctor import wrongfixes
from tests.advice.bench import AdviceBench
from tests.advice.following import WRONG, follows, wrongly
from tests.diagnosis.doctor.trials.bench import remove
from tests.diagnosis.doctor.trials.filesinks import copied

_TOGETHER = "keep a checkpoint and its output together: both as they were, or both new"
_NO_OTHER_OUTPUT = (
    "do not copy entries of another output into it: readers do not find the files that they name"
)
_LOG = "out/_spark_metadata"


def _written_long_ago(bench: AdviceBench) -> None:
    """Let the sink's entries be two hours older: a doctor allows for clocks that differ."""
    for path in (bench.folder / _LOG).glob("[0-9]*"):
        text = path.read_text(encoding="utf-8")
        moments = set(re.findall(r'"modificationTime":([0-9]+)', text))
        for moment in moments:
            text = text.replace(moment, str(int(moment) - 7_200_000))
        remove(path)
        path.write_text(text, encoding="utf-8")


def _begun(bench: AdviceBench) -> None:
    """Let a new checkpoint of the same job run on the old output; its rows are thrown away."""
    copied(bench, 4)
    bench.keep("checkpoint", "old")
    shutil.rmtree(bench.folder / "checkpoint")
    _written_long_ago(bench)
    bench.put(4)
    bench.to("text", bench.lines(maxFilesPerTrigger=9))
    bench.ask_doctor()
    bench.put(5)


@follows(
    ("HF2401", "bring back the checkpoint that belongs to this output: holdfast backups TARGET"),
    ("HF2405", _TOGETHER),
    when="the checkpoint was deleted, a new one ran a batch, and the old one is put back",
)
def old_checkpoint_back(bench: AdviceBench) -> None:
    _begun(bench)
    bench.put_back("checkpoint", "old")
    bench.to("text", bench.lines())
    bench.read()


@follows(
    ("HF2401", "or use a new checkpoint and a new output directory together"),
    ("HF2405", _TOGETHER),
    ("HF2403", _TOGETHER),
    (
        "HF2306",
        "or start the outer join with a new checkpoint and a new output together: it reads "
        "its sources from the beginning",
    ),
    ("HF3002", "or give the changed job a name, a checkpoint and a sink of its own"),
    ("HF3003", "or give the changed job a name, a checkpoint and a sink of its own"),
    ("HF3004", "or give the changed job a name, a checkpoint and a sink of its own"),
    when="a new checkpoint ran a batch on an old output; both are new now",
    unreported="the same situation as old-checkpoint-back",
)
def both_new(bench: AdviceBench) -> None:
    _begun(bench)
    bench.to("text", bench.lines(), checkpoint="newest", out="newest-out")
    bench.read(out="newest-out")


@wrongly(
    ("HF2401", "do not give only a new output directory to a checkpoint that has run: the rows "
    "of its batches were thrown away, and it does not read them again"),
    when="a new checkpoint ran a batch on an old output; only the output is new now",
)  # fmt: skip
def only_the_output_new(bench: AdviceBench) -> None:
    _begun(bench)
    bench.to("text", bench.lines(), out="new-out")
    # Readers through the log fail, as its first entry is missing: every file is read instead.
    bench.read(out="new-out/part-*")


@follows(
    (
        "HF2402",
        "put the newest entries of the checkpoint back from a backup: holdfast backups TARGET",
    ),
    when="the checkpoint was rolled back by two batches, and a backup has them",
)
def sink_ahead_and_restored(bench: AdviceBench) -> None:
    copied(bench, 4)
    bench.back_up()
    bench.remove("offsets/2", "offsets/3", "commits/2", "commits/3", "sources/0/2", "sources/0/3")
    bench.ask_doctor()
    bench.restore()
    bench.put(4)
    bench.to("text", bench.lines(maxFilesPerTrigger=9))
    bench.read()


@follows(
    ("HF2403", "put the missing entries of _spark_metadata back from a backup of this output"),
    (
        "HF4520",
        "entries of _spark_metadata that holdfast doctor TARGET --sink PATH reports as missing "
        "can be copied from there by hand, with the query stopped; nothing that is there already",
    ),
    when="the first entries of the log are lost and put back, and the run comes to batch 9",
)
def sink_entries_back(bench: AdviceBench) -> None:
    copied(bench, 4)
    bench.keep(_LOG)
    for number in range(3):
        remove(bench.folder / _LOG / str(number))
    bench.ask_doctor()
    for number in range(3):
        shutil.copy2(bench.folder / "kept" / str(number), bench.folder / _LOG)
    bench.put(*range(4, 11))
    bench.to("text", bench.lines())
    bench.read()


@wrongly(
    ("HF2403", _NO_OTHER_OUTPUT),
    ("HF2407", _NO_OTHER_OUTPUT),
    when="an old checkpoint ran a batch on a new output, and gets the old output's entries there",
)
def entries_of_the_old_output(bench: AdviceBench) -> None:
    copied(bench, 4)
    bench.put(4)
    bench.to("text", bench.lines(), out="new-out")
    bench.ask_doctor(sink="new-out")
    for number in range(4):
        old = bench.folder / _LOG / str(number)
        shutil.copy2(old, bench.folder / "new-out/_spark_metadata")
    bench.put(*range(5, 11))
    bench.to("text", bench.lines(), out="new-out")
    bench.read(out="new-out")


@follows(
    ("HF2404", "put the newest entries of _spark_metadata back from a backup"),
    when="the newest entry of the sink's log is lost and put back",
)
def newest_sink_entry_back(bench: AdviceBench) -> None:
    copied(bench, 4)
    bench.keep(f"{_LOG}/3")
    remove(bench.folder / _LOG / "3")
    bench.ask_doctor()
    shutil.copy2(bench.folder / "kept", bench.folder / _LOG / "3")
    bench.put(4)
    bench.to("text", bench.lines())
    bench.read()


@follows(
    ("HF2405", "stop the query; read these batches again from the source into another place: "
    "their offsets show which data it is"),
    when="a new checkpoint read new files, and the sink threw two batches away",
)  # fmt: skip
def batches_read_again_elsewhere(bench: AdviceBench) -> None:
    copied(bench, 2)
    _written_long_ago(bench)
    bench.put(0, 1, 2, into="more")
    bench.to("text", bench.lines("more"), checkpoint="new")
    bench.ask_doctor(checkpoint="new")
    paths = []
    for batch in (0, 1):
        lines = bench.path(f"sources/0/{batch}", "new").read_text(encoding="utf-8").splitlines()
        paths += [json.loads(line)["path"] for line in lines[1:]]
    bench.spark.read.text(paths).write.text(str(bench.folder / "again"))
    bench.sees("out", "again")


@follows(
    ("HF2407", "file sink: put _spark_metadata back from a backup of this output"),
    when="the sink's whole log was removed and is put back, and the run comes to batch 9",
)
def sink_log_back(bench: AdviceBench) -> None:
    copied(bench, 4)
    bench.keep(_LOG)
    shutil.rmtree(bench.folder / _LOG)
    bench.ask_doctor()
    bench.put_back(_LOG)
    bench.put(*range(4, 11))
    bench.to("text", bench.lines())
    bench.read()


@follows(
    ("HF2408", "put the file back byte-identical from a backup"),
    when="an entry of the sink's log is damaged and put back",
)
def damaged_sink_entry_back(bench: AdviceBench) -> None:
    copied(bench, 4)
    bench.keep(_LOG)
    (bench.folder / _LOG / "3").write_text("v1\n{", encoding="utf-8")
    bench.ask_doctor()
    bench.put_back(_LOG)
    bench.put(4)
    bench.to("text", bench.lines())
    bench.read()


@follows(
    ("HF2422", "before its first batch: give each job an output directory of its own"),
    ("HF2454", "give every writer a directory of its own"),
    ("HF2343", "a job of its own needs a checkpoint and an output of its own"),
    when="a second job gets an output of its own before its first start",
    unreported="needs two declared jobs, see tests/diagnosis/doctor/scenarios.py",
)
def outputs_of_their_own(bench: AdviceBench) -> None:
    copied(bench, 3)
    bench.put(0, 1, 2, into="more")
    bench.to("text", bench.lines("more"), checkpoint="other", out="other-out")
    bench.put(3)
    bench.to("text", bench.lines())
    bench.sees("out", "other-out")


@follows(
    ("HF2422", "a job that wrote there as the second one: a new output and a new checkpoint "
     "together"),
    when="a second job ran on the same output, and gets both anew",
    unreported="needs two declared jobs, see tests/diagnosis/doctor/scenarios.py",
)  # fmt: skip
def second_job_both_new(bench: AdviceBench) -> None:
    copied(bench, 3)
    bench.put(0, 1, 2, into="more")
    bench.to("text", bench.lines("more"), checkpoint="other")
    bench.put(3, into="more")
    bench.to("text", bench.lines("more"), checkpoint="other-new", out="other-out")
    bench.put(3)
    bench.to("text", bench.lines())
    bench.sees("out", "other-out")


@wrongly(
    ("HF2406", "do not set the sink's option retention unless readers can do without old files: "
     "they disappear from every reader"),
    when="retention is set on an output whose files are older, and the log is compacted",
)  # fmt: skip
def retention_of_the_sink(bench: AdviceBench) -> None:
    copied(bench, 4)
    bench.put(*range(4, 11))
    writer = bench.lines().writeStream.format("text").option("path", str(bench.folder / "out"))
    bench.run(writer.option("retention", "1ms"))
    bench.read()


def _left_over(bench: AdviceBench, batch: int) -> None:
    bench.path(f"commits/{batch}").mkdir()
    bench.ask_doctor()


_MOVE = (
    "in commits/, before the batch ran or where the sink knows batches (Delta, file sink): move "
    "the left-over out of the directory"
)


@follows(
    ("HF2210", _MOVE),
    when="a left-over lies in commits/ and no start met it; the sink is foreachBatch",
)
def left_over_moved_before(bench: AdviceBench) -> None:
    bench.put(0, 1)
    bench.deliver(bench.lines())
    bench.path("commits/2").mkdir()
    bench.ask_doctor(sink=None)
    bench.path("commits/2").rename(bench.folder / "moved")
    bench.put(2)
    bench.deliver(bench.lines())


@follows(
    ("HF2210", _MOVE),
    when="a start failed at a left-over in commits/ after the file sink got the batch",
)
def left_over_moved_after_file_sink(bench: AdviceBench) -> None:
    copied(bench, 2)
    _left_over(bench, 2)
    bench.put(2)
    bench.failing(lambda: bench.to("text", bench.lines()))
    bench.path("commits/2").rename(bench.folder / "moved")
    bench.put(3)
    bench.to("text", bench.lines())
    bench.read()


@follows(
    ("HF2210", _MOVE),
    when="a start failed at a left-over in commits/ after the Delta table got the batch",
)
def left_over_moved_after_delta(bench: AdviceBench) -> None:
    bench.put(0, 1)
    bench.to("delta", bench.lines())
    _left_over(bench, 2)
    bench.put(2)
    bench.failing(lambda: bench.to("delta", bench.lines()))
    bench.path("commits/2").rename(bench.folder / "moved")
    bench.put(3)
    bench.to("delta", bench.lines())
    bench.read("delta")


@wrongly(
    ("HF2210", "do not move it after a start failed at it, where the sink does not know batches "
     "(a plain append in foreachBatch): the batch is written twice"),
    when="a start failed at a left-over in commits/ after foreachBatch got the batch",
)  # fmt: skip
def left_over_moved_after_append(bench: AdviceBench) -> None:
    bench.put(0, 1)
    bench.deliver(bench.lines())
    bench.path("commits/2").mkdir()
    bench.put(2)
    bench.failing(lambda: bench.deliver(bench.lines()))
    bench.path("commits/2").rename(bench.folder / "moved")
    bench.put(3)
    bench.deliver(bench.lines())


@wrongly(
    (WRONG, wrongfixes.SPARK_METADATA),
    when="a batch was attempted twice, and _spark_metadata is deleted",
)
def sink_log_deleted(bench: AdviceBench) -> None:
    copied(bench, 3)
    # What a kill between the sink and the commit of a first attempt leaves: its files, no entry.
    remove(bench.folder / _LOG / "2")
    bench.remove("commits/2")
    bench.put(3)
    bench.to("text", bench.lines())
    shutil.rmtree(bench.folder / _LOG)
    bench.read()
