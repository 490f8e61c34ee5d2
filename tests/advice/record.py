"""Follows every step on the Spark of this environment and records what came of it.

`python -m tests.advice.record [NAME …]`; `--missing` follows what has no record of its text yet.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyspark

from holdfast.running.settings import SessionOptions
from holdfast.spark.session.opening import open_session, stop_session
from tests.advice.bench import AdviceBench
from tests.advice.following import FOLLOWINGS, Following
from tests.advice.loading import TRUTH, records
from tests.advice.programs import PROGRAMS
from tests.diagnosis.doctor.trials.record import broker_for, seen_of
from tests.parts.classarchive import VARIABLE, quick_java

SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.streaming.pollingDelay": "5ms",
    "spark.sql.streaming.stateStore.maintenanceInterval": "1h",
    "spark.task.maxFailures": "1",
    "spark.databricks.delta.snapshotPartitions": "2",
    "spark.ui.enabled": "false",
}


def main(arguments: list[str]) -> None:
    """Follow what was asked for, or everything."""
    assert PROGRAMS
    names = [one for one in arguments if not one.startswith("--")]
    kept = {one["followed"]: one for one in records(pyspark.__version__)}
    wanted = [one for one in FOLLOWINGS if not names or one.name in names]
    if "--missing" in arguments:
        wanted = [one for one in wanted if not _current(one, kept.get(one.name))]
    # A broker and Delta take long to warm up: what needs neither comes first.
    wanted.sort(key=lambda one: (one.needs, one.function.__module__.endswith("deltatables")))
    if not wanted:
        return
    os.environ.setdefault(VARIABLE, quick_java())
    with _session() as spark:
        for needs in dict.fromkeys(one.needs for one in wanted):
            with broker_for([needs]) as broker:
                for following in (one for one in wanted if one.needs == needs):
                    kept[following.name] = followed(following, spark, broker)
                    print(json.dumps(kept[following.name]), file=sys.stderr, flush=True)
                    _write(list(kept.values()))


def followed(following: Following, spark: Any, broker: str = "") -> dict[str, Any]:
    """Follow one step in a folder of its own."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        bench = AdviceBench(spark, Path(folder), broker)
        seen = seen_of(bench, lambda: following.function(bench))
    return {
        "followed": following.name,
        "steps": [list(one) for one in following.steps],
        "situation": following.situation,
        "wrong": following.wrong,
        "reported": sorted(bench.reported & set(following.codes)),
        **seen,
    }


def _current(following: Following, record: dict[str, Any] | None) -> bool:
    return record is not None and record["steps"] == [list(one) for one in following.steps]


@contextmanager
def _session() -> Iterator[Any]:
    features = frozenset({"delta", "kafka"})
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        conf = {**SETTINGS, "spark.sql.warehouse.dir": f"{folder}/warehouse"}
        options = SessionOptions("advice", "local[2]", conf, features=features, folder=Path(folder))
        spark = open_session(options)
        spark.sparkContext.setLogLevel("OFF")
        yield spark
        stop_session(spark)


def _write(found: list[dict[str, Any]]) -> None:
    order = [one.name for one in FOLLOWINGS]
    kept = [one for one in found if one["followed"] in order]
    kept.sort(key=lambda one: order.index(one["followed"]))
    lines = ",\n".join(json.dumps(one, ensure_ascii=False) for one in kept)
    TRUTH.mkdir(exist_ok=True)
    (TRUTH / f"{pyspark.__version__}.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
