"""What a task of Spark runs: it copies its rows into a staging table of PostgreSQL.

A task that is retried or runs twice may have committed its rows already. Every attempt marks its
rows with its own number, and only what an attempt returns to the driver makes it a winner.

Executors import this module before the first row: it needs little.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from holdfast.ledgers.database.connection import column_of, connected, psycopg_here, words_of

if TYPE_CHECKING:
    import pyarrow

JSON = "jsonb"
MARK = "staging failed: "
RESULT = "attempt bigint, rows bigint, trouble string"
CopyTask = Callable[[Iterator[Any]], Iterator[Any]]
_NUL_IN_JSON = r"(^|[^\\])(\\\\)*\\u0000"


class StagingError(Exception):
    """Raised on an executor, so that Spark tries the task again."""


class _Unstorable(Exception):  # noqa: N818 - never leaves this module
    """Ends a COPY whose rows nobody wants any more."""


def copy_task(
    conninfo: str, table: tuple[str, str], names: Sequence[str], kinds: Sequence[str]
) -> CopyTask:
    """Return what a task runs on its rows.

    `names` are the columns of staging, that of the attempt first; `kinds` the types of the others.
    """

    def load(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        attempt = 0 if context is None else context.taskAttemptId()
        copy = TaskCopy(attempt=attempt, conninfo=conninfo, table=table, names=names, kinds=kinds)
        yield from map(_as_batch, copy.loaded(batches))

    return load


def _as_batch(result: dict[str, Any]) -> pyarrow.RecordBatch:
    """Return a result as Arrow. `RecordBatch.from_pylist` would import pandas."""
    import numpy as np
    import pyarrow as pa

    from holdfast.format.buffers import arrow_numbers, arrow_text

    trouble = result["trouble"]
    counts = [arrow_numbers(np.array([result[name]], "i8")) for name in ("attempt", "rows")]
    text = pa.nulls(1, pa.string()) if trouble is None else arrow_text(trouble)
    return pa.RecordBatch.from_arrays([*counts, text], names=["attempt", "rows", "trouble"])


@dataclass(kw_only=True)
class TaskCopy:
    """The COPY of one attempt."""

    attempt: int
    conninfo: str
    table: tuple[str, str]
    names: Sequence[str]
    kinds: Sequence[str]
    rows: int = 0

    def loaded(self, batches: Iterator[pyarrow.RecordBatch]) -> list[dict[str, Any]]:
        """Copy every row in one transaction; return nothing where there was no row."""
        filled = (batch for batch in batches if batch.num_rows)
        first = next(filled, None)
        if first is None:
            return []
        psycopg = psycopg_here()
        try:
            self._copy(chain((first,), filled))
        except _Unstorable as found:
            return self._result(self._count_on(found.args[0], filled))
        except psycopg.DataError as error:
            return self._result({"column": column_of(error), "words": words_of(error)})
        except psycopg.Error as error:
            raise StagingError(MARK + words_of(error)) from None
        return self._result(None)

    def _result(self, trouble: dict[str, Any] | None) -> list[dict[str, Any]]:
        text = None if trouble is None else json.dumps(trouble)
        return [{"attempt": self.attempt, "rows": self.rows, "trouble": text}]

    def _copy(self, batches: Iterator[pyarrow.RecordBatch]) -> None:
        from holdfast.spark.sinks.database.dialects.postgres.copyrows import (
            HEADER,
            TRAILER,
            copy_rows,
        )

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
                for batch in batches:
                    if found := self._nul_in(batch):
                        raise _Unstorable(found)
                    copy.write(copy_rows(self.attempt, batch.columns, self.kinds))
                    self.rows += batch.num_rows
                copy.write(TRAILER)

    def _statement(self) -> Any:
        sql = psycopg_here().sql
        columns = sql.SQL(", ").join(map(sql.Identifier, self.names))
        return sql.SQL("copy {} ({}) from stdin with (format binary)").format(
            sql.Identifier(*self.table), columns
        )

    def _nul_in(self, batch: pyarrow.RecordBatch) -> Counter[str]:
        found: Counter[str] = Counter()
        for name, column, kind in zip(self.names[1:], batch.columns, self.kinds, strict=True):
            if count := count_nul(column, is_json=kind == JSON):
                found[name] += count
        return found

    def _count_on(
        self, found: Counter[str], others: Iterator[pyarrow.RecordBatch]
    ) -> dict[str, Any]:
        for batch in others:
            found += self._nul_in(batch)
        return {"nul": found}


def count_nul(column: pyarrow.Array, *, is_json: bool) -> int:
    """Count the values with the character NUL, which PostgreSQL stores in no text.

    Those of an array count one by one.
    """
    import pyarrow as pa
    from pyarrow._compute import call_function

    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        column = call_function("list_flatten", [column])
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return 0
    # Most columns never hold these bytes, which is seen quickly.
    data = column.buffers()[2]
    if data is None or (b"\\u0000" if is_json else b"\0") not in bytes(data):
        return 0
    import pyarrow.compute as pc

    if is_json:
        found = pc.match_substring_regex(column, _NUL_IN_JSON)
    else:
        found = pc.match_substring(column, "\0")
    return int(pc.sum(found).as_py() or 0)
