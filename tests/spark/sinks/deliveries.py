"""Batches and identities for tests of sinks, without a stream around them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from holdfast.jobs.ready import ReadyJob, ReadySink
from holdfast.ledgers.identity import BatchIdentity
from holdfast.spark.sinks.opening import open_sink
from holdfast.storage.location import parse_location
from tests.spark.readyjobs import job, source

QUERY = "c1a5e0f6-4a52-4f0b-9d0e-0c3b1f7f4d11"
AT = "holdfast.yaml:11"


def identity(batch_id: int, digest: str = "d", *, generation: int = 1) -> BatchIdentity:
    """Give the identity of a batch; the digest stands for its offsets."""
    return BatchIdentity(QUERY, batch_id, generation, f"{digest}{batch_id}")


def declared(folder: Path, sink: ReadySink) -> ReadyJob:
    """Give a job with this sink."""
    return replace(job(folder, source("rate")), sink=sink)


def delta_sink(
    session: Any,
    table: Path,
    mode: str = "append",
    *,
    key: tuple[str, ...] = (),
    order_by: str | None = None,
    partition_by: tuple[str, ...] = (),
    options: Mapping[str, str] | None = None,
) -> Any:
    """Open a Delta sink."""
    sink = ReadySink(
        "delta",
        mode,
        AT,
        path=str(table),
        location=parse_location(str(table)),
        key=key,
        order_by=order_by,
        partition_by=partition_by,
        options=options or {},
    )
    return open_sink(session, declared(table.parent, sink))


def postgres_sink(
    session: Any,
    uri: str,
    mode: str = "append",
    *,
    table: str = "readings",
    key: tuple[str, ...] = (),
    order_by: str | None = None,
    batch_column: str | None = None,
) -> Any:
    """Open a PostgreSQL sink."""
    sink = ReadySink(
        "postgres",
        mode,
        AT,
        url=uri,
        table=table,
        key=key,
        order_by=order_by,
        batch_column=batch_column,
    )
    return open_sink(session, declared(Path("unused"), sink))


def rows_of(session: Any, table: Path) -> list[tuple[Any, ...]]:
    """Give every row of a Delta table, sorted."""
    return sorted(tuple(row) for row in session.read.format("delta").load(str(table)).collect())
