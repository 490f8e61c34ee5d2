"""Loads a batch into a staging table with Spark's own JDBC writer, all tasks at once.

The columns of staging have names of ours (`c0`, `c1`, …), which every dialect can quote.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from holdfast.errors import SinkError
from holdfast.spark.sinks.database.jdbc.attempts import Attempts
from holdfast.spark.sinks.database.jdbc.connection import H2, JdbcDatabase, thrown_by
from holdfast.spark.sinks.database.jdbc.failure import failure_of, sql_exception_in
from holdfast.spark.sinks.database.jdbc.types import JdbcColumn
from holdfast.spark.sinks.database.staged import ATTEMPT, Staged
from holdfast.spark.sinks.keys import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_H2_ROWS_AT_ONCE = "100"
"""H2 chains one error a row. Spark can't send a thousand of them: the task would hang for ever."""


class Stager:
    """Loads the batches of one sink."""

    def __init__(self, session: SparkSession, database: JdbcDatabase) -> None:
        self._database = database
        self._attempts = Attempts(session)

    def stage(
        self,
        rows: DataFrame,
        staging: str,
        columns: Sequence[JdbcColumn],
        names: Sequence[str],
        at: str | None,
    ) -> Staged:
        """Load the rows; `names` are the columns of staging, that of the attempt first."""
        from pyspark.sql import functions

        self._attempts.forget()
        marked = rows.select(
            self._attempts.number(staging).alias(names[0]),
            *(
                functions.col(quoted(column.name)).alias(name)
                for column, name in zip(columns, names[1:], strict=True)
            ),
        )
        try:
            marked.write.format("jdbc").options(**self._options(staging)).mode("append").save()
        except (PySparkException, Py4JError) as error:
            told = _told(thrown_by(error), at)
            if told is None:
                raise
            raise told from error
        winners = self._attempts.winners(staging)
        return Staged(tuple(sorted(winners)), sum(winners.values()))

    def _options(self, staging: str) -> dict[str, str]:
        options = {**self._database.options, "dbtable": staging}
        given = {name.lower() for name in options}
        if self._database.url.startswith(H2) and "batchsize" not in given:
            options["batchsize"] = _H2_ROWS_AT_ONCE
        return options


def staging_names(columns: Sequence[JdbcColumn]) -> list[str]:
    """Give the plain names of the columns of staging: the attempt, then one for each column."""
    return [ATTEMPT, *(f"c{place}" for place in range(len(columns)))]


def _told(thrown: Any | None, at: str | None) -> SinkError | None:
    """Give the sink's error where a task failed for the database's sake."""
    if thrown is None or sql_exception_in(thrown) is None:
        return None
    failure = failure_of(thrown)
    code = "HF5071" if failure.lost or failure.contended else "HF5072"
    return SinkError(code, f"a task could not load its rows: {failure.words}", at=at)
