"""Delivers a batch of which Spark runs one task twice: on a cluster, which does that.

Called with a folder, a master, and for each sink its name and its database; prints one line of JSON
for each. The events that Spark logs are in `events`.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyspark import TaskContext

from holdfast.running.settings import SessionOptions
from holdfast.spark.session.opening import open_session, stop_session
from tests.spark.sinks.deliveries import identity
from tests.spark.sinks.plainreading import Place
from tests.spark.sinks.subjects import SUBJECT_BY_NAME

TASKS = 4
ROWS = 40
SLOW = 0
"""The partition whose first attempt lingers."""
MARK = "in-the-slow-task"
"""What a row of that partition holds, and no other."""
SINK = "tests.sink"
"""The property of a job that tells which sink it served."""
SETTINGS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.executor.memory": "512m",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.locality.wait": "0s",
    "spark.sql.shuffle.partitions": "2",
    "spark.databricks.delta.snapshotPartitions": "2",
    "spark.speculation": "true",
    "spark.speculation.interval": "50ms",
    "spark.speculation.minTaskRuntime": "100ms",
    "spark.speculation.multiplier": "1.1",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.efficiency.enabled": "false",
    "spark.eventLog.enabled": "true",
    "spark.eventLog.compress": "false",
    "spark.eventLog.rolling.enabled": "false",
}
_PATIENCE_SECONDS = 60


def lingering(folder: str) -> Any:
    """Hand on every row; the first attempt of one task then waits until its copy has done so."""

    def attempt(parts: Iterator[Any]) -> Iterator[Any]:
        yield from parts
        context = TaskContext.get()
        assert context is not None
        copied = Path(f"{folder}/copied")
        if context.partitionId() == SLOW and context.attemptNumber():
            copied.touch()
        elif context.partitionId() == SLOW:
            for _ in range(_PATIENCE_SECONDS * 50):
                if copied.exists():
                    break
                time.sleep(0.02)

    return attempt


def main(folder: Path, master: str, places: dict[str, str]) -> None:
    """Deliver the batch to every sink; a database keeps the slow task waiting itself."""
    (folder / "events").mkdir()
    conf = SETTINGS | {"spark.eventLog.dir": (folder / "events").as_uri()}
    features = frozenset({"delta", "postgres"})
    session = open_session(
        SessionOptions("speculation", master, conf, features=features, folder=folder)
    )
    rows = session.range(ROWS, numPartitions=TASKS)
    batch = rows.selectExpr("id as n", f"if(id = 0, '{MARK}', cast(id as string)) as k")
    for name, database in places.items():
        place = Place(folder / name, database, database)
        place.folder.mkdir()
        session.sparkContext.setLocalProperty(SINK, name)
        subject = SUBJECT_BY_NAME[name]
        sink = subject.opened(session, place, partition_by=())
        given = batch
        if not subject.needs_database:
            given = batch.mapInArrow(lingering(str(place.folder)), batch.schema)
        delivery = sink.write(given, identity(0))
        print(json.dumps([name, delivery.rows]), flush=True)
    stop_session(session)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3]))
