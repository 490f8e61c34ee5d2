"""Delivers a batch whose tasks fail and are run twice: in a Spark of its own, which does both.

A local Spark neither retries nor speculates; two executors on this machine do. Called with a
folder, a database and the names of sinks; prints one line of JSON for each.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyspark import TaskContext

from holdfast.spark.session import SessionWish, open_session, stop_session
from holdfast.spark.sinks import postgresstaging
from tests.spark.sinks.deliveries import identity
from tests.spark.sinks.plainreading import Place
from tests.spark.sinks.subjects import SUBJECT_BY_NAME

TASKS = 6
ROWS = 60
_SLOW_SECONDS = 60
_SETTINGS = {
    "spark.executor.memory": "512m",
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.quantile": "0.3",
    "spark.speculation.multiplier": "1.5",
    "spark.speculation.minTaskRuntime": "1s",
    "spark.sql.shuffle.partitions": "2",
}


def stumble(failing: int, slow: int, noting: str) -> None:
    """Fail in the first attempt of one task; in that of another, be slow until a copy is done."""
    context = TaskContext.get()
    assert context is not None
    Path(f"{noting}/{context.partitionId()}-{context.attemptNumber()}").touch()
    if context.attemptNumber() == 0 and context.partitionId() == failing:
        raise RuntimeError("lost after its rows were handed on")
    if context.attemptNumber() == 0 and context.partitionId() == slow:
        time.sleep(_SLOW_SECONDS)


def stumbling(noting: str) -> Any:
    """Hand on every row, then stumble."""

    def attempt(parts: Iterator[Any]) -> Iterator[Any]:
        yield from parts
        stumble(0, 1, noting)

    return attempt


def stumbling_after_commit(original: Any, noting: str) -> Any:
    """Let attempts that have committed their rows to staging stumble as well."""

    def stager(*words: Any) -> Any:
        load = original(*words)

        def attempt(parts: Iterator[Any]) -> Iterator[Any]:
            results = list(load(parts))
            stumble(2, 3, noting)
            yield from results

        return attempt

    return stager


def main(folder: Path, database: str, names: list[str]) -> None:
    """Deliver the batch to every sink."""
    paths = {"spark.executorEnv.PYTHONPATH": os.environ["PYTHONPATH"]}
    master = "local-cluster[2,1,512]"
    conf = {**_SETTINGS, **paths}
    wish = SessionWish("retries", master, conf, features=frozenset({"delta"}), folder=folder)
    session = open_session(wish)
    original = postgresstaging.stager
    rows = session.range(ROWS, numPartitions=TASKS)
    batch = rows.selectExpr("id as n", "cast(id as string) as k")
    for name in names:
        place = Place(folder / name, database)
        noting = str(place.folder / "attempts")
        Path(noting).mkdir(parents=True)
        postgresstaging.stager = stumbling_after_commit(original, noting)
        sink = SUBJECT_BY_NAME[name].opened(session, place, partition_by=())
        delivery = sink.write(batch.mapInArrow(stumbling(noting), batch.schema), identity(0))
        print(json.dumps([name, delivery.skipped]), flush=True)
    stop_session(session)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])
