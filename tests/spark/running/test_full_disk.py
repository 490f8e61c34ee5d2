"""A disk that takes no more: a clear error, no part of the batch; with room again, every row once.

A limit on the size of files stands for it: the kernel refuses what a process wants to write.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.spark.session.jvm import Jvm
from tests.drawing import draw
from tests.parts.fulldisk import files_end_at
from tests.parts.postgres import fresh_database, rows_in, running_server, start_again
from tests.spark.running.projects import Made, expected, ingest
from tests.spark.sinks.database.jdbcplaces import postgres_place
from tests.spark.sinks.plainreading import Place, delta_rows, parquet_rows

pytestmark = pytest.mark.spark

CAUSE = "File too large"
FILE_BYTES = 1 << 20
TABLE_BYTES = 16 << 20
"""PostgreSQL's own log is written in files of this size: they still have to be made."""
PAGE_ROWS = 4
"""So many rows are in 8 KiB of a table."""
TABLE_ROWS = TABLE_BYTES // 8192 * PAGE_ROWS


def filling(folder: Path, sink: dict[str, Any]) -> Made:
    """Make a project whose rows are long."""
    return Made(folder, {"ingest": ingest() | {"transform": "pipeline:filled", "sink": sink}})


def failed(made: Made) -> tuple[str, str]:
    """Run the job, which has to fail; give code and message."""
    answer = holdfast.run(project=made.file, raise_on_failure=False)
    assert [job.ended.value for job in answer.result.jobs] == ["failed"]
    assert answer.exit_status != 0
    (finding,) = answer.findings
    return finding.code, finding.message


def finish(made: Made) -> None:
    """Run the job, which has to finish."""
    answer = holdfast.run(project=made.file, raise_on_failure=False)
    assert [job.ended.value for job in answer.result.jobs] == ["finished"], answer.findings


@draw("kind", "read")
@pytest.mark.parametrize(
    ("kind", "read"), [("delta", delta_rows), ("parquet", parquet_rows)], ids=["delta", "parquet"]
)
def test_files_that_find_no_room(spark: Any, tmp_path: Path, kind: str, read: Any) -> None:
    """The second batch fails while Spark writes its file; the first stays."""
    place = Place(tmp_path)
    sink = {"format": kind, "path": str(place.output)}
    made = filling(tmp_path, sink)
    before, after = made.arrive(2), made.arrive(2000)
    with files_end_at(FILE_BYTES, Jvm.of(spark).number):
        code, message = failed(made)
    assert code == "HF5302" and CAUSE in message and str(place.folder) in message
    assert read(place, ("n", "k")) == expected(before)
    assert (made.ids("ingest", "offsets"), made.ids("ingest", "commits")) == ([0, 1], [0])
    staging = place.output.parent / ".holdfast" / place.output.name / "staging"
    assert [path for path in staging.rglob("*") if path.is_file()] == []
    finish(made)
    assert read(place, ("n", "k")) == expected(before + after)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Start a PostgreSQL server whose files may be bounded."""
    with running_server() as uri:
        yield uri


@contextmanager
def declared(spark: Any, uri: str, kind: str) -> Iterator[dict[str, Any]]:
    """Give a sink into the database, by our own way or by Spark's."""
    with postgres_place(spark, uri) as place:
        url = place.url if kind == "jdbc" else uri
        yield {"format": kind, "url": url, "table": "raw"}


def there(uri: str) -> Counter[Any]:
    """Give the rows, each with how often it is there."""
    return Counter(rows_in(uri, "select n, k from raw"))


@draw("kind", "batches", "code")
@pytest.mark.parametrize(
    ("kind", "batches", "code"),
    [
        ("postgres", (2, TABLE_ROWS + 1000), "HF5041"),
        ("postgres", (TABLE_ROWS // 2 + 500, TABLE_ROWS // 2 + 500), "HF5044"),
        ("jdbc", (2, TABLE_ROWS + 1000), "HF5072"),
        ("jdbc", (TABLE_ROWS // 2 + 500, TABLE_ROWS // 2 + 500), "HF5072"),
    ],
    ids=["postgres-staging", "postgres-table", "jdbc-staging", "jdbc-table"],
)
def test_a_table_that_can_t_grow(
    spark: Any, tmp_path: Path, server: str, kind: str, batches: tuple[int, int], code: str
) -> None:
    """While tasks load the second batch, or in the transaction that moves it; the first stays."""
    database = fresh_database(server)
    with declared(spark, database, kind) as sink:
        made = filling(tmp_path, sink)
        before, after = map(made.arrive, batches)
        with files_end_at(TABLE_BYTES, os.getpid()):
            start_again(server)
        told, message = failed(made)
        assert (told, CAUSE in message) == (code, True), message
        assert there(database) == expected(before)
        left = "select tablename from pg_tables where schemaname = 'public' order by 1"
        assert rows_in(database, left) == [("holdfast_ledger",), ("raw",)]
        start_again(server)
        finish(made)
    assert there(database) == expected(before + after)
    held = "select batch_id from holdfast_ledger where batch_id >= 0 order by 1"
    assert rows_in(database, held) == [(0,), (1,)]
