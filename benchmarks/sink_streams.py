"""Streams the same files into our sinks and into Spark's own, in turns, in one session."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import holdfast
from holdfast.spark.session import SessionWish, open_session, stop_session

BATCHES = 10
SCHEMA = "id long, device string, at timestamp, reading double, note string"
Stream = Callable[[Any, str], None]


def main(folder: Path, rows: int, rounds: int, server: str) -> None:
    """Print seconds and processor seconds of every way, one list a way."""
    features = frozenset({"delta", "postgres"})
    conf = {"spark.sql.shuffle.partitions": "2"}
    session = open_session(SessionWish("bench", "local[2]", conf, features=features))
    _write_files(session, folder / "in", rows)
    told: dict[str, list[tuple[float, float]]] = {}
    ways = _ways(server)
    for turn in range(rounds + 1):
        for name, stream in ways.items():
            place = folder / f"{name}-{turn}"
            frame = (
                session.readStream.schema(SCHEMA)
                .option("maxFilesPerTrigger", 1)
                .parquet(str(folder / "in"))
            )
            with _measured() as measured:
                stream(frame, str(place))
            # The first turn warms everything up.
            if turn:
                told.setdefault(name, []).append((measured.seconds, measured.processor))
    told |= _alone(session, folder, rows, rounds, server)
    stop_session(session)
    sys.stdout.write(json.dumps(told) + "\n")


def _write_files(session: Any, folder: Path, rows: int) -> None:
    session.range(rows).selectExpr(
        "id",
        "concat('device-', id % 1000) as device",
        "timestamp_micros(1700000000000000 + id * 1000) as at",
        "id / 7 as reading",
        "concat('row number ', id) as note",
    ).repartitionByRange(BATCHES, "id").write.parquet(str(folder))


def _ways(server: str) -> dict[str, Stream]:
    """Name every way to stream; Spark's own sinks twice, for the noise."""
    return {
        "parquet-ours": _held(lambda place: {"format": "parquet", "path": place}),
        "parquet-spark": _native("parquet"),
        "parquet-again": _native("parquet"),
        "delta-ours": _held(lambda place: {"format": "delta", "path": place}),
        "delta-spark": _native("delta"),
        "delta-again": _native("delta"),
        "postgres-ours": _held(lambda place: _postgres(server, place)),
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


def _jdbc_stream(server: str) -> Stream:
    def stream(frame: Any, place: str) -> None:
        def deliver(batch: Any, _batch_id: int) -> None:
            _jdbc(batch, server, _table(place), {})

        (
            frame.writeStream.foreachBatch(deliver)
            .option("checkpointLocation", f"{place}.checkpoint")
            .trigger(availableNow=True)
            .start()
            .awaitTermination()
        )

    return stream


def _alone(
    session: Any, folder: Path, rows: int, rounds: int, server: str
) -> dict[str, list[tuple[float, float]]]:
    """Write one batch of cached rows: our sink, Spark's writer at its defaults, and tuned."""
    from holdfast.jobs.built import job_of_program
    from holdfast.ledgers.identity import BatchIdentity
    from holdfast.spark.sinks.opening import open_sink

    cached = session.read.parquet(str(folder / "in")).coalesce(2).cache()
    assert cached.count() == rows
    tuned = {"batchsize": "10000", "reWriteBatchedInserts": "true"}
    told: dict[str, list[tuple[float, float]]] = {}

    def ours(table: str) -> None:
        place = str(folder / table)
        job = job_of_program(
            "bench", checkpoint=place, sink=_postgres(server, table), accept=["temporary-path"]
        )
        sink = open_sink(session, job)
        sink.prepare(cached.schema, begun=False)
        sink.write(cached, BatchIdentity("bench", 0, 1, "digest"))

    ways: dict[str, Callable[[str], None]] = {
        "alone-ours": ours,
        "alone-spark": lambda table: _jdbc(cached, server, table, {}),
        "alone-tuned": lambda table: _jdbc(cached, server, table, tuned),
        "alone-again": lambda table: _jdbc(cached, server, table, {}),
    }
    for turn in range(rounds + 1):
        for name, write in ways.items():
            with _measured() as measured:
                write(f"{name.replace('-', '_')}_{turn}")
            if turn:
                told.setdefault(name, []).append((measured.seconds, measured.processor))
    return told


def _postgres(server: str, place: str) -> dict[str, object]:
    return {"format": "postgres", "url": f"postgresql://{server}", "table": _table(place)}


def _jdbc(batch: Any, server: str, table: str, options: dict[str, str]) -> None:
    address, _, query = server.partition("?")
    user, _, host = address.rpartition("@")
    more = {"user": user, "driver": "org.postgresql.Driver", **options}
    batch.write.jdbc(f"jdbc:postgresql://{host}?{query}", table, "append", more)


def _table(place: str) -> str:
    return Path(place).name.replace("-", "_")


class _Measured:
    seconds = processor = 0.0


@contextmanager
def _measured() -> Iterator[_Measured]:
    """Fill in what passes within: seconds, and those of all processors."""
    told = _Measured()
    wall, processor = time.perf_counter(), _processor_seconds()
    yield told
    told.seconds = time.perf_counter() - wall
    told.processor = _processor_seconds() - processor


def _processor_seconds() -> float:
    """Give what the whole machine worked: Spark, its Python workers and the database server."""
    ticks = os.sysconf("SC_CLK_TCK")
    fields = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()
    user, nice, system = map(int, fields[1:4])
    return (user + nice + system) / ticks


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
