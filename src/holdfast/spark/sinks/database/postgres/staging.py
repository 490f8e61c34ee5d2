"""Loads a batch into a staging table, all executors at once; tells which attempts won.

A task that is retried or runs twice may have committed its rows already. Every attempt marks its
rows with its own number, and only what an attempt returns to the driver makes it a winner.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from holdfast.errors import SinkError
from holdfast.ledgers.database.connection import column_of, connected, psycopg_here, words_of
from holdfast.plurals import counted
from holdfast.redaction import redact
from holdfast.spark.sinks.database.postgres.types import JSON, WrittenColumn, as_written
from holdfast.spark.sinks.database.staged import ATTEMPT, Staged

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame

_RESULT = "attempt bigint, rows bigint, trouble string"
_MARK = "staging failed: "

Stager = Callable[[Iterator[Any]], Iterator[Any]]


class StagingError(Exception):
    """Raised on an executor, so that Spark tries the task again."""


class _Unstorable(Exception):  # noqa: N818 - never leaves this module
    """Ends a COPY whose rows nobody wants any more."""


def stage(
    rows: DataFrame,
    conninfo: str,
    table: tuple[str, str],
    columns: tuple[WrittenColumn, ...],
    at: str | None,
) -> Staged:
    """Load the rows; raise SinkError where PostgreSQL can't store them or can't be reached."""
    # Spark does not find a column with a dot in its name there: the place tells which it is.
    named = as_written(rows, columns).toDF(*(f"c{place}" for place in range(len(columns))))
    loading = named.mapInArrow(stager(conninfo, table, columns), _RESULT)
    try:
        results = loading.collect()
    except (PySparkException, Py4JError) as error:
        told = _told(error, at)
        if told is None:
            raise
        raise told from error
    _refuse_trouble([row["trouble"] for row in results if row["trouble"]], at)
    return Staged(tuple(row["attempt"] for row in results), sum(row["rows"] for row in results))


def stager(conninfo: str, table: tuple[str, str], columns: Sequence[WrittenColumn]) -> Stager:
    """Give what a task runs on its rows."""
    names = [column.name for column in columns]
    kinds = [column.type for column in columns]

    def load(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        import pyarrow
        from pyspark import TaskContext

        context = TaskContext.get()
        attempt = 0 if context is None else context.taskAttemptId()
        task = _Task(attempt, conninfo, table, names, kinds)
        yield pyarrow.RecordBatch.from_pylist(
            task.loaded(batches),
            pyarrow.schema([("attempt", "int64"), ("rows", "int64"), ("trouble", "string")]),
        )

    return load


@dataclass
class _Task:
    attempt: int
    conninfo: str
    table: tuple[str, str]
    names: list[str]
    kinds: list[str]
    rows: int = 0

    def loaded(self, batches: Iterator[pyarrow.RecordBatch]) -> list[dict[str, Any]]:
        """Copy every row in one transaction; give nothing where there was no row."""
        filled = (batch for batch in batches if batch.num_rows)
        first = next(filled, None)
        if first is None:
            return []
        psycopg = psycopg_here()
        try:
            self._copy(first, filled)
        except _Unstorable as found:
            return self._result(self._count_on(found.args[0], filled))
        except psycopg.DataError as error:
            told = {"column": column_of(error), "words": words_of(error)}
            return self._result(told)
        except psycopg.Error as error:
            raise StagingError(_MARK + words_of(error)) from None
        return self._result(None)

    def _result(self, trouble: dict[str, Any] | None) -> list[dict[str, Any]]:
        text = None if trouble is None else json.dumps(trouble)
        return [{"attempt": self.attempt, "rows": self.rows, "trouble": text}]

    def _copy(self, first: pyarrow.RecordBatch, others: Iterator[pyarrow.RecordBatch]) -> None:
        from holdfast.spark.sinks.database.postgres.copyrows import HEADER, TRAILER, copy_rows

        with (
            connected(self.conninfo) as connection,
            connection.transaction(),
            connection.cursor() as cursor,
        ):
            cursor.execute("set local synchronous_commit = off")
            # Otherwise what the server has not taken yet piles up in libpq, which then moves all
            # of it after every packet: a second of work for a million rows.
            connection.pgconn.nonblocking = 0
            with cursor.copy(self._statement()) as copy:
                copy.write(HEADER)
                for batch in _chained(first, others):
                    if found := self._nul_in(batch):
                        raise _Unstorable(found)
                    copy.write(copy_rows(self.attempt, batch.columns, self.kinds))
                    self.rows += batch.num_rows
                copy.write(TRAILER)

    def _statement(self) -> Any:
        sql = psycopg_here().sql
        columns = sql.SQL(", ").join(map(sql.Identifier, (ATTEMPT, *self.names)))
        return sql.SQL("copy {} ({}) from stdin with (format binary)").format(
            sql.Identifier(*self.table), columns
        )

    def _nul_in(self, batch: pyarrow.RecordBatch) -> Counter[str]:
        from holdfast.spark.sinks.database.postgres.nulcounting import count_nul

        found: Counter[str] = Counter()
        for name, column, kind in zip(self.names, batch.columns, self.kinds, strict=True):
            if count := count_nul(column, is_json=kind == JSON):
                found[name] += count
        return found

    def _count_on(
        self, found: Counter[str], others: Iterator[pyarrow.RecordBatch]
    ) -> dict[str, Any]:
        for batch in others:
            found += self._nul_in(batch)
        return {"nul": found}


def _chained(first: Any, others: Iterator[Any]) -> Iterator[Any]:
    yield first
    yield from others


def _refuse_trouble(troubles: list[str], at: str | None) -> None:
    told = [json.loads(one) for one in troubles]
    found: Counter[str] = Counter()
    for one in told:
        found.update(one.get("nul", {}))
    if found:
        counts = ", ".join(f"{name} in {_rows(count)}" for name, count in sorted(found.items()))
        raise SinkError("HF5043", f"the character NUL (U+0000) is in {counts}", at=at)
    for one in told:
        column = f" for the column {one['column']}" if one["column"] else ""
        raise SinkError("HF5044", f"PostgreSQL refused a value{column}: {one['words']}", at=at)


def _told(error: Exception, at: str | None) -> SinkError | None:
    """Give the sink's error where an executor failed for PostgreSQL's sake."""
    _, mark, rest = str(error).partition(f"{StagingError.__name__}: {_MARK}")
    if not mark:
        return None
    words = redact(rest.partition("\n")[0].strip())
    return SinkError("HF5041", f"an executor could not load its rows: {words}", at=at)


def _rows(count: int) -> str:
    return counted(count, "value")
