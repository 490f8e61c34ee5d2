"""Streams the same files into our sinks and into Spark's own, in turns, in one session."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import holdfast
from benchmarks.sink_ways import (
    SCHEMA,
    TUNED,
    Told,
    append_by_jdbc,
    measured,
    postgres_sink,
    rows_of,
    session_of_sinks,
)
from holdfast.spark.session.opening import stop_session

BATCHES = 10
WARMING = 2
"""How many rounds warm everything up before one counts."""
Stream = Callable[[Any, str], None]


def main(folder: Path, rows: int, rounds: int, server: str) -> None:
    """Print what every way took, one list a way."""
    session = session_of_sinks()
    write_rows(session, folder, rows)
    told: Told = {}
    ways = list(ways_to_stream(server).items())
    for turn in range(WARMING + rounds):
        # What runs after a heavy neighbour is slower: everybody gets every neighbour.
        first = turn % len(ways)
        for name, stream in ways[first:] + ways[:first]:
            with measured() as passed:
                stream(stream_of(session, folder), str(folder / f"{name}-{turn}"))
            if turn >= WARMING:
                told.setdefault(name, []).append((passed.seconds, passed.processor))
    stop_session(session)
    sys.stdout.write(json.dumps(told) + "\n")


def write_rows(session: Any, folder: Path, rows: int) -> None:
    """Write the rows, one file for each batch."""
    spread = rows_of(session, rows).repartitionByRange(BATCHES, "id")
    spread.write.parquet(str(folder / "in"))


def stream_of(session: Any, folder: Path) -> Any:
    """Return the stream that all ways read."""
    reader = session.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    return reader.parquet(str(folder / "in"))


def ways_to_stream(server: str) -> dict[str, Stream]:
    """Name every way to stream; Spark's own sinks twice, for the noise."""
    return {
        "parquet-ours": _held(lambda place: {"format": "parquet", "path": place}),
        "parquet-spark": _native("parquet"),
        "parquet-again": _native("parquet"),
        "delta-ours": _held(lambda place: {"format": "delta", "path": place}),
        "delta-spark": _native("delta"),
        "delta-again": _native("delta"),
        "postgres-ours": _held(lambda place: postgres_sink(server, _table(place))),
        "postgres-spark": _jdbc_stream(server),
        "postgres-again": _jdbc_stream(server),
    }


def _held(sink: Callable[[str], dict[str, object]]) -> Stream:
    def stream(frame: Any, place: str) -> None:
        holdfast.start(
            frame, job="bench", checkpoint=f"{place}.checkpoint", sink=sink(place),
            accept=["temporary-path"],
        ).wait()  # fmt: skip

    return stream


def _native(kind: str) -> Stream:
    def stream(frame: Any, place: str) -> None:
        (
            frame.writeStream.format(kind)
            .option("checkpointLocation", f"{place}.checkpoint")
            .trigger(availableNow=True)
            .start(place)
            .awaitTermination()
        )

    return stream


def tuned_jdbc(server: str) -> Stream:
    """Return Spark's JDBC append, tuned."""
    return _jdbc_stream(server, TUNED)


def _jdbc_stream(server: str, options: dict[str, str] | None = None) -> Stream:
    def stream(frame: Any, place: str) -> None:
        def deliver(batch: Any, _batch_id: int) -> None:
            append_by_jdbc(batch, server, _table(place), options)

        (
            frame.writeStream.foreachBatch(deliver)
            .option("checkpointLocation", f"{place}.checkpoint")
            .trigger(availableNow=True)
            .start()
            .awaitTermination()
        )

    return stream


def _table(place: str) -> str:
    return Path(place).name.replace("-", "_")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
