"""Reads what sinks wrote with other people's libraries: never with Holdfast, never with Spark.

A row counts as often as such a reader sees it. What is not there yet holds no rows.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TABLE = "written"
_BATCHES = "select batch_id from holdfast_ledger where batch_id >= 0"
"""The name of every table and folder that is written."""

VIEW = "sensor_clean"
"""The view of the job that tests of sinks declare."""

Rows = Counter[tuple[Any, ...]]


@dataclass(frozen=True)
class Place:
    """Where a sink under test writes: a folder, and a database, of its own."""

    folder: Path
    database: str = ""
    """How PostgreSQL is reached without Java."""
    jdbc_url: str = ""
    """How the same database, or one of H2, is reached by Java."""

    @property
    def output(self) -> Path:
        """The folder or file that holds the rows of a sink that has one."""
        return self.folder / "lake" / TABLE


ReadRows = Callable[[Place, Sequence[str]], Rows]
ReadLedger = Callable[[Place], list[int]]


def delta_rows(place: Place, columns: Sequence[str]) -> Rows:
    """Read a Delta table by deltalake."""
    from deltalake import DeltaTable

    if not any((place.output / "_delta_log").glob("*.json")):
        return Counter()
    table = DeltaTable(str(place.output)).to_pyarrow_table(columns=list(columns))
    return _counted(table.to_pylist(), columns)


def delta_ledger(place: Place) -> list[int]:
    """Give the batch of every commit that names one, from the text of the log."""
    lines = [
        json.loads(line)
        for path in sorted((place.output / "_delta_log").glob("*.json"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    return [line["txn"]["version"] for line in lines if "txn" in line]


def parquet_rows(place: Place, columns: Sequence[str]) -> Rows:
    """Read a folder of parquet files by pyarrow."""
    return _dataset_rows(place, columns, "parquet")


def orc_rows(place: Place, columns: Sequence[str]) -> Rows:
    """Read a folder of ORC files by pyarrow."""
    return _dataset_rows(place, columns, "orc")


def csv_rows(place: Place, columns: Sequence[str]) -> Rows:
    """Read a folder of CSV files with headings by DuckDB."""
    return _duckdb_rows(place, columns, "read_csv('{}/**/*.csv', header=true)")


def json_rows(place: Place, columns: Sequence[str]) -> Rows:
    """Read a folder of JSON files by DuckDB."""
    return _duckdb_rows(place, columns, "read_json('{}/**/*.json', format='newline_delimited')")


def manifest_ledger(place: Place) -> list[int]:
    """Give the batch of every manifest, from the names of the files."""
    manifests = place.output.parent / ".holdfast" / TABLE / "manifests"
    found = [path for path in manifests.glob("*/[0-9]*.json") if path.parent.name != "-epochs"]
    return sorted(int(path.name.partition(".")[0]) for path in found)


def postgres_rows(place: Place, columns: Sequence[str]) -> Rows:
    """Read a PostgreSQL table by psycopg."""
    import psycopg
    from psycopg import sql

    names = sql.SQL(", ").join(map(sql.Identifier, columns))
    query = sql.SQL("select {} from {}").format(names, sql.Identifier(TABLE))
    with psycopg.connect(place.database, autocommit=True) as connection:
        try:
            return Counter(connection.execute(query).fetchall())
        except psycopg.errors.UndefinedTable:
            return Counter()


def postgres_ledger(place: Place) -> list[int]:
    """Give the batch of every row of the ledger by psycopg."""
    import psycopg

    with psycopg.connect(place.database, autocommit=True) as connection:
        try:
            found = connection.execute(f"{_BATCHES} order by 1")
            return [row[0] for row in found.fetchall()]
        except psycopg.errors.UndefinedTable:
            return []


def h2_rows(place: Place, columns: Sequence[str]) -> Rows:
    """Read a table of H2 by Spark's own reader: H2 has no other library than its Java driver."""
    names = ", ".join(f'"{name}"' for name in columns)
    return Counter(_of_h2(place, f"select {names} from {TABLE}"))


def h2_ledger(place: Place) -> list[int]:
    """Give the batch of every row of the ledger in H2."""
    return sorted(row[0] for row in _of_h2(place, _BATCHES))


def _of_h2(place: Place, query: str) -> list[tuple[Any, ...]]:
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    reader = SparkSession.builder.getOrCreate().read.format("jdbc")
    reader = reader.option("url", place.jdbc_url).option("driver", "org.h2.Driver")
    try:
        return [tuple(row) for row in reader.option("query", query).load().collect()]
    except (PySparkException, Py4JError) as error:
        assert "not found" in str(error), error
        return []


def function_ledger(place: Place) -> list[int]:
    """Give the batch of every entry of a function's ledger, from the names of the files."""
    entries = place.folder.rglob(".holdfast/*/batches/*/[0-9]*.json")
    return sorted(int(path.stem) for path in entries)


def no_ledger(_: Place) -> list[int]:
    """Give no batch: nothing is remembered that could be read."""
    return []


def sqlite_rows(place: Place, columns: Sequence[str]) -> Rows:
    """Read a table in a SQLite file, which functions of tests write."""
    if not place.output.exists():
        return Counter()
    connection = sqlite3.connect(place.output)
    try:
        names = ", ".join(f'"{name}"' for name in columns)
        return Counter(connection.execute(f'select {names} from "{TABLE}"').fetchall())
    except sqlite3.OperationalError as error:
        assert "no such table" in str(error), error
        return Counter()
    finally:
        connection.close()


def view_rows(_: Place, columns: Sequence[str]) -> Rows:
    """Read the view that a job without a lasting output leaves in the session."""
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    assert session is not None
    if not session.catalog.tableExists(VIEW):
        return Counter()
    return _counted([row.asDict() for row in session.table(VIEW).collect()], columns)


def _dataset_rows(place: Place, columns: Sequence[str], file_format: str) -> Rows:
    import pyarrow.dataset

    if not place.output.exists():
        return Counter()
    found = pyarrow.dataset.dataset(place.output, format=file_format, partitioning="hive")
    if not found.files:
        return Counter()
    return _counted(found.to_table(columns=list(columns)).to_pylist(), columns)


def _duckdb_rows(place: Place, columns: Sequence[str], function: str) -> Rows:
    import duckdb

    if not any(path.is_file() for path in place.output.rglob("*")):
        return Counter()
    names = ", ".join(f'"{name}"' for name in columns)
    query = f"select {names} from {function.format(place.output)}"
    return Counter(duckdb.connect().execute(query).fetchall())


def _counted(rows: list[dict[str, Any]], columns: Sequence[str]) -> Rows:
    return Counter(tuple(row[name] for name in columns) for row in rows)
