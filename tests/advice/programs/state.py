"""Advice about state, followed."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

from holdfast.diagnosis.doctor import wrongfixes
from tests.advice.bench import AdviceBench
from tests.advice.following import WRONG, follows, wrongly
from tests.diagnosis.doctor.trials.places import PROVIDER, ROCKSDB
from tests.diagnosis.doctor.trials.state import CHANGELOG, STATE, counted

_SCHEMA_CHECK = "spark.sql.streaming.stateStore.stateSchemaCheck"


@follows(
    ("HF2335", "change spark.sql.streaming.stateStore.minDeltasForSnapshot where starts are slow, "
     "not where batches are"),
    when="minDeltasForSnapshot is changed between two starts",
    unreported="a note about a setting, see tests/diagnosis/doctor/scenarios.py",
)  # fmt: skip
def snapshots_more_often(bench: AdviceBench) -> None:
    counted(bench, 0, 1)
    counted(bench, 2, **{f"{STATE}.minDeltasForSnapshot": "1"})
    counted(bench, 3)


@follows(
    ("HF2319", "a watermark, or dropDuplicatesWithinWatermark, bounds it; that is a change of the "
     "query: try it on a copy first"),
    when="the changed query runs on a copy with an output of its own, the query goes on",
    unreported="the state would have to have grown, see tests/diagnosis/doctor/scenarios.py",
)  # fmt: skip
def tried_on_a_copy(bench: AdviceBench) -> None:
    bench.put(0, 1)
    bench.to("text", bench.lines().dropDuplicates(["value"]))
    bench.keep("checkpoint", "copy")
    timed = bench.lines().selectExpr("value", "timestamp_seconds(1000) as at")
    changed = timed.withWatermark("at", "1 minute").dropDuplicatesWithinWatermark(["value"])
    bench.to("text", changed.select("value"), checkpoint="copy", out="aside")
    bench.put(2)
    bench.to("text", bench.lines().dropDuplicates(["value"]))
    bench.read()


def _transformed(bench: AdviceBench, place: str) -> None:
    from tests.corpus.processors import PandasVariables

    keyed = bench.lines().selectExpr("value as key", "length(value) as value")
    made = keyed.groupBy("key").transformWithStateInPandas(
        PandasVariables(), "key string, total int", "Update", "None"
    )
    settings = {PROVIDER: ROCKSDB, CHANGELOG: "true"}
    for key, value in settings.items():
        bench.spark.conf.set(key, value)
    try:
        bench.deliver(made.select("key"), mode="update", checkpoint=place)
    finally:
        for key in settings:
            bench.spark.conf.unset(key)


@follows(
    ("HF2225", "bring the checkpoint back to its first place"),
    when="a checkpoint of transformWithState was moved, and is brought back",
)
def schema_paths_at_first_place(bench: AdviceBench) -> None:
    bench.put(0, 1)
    _transformed(bench, "checkpoint")
    shutil.move(bench.folder / "checkpoint", bench.folder / "moved")
    bench.ask_doctor(sink=None, checkpoint="moved")
    shutil.move(bench.folder / "moved", bench.folder / "checkpoint")
    bench.put(2)
    _transformed(bench, "checkpoint")


@wrongly(
    ("HF2302", "do not move a checkpoint of transformWithState: its schema files are recorded "
     "under the old path, and the start fails (HF2225)"),
    when="a checkpoint of transformWithState is moved and started there",
)  # fmt: skip
def transform_with_state_moved(bench: AdviceBench) -> None:
    bench.put(0, 1)
    _transformed(bench, "checkpoint")
    shutil.move(bench.folder / "checkpoint", bench.folder / "lasting")
    bench.put(2)
    _transformed(bench, "lasting")


def _rewritten(folder: Path, old: str, new: str) -> None:
    for path in folder.rglob("*"):
        if path.is_file() and old.encode() in path.read_bytes():
            path.write_bytes(path.read_bytes().replace(old.encode(), new.encode()))
            path.with_name(f".{path.name}.crc").unlink(missing_ok=True)


@follows(
    ("HF2225", "or, with the query stopped, replace the old path by the new one in every file "
    "below state/*/_metadata, and move the checksums next to these files away"),
    when="a checkpoint of transformWithState was moved, and the recorded paths are rewritten",
)  # fmt: skip
def schema_paths_rewritten(bench: AdviceBench) -> None:
    bench.put(0, 1)
    _transformed(bench, "checkpoint")
    shutil.move(bench.folder / "checkpoint", bench.folder / "moved")
    bench.ask_doctor(sink=None, checkpoint="moved")
    for place in (bench.folder / "moved/state").glob("*/_metadata"):
        _rewritten(place, str(bench.folder / "checkpoint"), str(bench.folder / "moved"))
    bench.put(2)
    _transformed(bench, "moved")


@wrongly(
    (WRONG, wrongfixes.SCHEMA_CHECK),
    when="the value of a count becomes a text, with the schema check turned off",
)
def schema_check_off(bench: AdviceBench) -> None:
    def run(value: str) -> None:
        grouped = bench.lines().groupBy("value").agg(_expression(value))
        bench.deliver(grouped, mode="update")

    bench.put(0, 1)
    run("count(1) + 0")
    (bench.folder / "in/2.txt").write_text("in-0-a\nin-2-a\n", encoding="utf-8")
    # Each value has six letters: one sixth of their sum is how often it came.
    bench.expected = Counter({"in-0-a 2.0": 1, "in-2-a 1.0": 1})
    bench.delivered = Counter()
    bench.spark.conf.set(_SCHEMA_CHECK, "false")
    try:
        run("sum(cast(length(value) as double)) / 6")
    finally:
        bench.spark.conf.unset(_SCHEMA_CHECK)
    bench.note = ", ".join(sorted(bench.delivered))


def _expression(text: str) -> Any:
    from pyspark.sql.functions import expr

    return expr(f"{text} as counted")
