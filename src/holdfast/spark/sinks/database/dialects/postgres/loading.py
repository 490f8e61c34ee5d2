"""Loads a batch into a staging table of PostgreSQL, all executors at once; finds who won."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from holdfast.errors import SinkError
from holdfast.redaction import redact
from holdfast.spark.sinks.database.dialect import StagedRows
from holdfast.spark.sinks.database.dialects.postgres import copytask
from holdfast.spark.sinks.database.dialects.postgres.copytask import JSON, MARK, RESULT
from holdfast.spark.sinks.database.staging import ATTEMPT
from holdfast.spark.sinks.database.table import WrittenColumn
from holdfast.spark.sinks.rowchecks import quoted
from holdfast.wording import counted

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_JSON_OPTIONS = {
    "ignoreNullFields": "false",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}


def load(
    rows: DataFrame,
    conninfo: str,
    table: tuple[str, str],
    columns: Sequence[WrittenColumn],
    *,
    at: str | None,
) -> StagedRows:
    """Load the rows; raise SinkError where PostgreSQL can't store them or can't be reached."""
    names = [ATTEMPT, *(one.staged_name for one in columns)]
    kinds = [one.staged for one in columns]
    # Spark does not find a column with a dot in its name there: the place tells which it is.
    named = as_written(rows, columns).toDF(*(f"c{place}" for place in range(len(columns))))
    loading = named.mapInArrow(copytask.copy_task(conninfo, table, names, kinds), RESULT)
    try:
        results = loading.collect()
    except (PySparkException, Py4JError) as error:
        failed = _failure_of_task(error, at)
        if failed is None:
            raise
        raise failed from error
    _refuse_trouble([row["trouble"] for row in results if row["trouble"]], at)
    attempts = tuple(row["attempt"] for row in results)
    return StagedRows(attempts, sum(row["rows"] for row in results))


def as_written(batch: DataFrame, columns: Sequence[WrittenColumn]) -> DataFrame:
    """Return the rows with nested values as JSON, and moments that lose their zone in it."""
    if all(column.staged != JSON and column.zone is None for column in columns):
        return batch
    return batch.select(*map(_column_as_written, columns))


def _column_as_written(column: WrittenColumn) -> Column:
    from pyspark.sql import functions

    value = functions.col(quoted(column.name))
    if column.staged == JSON:
        return functions.to_json(value, _JSON_OPTIONS).alias(column.name)
    if column.zone is not None:
        return functions.from_utc_timestamp(value, column.zone).alias(column.name)
    return value


def _refuse_trouble(troubles: Sequence[str], at: str | None) -> None:
    decoded = [json.loads(one) for one in troubles]
    found: Counter[str] = Counter()
    for one in decoded:
        found.update(one.get("nul", {}))
    if found:
        counts = [f"{name} in {counted(count, 'value')}" for name, count in sorted(found.items())]
        message = f"the character NUL (U+0000) is in {', '.join(counts)}"
        raise SinkError("HF5043", message, at=at)
    for one in decoded:
        column = f" for the column {one['column']}" if one["column"] else ""
        raise SinkError("HF5044", f"PostgreSQL rejected a value{column}: {one['words']}", at=at)


def _failure_of_task(error: Exception, at: str | None) -> SinkError | None:
    """Return the sink's error where an executor failed for PostgreSQL's sake."""
    _, mark, rest = str(error).partition(f"{copytask.StagingError.__name__}: {MARK}")
    if not mark:
        return None
    words = redact(rest.partition("\n")[0].strip())
    return SinkError("HF5041", f"an executor could not load its rows: {words}", at=at)
