"""Writes the same Arrow batches into PostgreSQL in one way, in a process of its own.

`python -m benchmarks.copy_rows ours|adbc ROWS SERVER` prints the seconds that one transaction took,
and the processor seconds of this process, as JSON. A batch before it pays for imports.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from decimal import Decimal

import numpy as np
import pyarrow as pa

TABLE = "copied"
KINDS = ("bigint", "text", "timestamp with time zone", "double precision", "text",
         "numeric(18,4)", "date", "text[]")  # fmt: skip
NAMES = ("attempt", "id", "device", "at", "reading", "note", "price", "day", "tags")
_AT_ONCE = 10_000
"""As many rows as Spark puts into an Arrow batch."""


def columns_of_table() -> str:
    """Return the columns of the table that both ways fill."""
    return ", ".join(f"{name} {kind}" for name, kind in zip(NAMES, ("bigint", *KINDS), strict=True))


def batches(rows: int) -> list[pa.RecordBatch]:
    """Return so many rows as an executor gets them; every batch is the same one."""
    ids = np.arange(_AT_ONCE)
    columns = [
        pa.array(ids),
        pa.array([f"device-{one % 1000}" for one in ids]),
        pa.array(1_700_000_000_000_000 + ids * 1000).cast(pa.timestamp("us", "UTC")),
        pa.array(ids / 7),
        pa.array([f"row number {one}" for one in ids]),
        pa.array([Decimal(int(one)) / 4 for one in ids], pa.decimal128(18, 4)),
        pa.array(ids.astype("i4")).cast(pa.date32()),
        pa.array([["a", f"t{one % 10}"] for one in ids], pa.list_(pa.string())),
    ]
    return [pa.RecordBatch.from_arrays(columns, names=NAMES[1:])] * (rows // _AT_ONCE)


def copy_ours(given: list[pa.RecordBatch], address: str) -> None:
    """Copy as a task of the sink does."""
    from holdfast.spark.sinks.database.dialects.postgres.copytask import TaskCopy

    TaskCopy(attempt=7, conninfo=address, table=("public", TABLE), names=NAMES, kinds=KINDS).loaded(
        iter(given)
    )


def copy_by_adbc(given: list[pa.RecordBatch], address: str) -> None:
    """Copy with ADBC's driver, which adds no column: the attempt is a column of each batch."""
    from adbc_driver_postgresql import dbapi

    marked = [
        one.add_column(0, NAMES[0], pa.array(np.full(one.num_rows, 7, "i8"))) for one in given
    ]
    reader = pa.RecordBatchReader.from_batches(marked[0].schema, marked)
    with dbapi.connect(address) as connection, connection.cursor() as cursor:
        cursor.execute("set local synchronous_commit = off")
        cursor.adbc_ingest(TABLE, reader, mode="append")
        connection.commit()


WAYS: dict[str, Callable[[list[pa.RecordBatch], str], None]] = {
    "ours": copy_ours,
    "adbc": copy_by_adbc,
}


def main(way: str, rows: int, server: str) -> None:
    """Print what the rows took: seconds, and processor seconds of this process."""
    given, address = batches(rows), f"postgresql://{server}"
    WAYS[way](given[:1], address)
    wall, processor = time.perf_counter(), time.process_time()
    WAYS[way](given, address)
    took = (time.perf_counter() - wall, time.process_time() - processor)
    sys.stdout.write(json.dumps(took) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
