"""The rows that the queries read: small files, one per batch, messages of topics, Delta tables."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

Batch = tuple[Mapping[str, Any], ...]
Inputs = Mapping[str, tuple[Batch, ...]]
"""Batches by the folder that they are written to; `topic:` and `delta:` begin other places."""
TOPIC, DELTA = "topic:", "delta:"
BROKER = "broker"
"""The file above a bench's folder that has the address of a Kafka broker."""
NO_BROKER = "127.0.0.1:9092"

SCHEMA = "user string, city string, amount long, weight long, price double, t timestamp"
_FIRST_MODIFIED = 1_767_225_600


def order(
    user: str | None, city: str | None, amount: int | None, weight: int, price: float, time: str
) -> dict[str, Any]:
    """Return one row; the time is hour and minute of a day in January."""
    moment = f"2026-01-01 {time}:00"
    return {"user": user, "city": city, "amount": amount, "weight": weight, "price": price,
            "t": moment}  # fmt: skip


ORDERS_FIRST: tuple[Batch, ...] = (
    (order("a", "x", 1, 10, 0.5, "10:00"), order("b", "y", 2, 20, 1.5, "10:01"),
     order("A", "x", 4, 40, 2.5, "10:02")),
    (order("a", "y", 5, 50, 3.5, "10:04"), order("b", "x", 3, 30, 4.5, "10:05"),
     order("a", "x", 1, 10, 0.5, "10:06")),
)  # fmt: skip
ORDERS_SECOND: tuple[Batch, ...] = (
    (order("a", "x", 6, 70, 5.5, "10:08"), order("c", "y", 2, 20, 1.5, "10:09"),
     order("A", "y", 3, 60, 6.5, "10:07"), order("b", "y", 9, 90, 7.5, "10:20"),
     order("c", "x", 1, 15, 0.5, "10:21"), order("a", "y", 3, 35, 2.0, "10:22")),
)  # fmt: skip
OTHERS_FIRST: tuple[Batch, ...] = (
    (order("a", "x", 100, 1, 9.5, "10:00"), order("b", "y", 200, 2, 9.0, "10:02")),
    (order("A", "x", 300, 3, 8.5, "10:03"), order("d", "y", 400, 4, 8.0, "10:05")),
)
OTHERS_SECOND: tuple[Batch, ...] = (
    (order("c", "x", 500, 5, 7.5, "10:08"), order("a", "y", 600, 6, 7.0, "10:08"),
     order("b", "x", 700, 7, 6.5, "10:19"), order("c", "y", 800, 8, 6.0, "10:22")),
)  # fmt: skip
FIRST: Inputs = {"in": ORDERS_FIRST}
SECOND: Inputs = {"in": ORDERS_SECOND}
BOTH_FIRST: Inputs = {"in": ORDERS_FIRST, "other": OTHERS_FIRST}
BOTH_SECOND: Inputs = {"in": ORDERS_SECOND, "other": OTHERS_SECOND}


def write_inputs(folder: Path, inputs: Inputs, start: int = 0) -> None:
    """Write one file per batch, numbered from `start`, each a second younger than the last; one
    version of a Delta table per batch, and the messages of topics where there is a broker."""
    for place, batches in inputs.items():
        if place.startswith(TOPIC):
            _send(folder, place.removeprefix(TOPIC), batches)
            continue
        files = folder / (f"{place.removeprefix(DELTA)}-rows" if place.startswith(DELTA) else place)
        files.mkdir(parents=True, exist_ok=True)
        for number, batch in enumerate(batches, start=start):
            file = files / f"{number:03}.json"
            file.write_text("".join(f"{json.dumps(row)}\n" for row in batch), encoding="utf-8")
            os.utime(file, (_FIRST_MODIFIED + number, _FIRST_MODIFIED + number))
            if place.startswith(DELTA):
                append_version(folder / place.removeprefix(DELTA), file)


def append_version(table: Path, rows: Path) -> None:
    """Append rows to a Delta table, as one file; one named `plain` keeps no change feed."""
    from pyspark.sql import SparkSession

    frame = SparkSession.builder.getOrCreate().read.schema(SCHEMA).json(str(rows)).coalesce(1)
    writer = frame.write.format("delta").mode("append")
    feed = str(table.name != "plain").lower()
    writer.option("delta.enableChangeDataFeed", feed).save(str(table))


def topic_of(folder: Path, name: str) -> str:
    """Return the name of a topic that no other folder has."""
    return f"{hashlib.sha256(str(folder).encode()).hexdigest()[:8]}.{name}"


def broker_of(folder: Path) -> str | None:
    """Return the address of the broker above a folder; None where none runs."""
    file = next((one / BROKER for one in folder.parents if (one / BROKER).is_file()), None)
    return None if file is None else file.read_text("utf-8")


def _send(folder: Path, topic: str, batches: tuple[Batch, ...]) -> None:
    from tests.parts.kafka import produce

    address = broker_of(folder)
    if address is not None:
        values = [json.dumps(row) for batch in batches for row in batch]
        produce(address, topic_of(folder, topic), values)


def batches_in(inputs: Inputs) -> int:
    """Return how many batches the longest source has."""
    return max((len(batches) for batches in inputs.values()), default=0)
