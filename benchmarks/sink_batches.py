"""Writes single batches to our sinks and with Spark's own writers, in turns, in one session.

One batch of many rows tells how quick a database sink is by itself; batches of one row tell what
it costs that a sink knows every batch when it comes again.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.sink_ways import (
    TUNED,
    Told,
    append_by_jdbc,
    measured,
    postgres_sink,
    rows_of,
    session_of_sinks,
)
from holdfast.jobs.built import job_of_program
from holdfast.ledgers.custom import once_per_batch
from holdfast.ledgers.identity import BatchIdentity
from holdfast.spark.session.opening import stop_session
from holdfast.spark.sinks.opening import open_sink

SMALL_BATCHES, WARMING_BATCHES = 30, 10
Write = Callable[[int], object]
"""Writes the batch of a number."""


def main(folder: Path, rows: int, rounds: int, server: str) -> None:
    """Print what every way took, one list a way."""
    session = session_of_sinks()
    large = rows_of(session, rows).coalesce(2).cache()
    one = rows_of(session, 1).coalesce(1).cache()
    assert (large.count(), one.count()) == (rows, 1)
    told = _in_turns(_large(session, large, folder, server), rounds, warming=1)
    told |= _in_turns(_small(session, one, folder, server), SMALL_BATCHES, warming=WARMING_BATCHES)
    stop_session(session)
    sys.stdout.write(json.dumps(told) + "\n")


def _in_turns(ways: dict[str, Write], rounds: int, *, warming: int) -> Told:
    told: Told = {name: [] for name in ways}
    for turn in range(warming + rounds):
        for name, write in ways.items():
            with measured() as passed:
                write(turn)
            if turn >= warming:
                told[name].append((passed.seconds, passed.processor))
    return told


def _large(session: Any, rows: Any, folder: Path, server: str) -> dict[str, Write]:
    """Write all rows at once into a table of their own."""

    def ours(turn: int) -> None:
        sink = postgres_sink(server, f"alone_ours_{turn}")
        _held(session, rows, folder / f"alone-{turn}", sink)(0)

    return {
        "alone-ours": ours,
        "alone-spark": lambda turn: append_by_jdbc(rows, server, f"alone_spark_{turn}"),
        "alone-tuned": lambda turn: append_by_jdbc(rows, server, f"alone_tuned_{turn}", TUNED),
        "alone-again": lambda turn: append_by_jdbc(rows, server, f"alone_again_{turn}"),
    }


def _small(session: Any, row: Any, folder: Path, server: str) -> dict[str, Write]:
    """Write one row, batch after batch, to the same place."""

    def deliver(batch: Any, _identity: object) -> None:
        batch.write.format("noop").mode("overwrite").save()

    def held(name: str, sink: dict[str, object]) -> Write:
        return _held(session, row, folder / f"{name}.checkpoint", sink)

    def append(kind: str, **options: str) -> None:
        writer = row.write.format(kind).mode("append").options(**options)
        writer.save(str(folder / f"{kind}-spark"))

    parquet, delta = str(folder / "parquet-ours"), str(folder / "delta-ours")
    known = once_per_batch(deliver)
    return {
        "small-parquet-ours": held("parquet", {"format": "parquet", "path": parquet}),
        "small-parquet-spark": lambda _: append("parquet"),
        "small-delta-ours": held("delta", {"format": "delta", "path": delta}),
        "small-delta-spark": lambda turn: append("delta", txnAppId="it", txnVersion=str(turn)),
        "small-postgres-ours": held("postgres", postgres_sink(server, "small_ours")),
        "small-postgres-spark": lambda _: append_by_jdbc(row, server, "small_spark"),
        "small-custom-ours": held("custom", {"format": "custom", "function": known}),
        "small-custom-spark": lambda _: deliver(row, None),
    }


def _held(session: Any, rows: Any, checkpoint: Path, declared: dict[str, object]) -> Write:
    job = job_of_program(
        "bench", checkpoint=str(checkpoint), sink=declared, accept=["temporary-path"]
    )
    sink = open_sink(session, job)
    sink.prepare(rows.schema, begun=False)
    return lambda batch_id: sink.write(rows, BatchIdentity("bench", batch_id, 1, f"at {batch_id}"))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
