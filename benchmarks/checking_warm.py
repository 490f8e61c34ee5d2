"""Judges a query's restart again and again in one session, as a notebook or a start does."""

from __future__ import annotations

import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import holdfast
from holdfast.running.settings import SessionOptions
from holdfast.spark.session.opening import open_session, stop_session

WARMING, ROUNDS = 3, 15
CITIES = {"a": "Aachen", "b": "Bergen"}


def main(folder: Path) -> None:
    """Print the seconds of the first verdict and the middle of later ones."""
    arrived = folder / "in"
    arrived.mkdir(parents=True)
    row = '{"n": 1, "city": "a", "at": "2026-01-01T00:00:00Z"}\n'
    (arrived / "0.json").write_text(row, encoding="utf-8")
    conf = {"spark.sql.shuffle.partitions": "2"}
    session = open_session(SessionOptions("bench", "local[2]", conf))
    place = folder / "checkpoint"
    held = holdfast.start(
        _query(session, arrived),
        job="sums",
        checkpoint=place,
        sink=deliver,
        output_mode="update",
        accept=["temporary-path"],
    )
    held.wait()
    times = []
    for _ in range(WARMING + ROUNDS):
        # Built anew every time: facts are of one DataFrame.
        frame = _query(session, arrived)
        started = time.perf_counter()
        answer = holdfast.check(frame, checkpoint=place, output_mode="update")
        times.append(time.perf_counter() - started)
        assert answer.result.verdict == "safe", answer.result.verdict
    stop_session(session)
    told = {"first": times[0], "later": statistics.median(times[WARMING:])}
    sys.stdout.write(json.dumps(told) + "\n")


def deliver(batch: Any, _identity: object) -> None:
    """Compute the rows and keep none."""
    batch.write.format("noop").mode("overwrite").save()


def _query(session: Any, arrived: Path) -> Any:
    from pyspark.sql import functions as f

    @f.udf("string")
    def named(city: str) -> str:
        return CITIES.get(city, city)

    rows = session.readStream.schema("n long, city string, at timestamp").json(str(arrived))
    hours = rows.withWatermark("at", "1 hour").withColumn("city", named("city"))
    return hours.groupBy(f.window("at", "1 hour"), "city").agg(f.sum("n").alias("total"))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
