"""Streams the same trivial files with and without Holdfast, in turns, in one session."""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path
from typing import Any

import holdfast
from holdfast.running.settings import SessionOptions
from holdfast.spark.session.opening import open_session, stop_session

WARMING = 10


def deliver(batch: Any, _identity: object) -> None:
    """Compute the rows and keep none."""
    batch.write.format("noop").mode("overwrite").save()


def main(folder: Path, batches: int, rounds: int) -> None:
    """Print the middle time of a batch, both ways."""
    arrived = folder / "in"
    arrived.mkdir(parents=True)
    for number in range(batches):
        (arrived / f"{number:05d}.json").write_text(f'{{"n": {number}}}\n', encoding="utf-8")
    session = open_session(
        SessionOptions("bench", "local[2]", {"spark.sql.shuffle.partitions": "2"})
    )
    times: dict[str, list[float]] = {"bare": [], "held": [], "bare_again": []}
    for turn in range(rounds):
        for way in times:
            frame = (
                session.readStream.schema("n long")
                .option("maxFilesPerTrigger", 1)
                .json(str(arrived))
            )
            place = str(folder / f"{way}-{turn}")
            query: Any = _held(frame, place) if way == "held" else _bare(frame, place)
            times[way] += [_seconds(one) for one in query.recentProgress][WARMING:]
    stop_session(session)
    told = {f"{way}_seconds": statistics.median(found) for way, found in times.items()}
    sys.stdout.write(json.dumps(told) + "\n")


def _bare(frame: Any, place: str) -> Any:
    query = (
        frame.writeStream.option("checkpointLocation", place)
        .foreachBatch(deliver)
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return query


def _held(frame: Any, place: str) -> Any:
    held = holdfast.start(
        frame, job="trivial", checkpoint=place, sink=deliver, accept=["temporary-path"]
    )
    held.wait()
    return held.query


def _seconds(progress: Any) -> float:
    return float(progress["durationMs"]["triggerExecution"]) / 1000


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
