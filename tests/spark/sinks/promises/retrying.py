"""Delivers a batch whose tasks fail and are tried again: in a Spark of its own, which does that.

Copies of slow tasks, which Spark starts on another host alone, are tried in `speculating`. Called
with a folder, a database and the names of sinks; prints one line of JSON for each.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyspark import TaskContext

from holdfast.running.settings import SessionOptions
from holdfast.spark.session.opening import open_session, stop_session
from holdfast.spark.sinks.database.dialects.postgres import copytask
from tests.spark.sinks.deliveries import identity
from tests.spark.sinks.plainreading import Place
from tests.spark.sinks.subjects import SUBJECT_BY_NAME

TASKS = 6
ROWS = 60


def stumble(failing: int, noting: str) -> None:
    """Fail in the first attempt of one task."""
    context = TaskContext.get()
    assert context is not None
    Path(f"{noting}/{context.partitionId()}-{context.attemptNumber()}").touch()
    if context.attemptNumber() == 0 and context.partitionId() == failing:
        raise RuntimeError("lost after its rows were handed on")


def stumbling(noting: str) -> Any:
    """Hand on every row, then stumble."""

    def attempt(parts: Iterator[Any]) -> Iterator[Any]:
        yield from parts
        stumble(0, noting)

    return attempt


def stumbling_after_commit(original: Any, noting: str) -> Any:
    """Let attempts that have committed their rows to staging stumble as well."""

    def stager(*words: Any) -> Any:
        load = original(*words)

        def attempt(parts: Iterator[Any]) -> Iterator[Any]:
            results = list(load(parts))
            stumble(1, noting)
            yield from results

        return attempt

    return stager


def main(folder: Path, database: str, names: list[str]) -> None:
    """Deliver the batch to every sink."""
    conf = {"spark.sql.shuffle.partitions": "2"}
    options = SessionOptions(
        "retries", "local[2,4]", conf, features=frozenset({"delta"}), folder=folder
    )
    session = open_session(options)
    original = copytask.copy_task
    rows = session.range(ROWS, numPartitions=TASKS)
    batch = rows.selectExpr("id as n", "cast(id as string) as k")
    for name in names:
        place = Place(folder / name, database)
        noting = str(place.folder / "attempts")
        Path(noting).mkdir(parents=True)
        copytask.copy_task = stumbling_after_commit(original, noting)
        sink = SUBJECT_BY_NAME[name].opened(session, place, partition_by=())
        delivery = sink.write(batch.mapInArrow(stumbling(noting), batch.schema), identity(0))
        print(json.dumps([name, delivery.skipped]), flush=True)
    stop_session(session)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])
