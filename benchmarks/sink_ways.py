"""What the scripts that measure sinks share: rows, sinks, Spark's own writer, and a stopwatch."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from holdfast.running.settings import SessionOptions
from holdfast.spark.session.opening import open_session

SCHEMA = "id long, device string, at timestamp, reading double, note string"
TUNED = {"batchsize": "10000", "reWriteBatchedInserts": "true"}
"""How Spark's JDBC append is tuned by somebody who knows the driver."""
Told = dict[str, list[tuple[float, float]]]
"""Seconds and processor seconds of every way, once a round."""


def session_of_sinks() -> Any:
    """Open a session that can write to every sink."""
    features = frozenset({"delta", "postgres"})
    conf = {"spark.sql.shuffle.partitions": "2"}
    return open_session(SessionOptions("bench", "local[2]", conf, features=features))


def rows_of(session: Any, count: int) -> Any:
    """Give rows of five columns."""
    return session.range(count).selectExpr(
        "id",
        "concat('device-', id % 1000) as device",
        "timestamp_micros(1700000000000000 + id * 1000) as at",
        "id / 7 as reading",
        "concat('row number ', id) as note",
    )


def postgres_sink(server: str, table: str) -> dict[str, object]:
    """Declare our sink."""
    return {"format": "postgres", "url": f"postgresql://{server}", "table": table}


def append_by_jdbc(
    batch: Any, server: str, table: str, options: dict[str, str] | None = None
) -> None:
    """Append with Spark's own writer."""
    address, _, query = server.partition("?")
    user, _, host = address.rpartition("@")
    more = {"user": user, "driver": "org.postgresql.Driver", **(options or {})}
    batch.write.jdbc(f"jdbc:postgresql://{host}?{query}", table, "append", more)


class Measured:
    """What passed within a measured block."""

    seconds = processor = 0.0


@contextmanager
def measured() -> Iterator[Measured]:
    """Fill in what passes within: seconds, and those of all processors."""
    told = Measured()
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
